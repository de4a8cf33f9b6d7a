// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each file call (file.bpf.h) that takes at least the minimum time, with the file's name; or each wait in one
 * (file_waits.bpf.h).
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "file.bpf.h"
#include "file_waits.bpf.h"
#include "fileslower.h"
#include "ring.bpf.h"
#include "scope.bpf.h"

const volatile u64 min_ns = 0;

/* Records under construction, too large for the stack: one for calls, one for show_unfinished(). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct fileslower_record);
} record_room SEC(".maps");

/* True if the call passes an offset. preadv2(2) and pwritev2(2) use the file position if their offset is -1. */
static __always_inline bool passes_offset(const struct file_state *st)
{
	return (st->call == FILE_CALL_PREAD || st->call == FILE_CALL_PWRITE) && st->argument != ~0ULL;
}

/* The call's file offset. A call that moves the position has already moved it, appending or not. */
static __always_inline s64 offset_of(const struct file_state *st, struct file *f, u32 mode,
				     s64 result, u32 end)
{
	s64 position;

	if (mode != S_IFREG && mode != S_IFBLK)
		return FILESLOWER_NO_OFFSET;
	if (passes_offset(st))
		return st->argument;
	if (st->call > FILE_CALL_PWRITE || result < 0)
		return FILESLOWER_NO_OFFSET;
	position = BPF_CORE_READ(f, f_pos);
	return end ? position : position - result;
}

static __always_inline void fill_file(struct fileslower_record *r, struct task_struct *t,
				      const struct file_state *st, const struct file_side *s)
{
	struct file *f = s->file;
	long size;

	r->offset = FILESLOWER_NO_OFFSET;
	r->fs[0] = 0;
	file_name_of_side(&r->name, t, s);
	if (!(r->name.flags & FILE_NAME_UNKNOWN)) {
		file_fs_name(r->fs, BPF_CORE_READ(f, f_inode, i_sb));
		r->offset = offset_of(st, f, r->name.mode, r->result, r->end);
	} else if (s->op == FILE_OPEN && r->end == FILESLOWER_ENDED && st->argument) {
		size = bpf_probe_read_user_str(r->name.names, FILE_PATH_MAX, (void *)st->argument);
		if (size < 0 || size > FILE_PATH_MAX)
			return;
		if (!size)              /* an empty string, before 6.13 */
			r->name.names[0] = 0;
		r->name.flags = FILE_NAME_TYPED;
		r->name.size = size ?: 1;
	}
}

static __always_inline void send_record(struct fileslower_record *r)
{
	u64 size = r->name.size;

	barrier_var(size);
	if (size <= sizeof(r->name.names))
		ring_output(r, __builtin_offsetof(struct fileslower_record, name.names) + size);
}

static __always_inline void file_call_ended(const struct file_state *st,
					    const struct file_side *s, s64 result, u64 took_ns,
					    u64 now)
{
	u64 id = bpf_get_current_pid_tgid();
	struct fileslower_record *r;
	u32 zero = 0;

	if (took_ns < min_ns)
		return;
	r = bpf_map_lookup_elem(&record_room, &zero);
	if (!r)
		return;
	r->time_ns = now;
	r->took_ns = took_ns;
	r->result = result;
	r->pid = id >> 32;
	r->tid = id;
	r->cpu = bpf_get_smp_processor_id();
	r->op = s->op;
	r->end = FILESLOWER_ENDED;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	fill_file(r, (struct task_struct *)bpf_get_current_task(), st, s);
	send_record(r);
}

/* Fills in a call or wait of another task, whose user memory cannot be read. */
static __always_inline void fill_other(struct fileslower_record *r, struct task_struct *t, const struct file_state *st,
				       u64 since, u64 now, u32 end)
{
	r->time_ns = now;
	r->took_ns = now - since;
	r->result = 0;
	r->pid = t->tgid;
	r->tid = t->pid;
	r->op = file_op_of(st);
	r->end = end;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), t->comm);
	fill_file(r, t, st, file_side_of(st));
}

/*
 * Sends calls in progress that have already taken min_ns or, with on_wait, waits. The loader runs this before a report.
 */
SEC("iter/task")
int show_unfinished(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct fileslower_record *r;
	struct file_state *st;
	u64 since, now;
	u32 one = 1;

	if (!t || is_idle(t) || !call_may_be_of(t))
		return 0;
	st = file_states_find(t);       /* only calls that began in scope have a state */
	r = bpf_map_lookup_elem(&record_room, &one);
	if (!st || !r)
		return 0;
	since = *(volatile u64 *)&st->start_ns;
	now = bpf_ktime_get_ns();
	if (!since || since > now || now - since < min_ns)
		return 0;
	fill_other(r, t, st, since, now, FILESLOWER_UNFINISHED);
	r->cpu = task_cpu(t);
	/* The call may have ended, and another one begun, during this read. */
	if (*(volatile u64 *)&st->start_ns == since)
		send_record(r);
	return 0;
}

/* --- waits ------------------------------------------------------------------------------------ */

static __always_inline void file_waited(struct task_struct *t, const struct file_state *st, u64 since, u64 now)
{
	struct fileslower_record *r;
	u32 zero = 0;

	if (now - since < min_ns)
		return;
	r = bpf_map_lookup_elem(&record_room, &zero);
	if (!r)
		return;
	fill_other(r, t, st, since, now, FILESLOWER_WAITED);
	r->cpu = bpf_get_smp_processor_id();
	send_record(r);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
