// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each open of a file by name, when the call returns. One program on sys_exit is sufficient: the argument registers are
 * unchanged, and the page that contains the path is present, because the kernel has just read it. Only the duration of
 * an open needs sys_enter.
 *
 * An open by io_uring has no system call of its own: its arguments are read when it is submitted, and its result when
 * it completes.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "call.bpf.h"
#include "callers.bpf.h"
#include "loss.bpf.h"
#include "opensnoop.h"
#include "preempt.bpf.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "uring.bpf.h"

const volatile bool timed = false;      /* on_enter is attached */
const volatile bool only_failed = false;
const volatile int only_errno = 0;      /* 0: any */
const volatile u64 min_ns = 0;

/* include/uapi/linux/openat2.h */
struct open_how_text {
	u64 flags;
	u64 mode;
	u64 resolve;
};

/* include/uapi/asm-generic/fcntl.h; the flags of creat(2). */
#define CREAT_FLAGS (00000100 | 00000001 | 00001000)
#define AT_FDCWD -100

struct open_start {
	u64 ns;          /* 0 if no open is in progress */
	u64 seen;        /* an open of this task was seen */
};

TASK_STATE(open_starts, struct open_start);

/*
 * The record under construction. The kernel does not run this program twice at once on a CPU: sys_exit does not
 * interrupt itself, and where a task can be preempted here (since 7.0), the kernel skips the program for other tasks
 * and counts this.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct open_record);
} scratch SEC(".maps");

static __always_inline void read_how(struct open_record *r, u64 how)
{
	struct open_how_text text = {};

	r->bad_how = bpf_probe_read_user(&text, sizeof(text), (void *)how) != 0;
	r->flags = text.flags;
	r->mode = text.mode;
}

/* Stores the arguments, and returns the address of the path. */
static __always_inline u64 take_arguments(struct open_record *r, const struct call *c)
{
	bool at = r->call >= OPEN_OPENAT;

	r->dirfd = at ? (s32)c->arg[0] : AT_FDCWD;
	r->bad_how = 0;
	if (r->call == OPEN_OPENAT2) {
		read_how(r, c->arg[2]);
	} else if (r->call == OPEN_CREAT) {
		r->flags = CREAT_FLAGS;
		r->mode = (u16)c->arg[1];
	} else {
		r->flags = (u32)(at ? c->arg[2] : c->arg[1]);
		r->mode = (u16)(at ? c->arg[3] : c->arg[2]);
	}
	return at ? c->arg[1] : c->arg[0];
}

/*
 * Reads one byte more than the limit, to detect longer paths. This byte may be in a page that is not present, since the
 * kernel does not read it.
 */
static __always_inline long read_path(struct open_record *r, u64 path)
{
	long n = read_user_text(r->path, OPEN_PATH_MOST + 1, path);

	if (n >= 0)
		return n;
	n = read_user_text(r->path, OPEN_PATH_MOST, path);
	return n == OPEN_PATH_MOST ? OPEN_PATH_MOST + 1 : n;
}

static __always_inline void send(struct open_record *r, u64 path)
{
	long n = read_path(r, path);
	u64 length = n < 0 ? 0 : n;

	barrier_var(length);
	if (length > OPEN_PATH_MOST + 1)
		length = OPEN_PATH_MOST + 1;
	r->length = length;
	ring_output(r, OPEN_RECORD_LEAST + length);
}

/*
 * Sets the duration of the open that ends now, or a lower bound if it began before the run. Returns false if the open
 * is lost. An open that the kernel did not run has no duration.
 */
static __always_inline bool has_time(struct open_record *r)
{
	struct open_start *start = open_starts_get(calling_task(), NULL);
	enum call_without_entry without = CALL_ANSWERED;
	bool is_first;
	u64 ns;

	if (!start) {
		count_lost(LOSS_NO_STORAGE);
		return false;
	}
	ns = start->ns;
	is_first = !start->seen;
	start->ns = 0;
	start->seen = 1;
	r->no_start = !ns;
	if (!ns)
		without = call_without_entry(is_first);
	if (without == CALL_BEGAN_BEFORE)
		ns = began_ns;
	if (ns)
		r->elapsed_ns = r->time_ns - ns;
	return without != CALL_LOST;
}

/* True if the open took at least the minimum time, or if none was requested. */
static __always_inline bool took_long(struct open_record *r)
{
	r->elapsed_ns = 0;
	r->no_start = 0;
	if (!timed)
		return true;
	if (!has_time(r))
		return false;
	if (r->elapsed_ns >= min_ns)
		return true;
	count_filtered();
	return false;
}

SEC("tp_btf/sys_enter")
int UNPREEMPTED_PROG(on_enter, struct pt_regs *regs, long nr)
{
	struct call c;
	struct open_start *start;

	if (!call_of(&c, regs) || !scope_for_life(NULL))
		return 0;
	start = open_starts_get(calling_task(), NULL);
	if (start) {
		start->ns = bpf_ktime_get_ns();
		start->seen = 1;
	}
	return 0;
}

/* Clears the begin of the open, because the task's next open may end without an entry. */
static __always_inline int forget_open(void)
{
	struct open_start *start = timed ? open_starts_find(calling_task()) : NULL;

	if (start)
		start->ns = 0;
	return 0;
}

SEC("tp_btf/sys_exit")
int UNPREEMPTED_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct open_record *r;
	struct call c;
	u64 id, path;
	u32 zero = 0;

	if (!call_of(&c, regs))
		return 0;
	if (!armed || !in_scope(NULL))
		return forget_open();
	if ((only_failed && ret >= 0) || (only_errno && ret != -only_errno)) {
		count_filtered();
		return forget_open();
	}
	r = bpf_map_lookup_elem(&scratch, &zero);
	if (!r)
		return 0;
	r->time_ns = bpf_ktime_get_ns();
	if (!took_long(r))
		return 0;
	id = bpf_get_current_pid_tgid();
	r->pid = id >> 32;
	r->tid = id;
	r->cpu = bpf_get_smp_processor_id();
	r->result = ret;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	r->call = c.which;
	call_arguments(&c, regs);
	path = take_arguments(r, &c);
	r->by_uring = r->has_slot = 0;
	r->stack = (struct stack_id){};
	if (take)
		stack_count_flaw(callers_take(ctx, &r->stack));
	send(r, path);
	return 0;
}

/*
 * --- io_uring ----------------------------------------------------------------------------------
 */

/* Kernel ABI: include/uapi/linux/io_uring.h, include/uapi/asm-generic/fcntl.h */
#define IORING_OP_OPENAT 18
#define IORING_OP_OPENAT2 28
#define O_LARGEFILE 00100000

/* Only these members of the entry in the ring (include/uapi/linux/io_uring.h). */
struct uring_entry {
	u8 opcode, flags;
	u16 ioprio;
	s32 fd;
	u64 addr2, addr;
	u32 len, open_flags;
	u64 user_data;
	u32 unused;
	u32 file_index;
};

/* An open has the same begin of its memory as its request. Its record waits here for the result. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OPEN_REQUESTS);
	__type(key, struct uring_id);
	__type(value, struct open_record);
} requests SEC(".maps");

/* Returns the record of a request in scope that opens, without its arguments; else NULL. */
static __always_inline struct open_record *begin_request(void *ctx, u8 op)
{
	u64 id = bpf_get_current_pid_tgid();
	struct open_record *r;
	u32 zero = 0;

	if (!armed || (op != IORING_OP_OPENAT && op != IORING_OP_OPENAT2) || !in_scope(NULL))
		return NULL;
	r = bpf_map_lookup_elem(&scratch, &zero);
	if (!r)
		return NULL;
	r->time_ns = bpf_ktime_get_ns();
	r->pid = id >> 32;
	r->tid = id;
	r->call = op == IORING_OP_OPENAT ? OPEN_OPENAT : OPEN_OPENAT2;
	r->by_uring = 1;
	r->no_start = 0;
	r->bad_how = 0;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	r->stack = (struct stack_id){};
	if (take)
		stack_count_flaw(callers_take(ctx, &r->stack));
	return r;
}

/* length: of the path, or negative. */
static __always_inline void keep_request(const struct io_kiocb *request, struct open_record *r, long length)
{
	struct uring_id id;
	long err;

	r->length = length < 0 ? 0 : length;
	uring_id_of(&id, request);
	err = bpf_map_update_elem(&requests, &id, r, BPF_NOEXIST);
	if ((int)err == -EEXIST) {
		/* Only before 5.18: a program may give several requests the same user_data. */
		if (layout.completed == URING_WITHOUT_REQUEST)
			count_lost(LOSS_NO_END);
		err = bpf_map_update_elem(&requests, &id, r, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
}

static __always_inline const char *name_of_request(const struct io_open *open)
{
	const struct io_open___delayed *delayed = (const void *)open;

	if (bpf_core_field_exists(delayed->filename.__incomplete_filename))
		return BPF_CORE_READ(delayed, filename.__incomplete_filename, name);
	return BPF_CORE_READ(open, filename, name);
}

static __always_inline int submit(void *ctx, const struct io_kiocb *request)
{
	const struct io_open *open = (const void *)request;
	struct open_record *r = begin_request(ctx, BPF_CORE_READ(request, opcode));

	if (!r)
		return 0;
	r->dirfd = BPF_CORE_READ(open, dfd);
	/* The kernel adds this flag; programs for 64 bits do not. */
	r->flags = BPF_CORE_READ(open, how.flags) & ~(u64)O_LARGEFILE;
	r->mode = BPF_CORE_READ(open, how.mode);
	r->has_slot = BPF_CORE_READ(open, file_slot) != 0;
	keep_request(request, r, bpf_probe_read_kernel_str(r->path, OPEN_PATH_MOST, name_of_request(open)));
	return 0;
}

SEC("?tp_btf/io_uring_submit_req")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_request, u64 *, ctx)
{
	return submit(ctx, (const struct io_kiocb *)ctx[0]);
}

SEC("?tp_btf/io_uring_submit_sqe")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_entry, u64 *, ctx)
{
	return submit(ctx, (const struct io_kiocb *)uring_argument(ctx, layout.submitted));
}

/* A request that cannot be prepared, for example because its path cannot be read. Its completion follows. */
SEC("?tp_btf/io_uring_req_failed")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_refused, u64 *, ctx)
{
	struct uring_entry entry = {};
	struct open_record *r;

	bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)ctx[0]);
	r = begin_request(ctx, entry.opcode);
	if (!r)
		return 0;
	r->dirfd = entry.fd;
	r->has_slot = entry.file_index != 0;
	if (r->call == OPEN_OPENAT2) {
		read_how(r, entry.addr2);
	} else {
		r->flags = entry.open_flags;
		r->mode = (u16)entry.len;
	}
	keep_request((const struct io_kiocb *)uring_argument(ctx, layout.refused), r, read_path(r, entry.addr));
	return 0;
}

static __always_inline void send_request(struct open_record *r, s32 result)
{
	u64 now = bpf_ktime_get_ns(), length = r->length;

	r->elapsed_ns = now - r->time_ns;
	if ((only_failed && result >= 0) || (only_errno && result != -only_errno) || r->elapsed_ns < min_ns) {
		count_filtered();
		return;
	}
	r->time_ns = now;
	r->cpu = bpf_get_smp_processor_id();
	r->result = result;
	barrier_var(length);
	if (length > OPEN_PATH_MOST + 1)
		length = OPEN_PATH_MOST + 1;
	ring_output(r, OPEN_RECORD_LEAST + length);
}

SEC("?tp_btf/io_uring_complete")
int UNPREEMPTED(PREEMPT_TRACEPOINT, on_complete, u64 *, ctx)
{
	struct uring_completion completion = {};
	struct open_record *r;
	struct uring_id id;

	if (!armed)
		return 0;
	uring_completion_of(&completion, &id, ctx);
	r = bpf_map_lookup_elem(&requests, &id);
	if (!r)
		return 0;
	send_request(r, completion.res);
	bpf_map_delete_elem(&requests, &id);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
