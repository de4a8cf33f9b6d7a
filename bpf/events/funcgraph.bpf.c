// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Function calls by call path: their number, their duration, and their duration without traced callees. The subject is
 * the calling thread or, for Go, the goroutine.
 *
 * Each thread has a stack of its current calls, in the order of call_order.bpf.h.
 *
 * A goroutine may continue in other threads, and its stack may move. The distance of a frame from the stack's upper end
 * does not change (copystack() in Go's runtime/stack.go), so it is used instead of the stack pointer. C code of the
 * program, whose stack pointer is outside that stack, belongs to the thread.
 *
 * Frames are kept before the gate is opened, so that paths are complete. Calls that began before that are in no figure,
 * except for the time in which they are still open.
 */
#define SCOPE_UNTYPED
#include "call_order.bpf.h"
#include "compat.bpf.h"
#include "event.bpf.h"
#include "funcgraph.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

/* Deeper calls are not requested; calls deeper than FUNCGRAPH_DEPTH are lost. */
const volatile u32 depth_most = FUNCGRAPH_DEPTH;

/* True if Go functions are traced. */
const volatile bool by_goroutine = false;

/* CLOCK_MONOTONIC, set by the loader: calls count from began_ns until ended_ns. 0 if not yet. */
u64 began_ns = 0;
u64 ended_ns = 0;

enum frame_flags {
	FRAME_FILTERED = 1 << 0,        /* in no figure: its callees count as called by its caller */
	FRAME_JUMPS = 1 << 1,           /* a frame with the same stack pointer may be a tail call from here */
	FRAME_ENDED = 1 << 2,           /* ended together with the frame above it, its tail call */
};

struct frame {
	u64 order;              /* order_of() its stack pointer: callers have smaller values than callees */
	u64 path;
	u64 began_ns;
	u64 children_ns;        /* total time of completed callees */
	u32 function;
	u32 flags;
};

/* Working memory of drop_left(). */
struct dropping {
	u64 order;
	u64 calls, children_ns;
	u32 function, pad;
};

struct call_frames {
	u32 depth;
	u32 busy;               /* a program is modifying the frames; any other program has interrupted it */
	u64 outermost;          /* ~order of the outermost call that began during the run: all calls in it were seen */
	struct dropping dropping;
	u64 is_new;             /* an element was created whose callers may have none */
	struct frame frame[FUNCGRAPH_DEPTH];
};

TASK_STATE(frames, struct call_frames)

static const struct call_frames no_frames = {};

/* The frames of each goroutine that is in a traced call. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct goroutine);
	__type(value, struct call_frames);
} goroutines SEC(".maps");

/* The time at which programs with goroutines ended; 0 if not yet. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct image);
	__type(value, u64);
} images SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct funcgraph_key);
	__type(value, struct funcgraph_sums);
} paths SEC(".maps");

static const struct funcgraph_sums no_sums = {};

/* --- goroutines ---------------------------------------------------------------------------------- */

static __always_inline u64 goroutine_of(struct pt_regs *ctx)
{
	return *(u64 *)((void *)ctx + GOROUTINE_AT);
}

static __always_inline void image_of(struct image *image, struct task_struct *t)
{
	image->started_ns = BPF_CORE_READ(t, group_leader, start_time);
	image->execs = BPF_CORE_READ(t, self_exec_id);
}

/*
 * Identifies the goroutine g if its stack contains sp, and finds the order of sp. Since Go 1.4 struct g begins with
 * struct stack { lo, hi uintptr } (runtime/runtime2.go).
 */
static __always_inline bool find_goroutine(struct goroutine *key, u64 *order, u64 g, u64 sp)
{
	u64 limit[2];

	if (!by_goroutine || bpf_probe_read_user(limit, sizeof(limit), (void *)g) || sp < limit[0] || sp > limit[1])
		return false;
	key->g = g;
	image_of(&key->image, calling_task());
	*order = limit[1] - sp;
	return true;
}

/* --- elements of the map ------------------------------------------------------------------------ */

static __noinline struct funcgraph_sums *make_sums(u64 parent, u32 function)
{
	struct funcgraph_key key = { .parent = parent, .function = function, .writer = this_writer() };
	long err = bpf_map_update_elem(&paths, &key, &no_sums, BPF_NOEXIST);
	struct funcgraph_sums *s = bpf_map_lookup_elem(&paths, &key);

	if (!s)
		count_failed_update(err);
	return s;
}

static __always_inline struct funcgraph_sums *find_sums(u64 parent, u32 function)
{
	struct funcgraph_key key = { .parent = parent, .function = function, .writer = this_writer() };

	return bpf_map_lookup_elem(&paths, &key);
}

/* --- frames ------------------------------------------------------------------------------------- */

static __always_inline u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* Returns frame number n, counted from 1 at the outermost frame. */
static __always_inline struct frame *frame_at(struct call_frames *s, u64 n)
{
	n--;
	n &= FUNCGRAPH_DEPTH - 1;
	/* The verifier of 5.10 knows the range only of the register that was masked. */
	barrier_var(n);
	if (n >= FUNCGRAPH_DEPTH)
		return NULL;
	return &s->frame[n];
}

/*
 * Path ids are hashes, which are decoded through the elements of paths. So each path that has an element needs elements
 * for all its callers; this creates them.
 */
static __noinline int make_callers(struct call_frames *s)
{
	u64 parent = 0;
	struct frame *f;
	u32 i;

	for (i = 0; i < FUNCGRAPH_DEPTH; i++) {
		f = i < *(volatile u32 *)&s->depth ? frame_at(s, i + 1) : NULL;
		if (!f)
			break;
		if (!(f->flags & FRAME_FILTERED) && !find_sums(parent, f->function))
			make_sums(parent, f->function);
		parent = f->path;
	}
	return 0;
}

static __always_inline void add_call(struct funcgraph_sums *s, u64 elapsed, u64 self)
{
	if (!s)
		return;
	__sync_fetch_and_add(&s->calls, 1);
	__sync_fetch_and_add(&s->total_ns, elapsed);
	__sync_fetch_and_add(&s->self_ns, self);
	if (elapsed > s->max_ns)
		s->max_ns = elapsed;
}

static __always_inline void add_open(struct funcgraph_sums *s, u64 elapsed, u64 self)
{
	if (!s)
		return;
	__sync_fetch_and_add(&s->open, 1);
	__sync_fetch_and_add(&s->open_ns, elapsed);
	__sync_fetch_and_add(&s->open_self_ns, self);
}

/* True if the frame has the same order as a call of that function that begins, without being its caller. */
static __always_inline bool is_in_its_place(const struct frame *f, u64 order, u32 function)
{
	return f->order == order && (!(f->flags & FRAME_JUMPS) || f->function == function);
}

#define NO_FUNCTION ~0U

/* True if the frame must be dropped, for a call that begins or ends at dropping.order. */
static __always_inline bool is_to_be_dropped(const volatile struct dropping *d, const struct frame *f)
{
	u64 order = d->order;

	return order_is_left(f->order, order) || (d->function != NO_FUNCTION && is_in_its_place(f, order, d->function));
}

/*
 * Drops frames that were left without a return. Their callees' time remains with their callers. function is that of the
 * call that begins, or NO_FUNCTION if a call ends. The loop keeps its variables only in memory whose contents the
 * verifier does not track: all iterations then look the same to the verifier, and it explores few paths.
 */
static __noinline int drop_left(struct call_frames *s, u64 order, u32 function)
{
	volatile struct dropping *d = &s->dropping;
	struct frame *f;
	u32 i, n;

	d->order = order;
	d->function = function;
	d->calls = d->children_ns = 0;
	for (i = 0; i < FUNCGRAPH_DEPTH; i++) {
		n = *(volatile u32 *)&s->depth;
		f = n ? frame_at(s, n) : NULL;
		if (!f || !is_to_be_dropped(d, f))
			break;
		d->children_ns += f->children_ns;
		if (!(f->flags & FRAME_FILTERED) && f->began_ns >= *(volatile u64 *)&began_ns)
			d->calls++;
		*(volatile u32 *)&s->depth = n - 1;
	}
	n = *(volatile u32 *)&s->depth;
	f = n ? frame_at(s, n) : NULL;
	if (f)
		f->children_ns += d->children_ns;
	if (d->calls)
		count_lost_many(LOSS_UNWOUND, d->calls);
	return 0;
}

/* Ends the innermost call. */
static __noinline int pop(struct call_frames *s, u64 now)
{
	u32 n = s->depth;
	struct frame *f = n ? frame_at(s, n) : NULL, *caller = n > 1 ? frame_at(s, n - 1) : NULL;
	struct funcgraph_sums *sums;
	u64 elapsed, parent;

	if (!f)
		return 0;
	s->depth = n - 1;
	elapsed = less(now, f->began_ns);
	parent = caller ? caller->path : 0;
	if (caller)
		caller->children_ns += f->flags & FRAME_FILTERED ? f->children_ns : elapsed;
	if (f->flags & FRAME_FILTERED) {
		count_filtered();
		return 0;
	}
	if (f->began_ns < *(volatile u64 *)&began_ns)
		count_begun_before();
	if (!armed || f->began_ns < *(volatile u64 *)&began_ns)
		return 0;
	sums = find_sums(parent, f->function);
	if (!sums) {
		sums = make_sums(parent, f->function);
		*(volatile u64 *)&s->is_new = 1;
	}
	add_call(sums, elapsed, less(elapsed, f->children_ns));
	return 0;
}

static __always_inline void push(struct call_frames *s, u64 order, u32 slot, bool filtered)
{
	u32 n = s->depth;
	struct frame *caller = n ? frame_at(s, n) : NULL, *f = frame_at(s, n + 1);
	u64 parent = caller ? caller->path : 0;

	if (armed && ~order > s->outermost)
		s->outermost = ~order;
	if (!f || n >= depth_most || n >= FUNCGRAPH_DEPTH)
		return;         /* counted at its end */
	f->order = order;
	f->function = slot & CALL_FUNCTION;
	f->path = filtered ? parent : funcgraph_path(parent, f->function);
	f->flags = (filtered ? FRAME_FILTERED : 0) | (slot & CALL_JUMPS ? FRAME_JUMPS : 0);
	f->children_ns = 0;
	s->depth = n + 1;
	f->began_ns = bpf_ktime_get_ns();
}

/* Called when a function that has tail-called the innermost function ends together with it. */
static __always_inline void mark_ended(struct call_frames *s, u64 order, u32 function)
{
	u32 n = s->depth, i;
	struct frame *f;

	for (i = 0; i < FUNCGRAPH_DEPTH; i++) {
		f = n > 1 ? frame_at(s, --n) : NULL;
		if (!f || f->order != order)
			return;
		if (f->function == function) {
			f->flags |= FRAME_ENDED;
			return;
		}
	}
}

/* Counts the end of a call that has no frame. A goroutine may be as old as its process. */
static __always_inline void count_without_frame(const struct call_frames *s, u64 order, bool is_go)
{
	struct task_struct *t = calling_task();

	if (is_go)
		t = BPF_CORE_READ(t, group_leader);
	if (!armed)
		return;
	if (!scope_now(NULL))
		count_filtered();
	else if (s && s->depth >= depth_most && depth_most < FUNCGRAPH_DEPTH)
		count_filtered();
	else if (s && s->depth >= FUNCGRAPH_DEPTH)
		count_lost(LOSS_TOO_DEEP);
	else if (is_older_than(t, *(volatile u64 *)&began_ns) && (!s || ~order > s->outermost))
		count_begun_before();
	else
		count_lost(LOSS_UNMATCHED);
}

#define JUMPS_MOST 8            /* maximum length of a chain of tail calls */

/* Ends the innermost call, and the functions that tail-called it. */
static __always_inline void pop_all(struct call_frames *s, u64 order, u64 now)
{
	struct frame *f;
	u32 i;

	pop(s, now);
	for (i = 0; i < JUMPS_MOST; i++) {
		f = s->depth ? frame_at(s, s->depth) : NULL;
		if (!f || f->order != order || !(f->flags & FRAME_ENDED))
			return;
		pop(s, now);
	}
}

/*
 * For a kernel function: returns the frames of the goroutine that made the system call or was interrupted. NULL if the
 * goroutine is in no traced call, or if there is no goroutine.
 */
static __always_inline struct call_frames *frames_of_interrupted(struct goroutine *key, u64 kernel_sp)
{
	const void *regs;
	u64 g = 0, sp = 0, order;

	if (!by_goroutine || !(kernel_sp >> 63))
		return NULL;
	regs = current_user_regs();
	if (bpf_probe_read_kernel(&g, sizeof(g), regs + GOROUTINE_AT) ||
	    bpf_probe_read_kernel(&sp, sizeof(sp), regs + __builtin_offsetof(struct saved_regs, sp)) ||
	    !find_goroutine(key, &order, g, sp))
		return NULL;
	return bpf_map_lookup_elem(&goroutines, key);
}

/* --- entries and ends --------------------------------------------------------------------------- */

/* Creates the frames of a goroutine that has none. */
static __noinline struct call_frames *make_goroutine(const struct goroutine *key)
{
	const struct image image = key->image;
	u64 not_ended = 0;
	long err;

	if (!bpf_map_lookup_elem(&images, &image))
		bpf_map_update_elem(&images, &image, &not_ended, BPF_NOEXIST);
	err = bpf_map_update_elem(&goroutines, key, &no_frames, BPF_NOEXIST);
	if (err)
		count_failed_update(err);
	return bpf_map_lookup_elem(&goroutines, key);
}

static __noinline int enter(u64 sp, u64 g, u32 slot)
{
	struct call_frames *s;
	struct goroutine key;
	u64 order;

	if (*(volatile u64 *)&ended_ns)
		return 0;
	if (!scope_for_life(NULL)) {
		count_filtered();
		return 0;
	}
	if (slot & CALL_IS_GO && find_goroutine(&key, &order, g, sp)) {
		s = bpf_map_lookup_elem(&goroutines, &key) ?: make_goroutine(&key);
		if (!s)
			return 0;
	} else {
		order = order_of(sp);
		s = frames_of_interrupted(&key, sp);
		if (!s)
			s = frames_get(calling_task(), (struct call_frames *)&no_frames);
		if (!s) {
			count_lost(LOSS_NO_STORAGE);
			return 0;
		}
	}
	if (s->busy) {
		count_lost(LOSS_NO_BUFFER);
		return 0;
	}
	*(volatile u32 *)&s->busy = 1;
	drop_left(s, order, slot & CALL_FUNCTION);
	push(s, order, slot, !scope_now(NULL));
	*(volatile u32 *)&s->busy = 0;
	return 0;
}

static __noinline int leave_frame(struct call_frames *s, u64 order, u32 slot, u64 now, bool is_go)
{
	u32 function = slot & CALL_FUNCTION;
	struct frame *f;

	drop_left(s, order, NO_FUNCTION);
	f = s->depth ? frame_at(s, s->depth) : NULL;
	*(volatile u64 *)&s->is_new = 0;
	if (f && f->order == order && f->function == function)
		pop_all(s, order, now);
	else if (f && f->order == order)
		mark_ended(s, order, function);
	else if (!(slot & CALL_IS_SHARED))
		count_without_frame(s, order, is_go);
	if (*(volatile u64 *)&s->is_new)
		make_callers(s);
	return 0;
}

static __noinline int leave(u64 sp, u64 g, u32 slot)
{
	u64 now = bpf_ktime_get_ns(), order;
	struct call_frames *s;
	struct goroutine key;
	bool is_go;

	if (*(volatile u64 *)&ended_ns)
		return 0;
	is_go = slot & CALL_IS_GO && find_goroutine(&key, &order, g, sp);
	/* A goroutine's call that began in scope is ended here, no matter in which thread it ends. */
	if (!is_go && !scope_for_life(NULL))
		return 0;
	if (is_go) {
		s = bpf_map_lookup_elem(&goroutines, &key);
	} else {
		s = frames_of_interrupted(&key, sp);
		if (!s)
			s = frames_find(calling_task());
		order = order_at_end(sp, slot);
	}
	if (!s) {
		if (!(slot & CALL_IS_SHARED) && (!is_go || scope_for_life(NULL)))
			count_without_frame(NULL, order, is_go);
		return 0;
	}
	/* A call that interrupted a program here also began during the interruption, and has been counted. */
	if (s->busy)
		return 0;
	*(volatile u32 *)&s->busy = 1;
	leave_frame(s, order, slot, now, is_go);
	*(volatile u32 *)&s->busy = 0;
	if (is_go && !s->depth)
		bpf_map_delete_elem(&goroutines, &key);
	return 0;
}

/* The loader attaches copies of these programs: to one site each, or to all sites if the kernel supports cookies. */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_entry, struct pt_regs *, ctx)
{
	enter(stack_pointer(ctx), goroutine_of(ctx), event_slot());
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_entries, struct pt_regs *, ctx)
{
	enter(stack_pointer(ctx), goroutine_of(ctx), event_cookie(ctx));
	return 0;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_end, struct pt_regs *, ctx)
{
	leave(stack_pointer(ctx), goroutine_of(ctx), event_slot());
	return KEEP_EVENT;
}

SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_ends, struct pt_regs *, ctx)
{
	leave(stack_pointer(ctx), goroutine_of(ctx), event_cookie(ctx));
	return 0;
}

/*
 * runtime.goexit1(): the goroutine ends, perhaps in calls that runtime.Goexit() left open. Its struct g may be reused.
 */
SEC("?kprobe")
int UNPREEMPTED(PREEMPT_FUNCTION, on_goroutine_end, struct pt_regs *, ctx)
{
	struct call_frames *s;
	struct goroutine key;
	u64 order;

	if (*(volatile u64 *)&ended_ns || !find_goroutine(&key, &order, goroutine_of(ctx), stack_pointer(ctx)))
		return KEEP_EVENT;
	s = bpf_map_lookup_elem(&goroutines, &key);
	if (!s)
		return KEEP_EVENT;
	drop_left(s, 0, NO_FUNCTION);
	bpf_map_delete_elem(&goroutines, &key);
	return KEEP_EVENT;
}

/* --- calls in progress -------------------------------------------------------------------------- */

/*
 * Adds the calls in progress of a task, up to now, and subtracts their time from that of their callers. With user_only,
 * calls in the kernel do not count, because the task ends in them. Removes the frames, as drop_left() does.
 */
static __noinline int add_open_frames(struct call_frames *s, u64 now, bool user_only)
{
	u64 began = *(volatile u64 *)&began_ns, inside = 0, since, elapsed, parent;
	struct frame *f, *caller;
	u32 i, n;

	for (i = 0; i < FUNCGRAPH_DEPTH; i++) {
		n = *(volatile u32 *)&s->depth;
		f = n ? frame_at(s, n) : NULL;
		if (!f)
			break;
		caller = n > 1 ? frame_at(s, n - 1) : NULL;
		*(volatile u32 *)&s->depth = n - 1;
		if (f->flags & FRAME_FILTERED || (user_only && f->order >> ORDER_BITS != STACK_OF_USER)) {
			inside += f->children_ns;
			continue;
		}
		since = f->began_ns > began ? f->began_ns : began;
		elapsed = less(now, since);
		parent = caller ? caller->path : 0;
		add_open(find_sums(parent, f->function) ?: make_sums(parent, f->function), elapsed,
			 less(elapsed, f->children_ns + inside));
		inside = elapsed;
	}
	return 0;
}

/* Records the end of a program that t's process ran. execs is the number of execs that followed it. */
static __always_inline void end_image(struct task_struct *t, u32 execs)
{
	u64 now = bpf_ktime_get_ns();
	struct image image;

	if (!by_goroutine)
		return;
	image_of(&image, t);
	image.execs -= execs;
	if (bpf_map_lookup_elem(&images, &image))
		bpf_map_update_elem(&images, &image, &now, BPF_EXIST);
}

SEC("tp_btf/sched_process_exit")
int UNPREEMPTED_PROG(on_thread_exit, struct task_struct *t)
{
	struct call_frames *s;

	if (*(volatile u64 *)&ended_ns)
		return 0;
	if (!BPF_CORE_READ(t, signal, live.counter))
		end_image(t, 0);
	s = frames_find(t);
	if (!s || !s->depth)
		return 0;
	if (armed)
		add_open_frames(s, bpf_ktime_get_ns(), true);
	s->depth = 0;
	return 0;
}

/* An exec gives the thread a new user stack; calls in the kernel continue. */
SEC("tp_btf/sched_process_exec")
int UNPREEMPTED_PROG(on_thread_exec, struct task_struct *t)
{
	struct call_frames *s;
	u32 i;

	if (*(volatile u64 *)&ended_ns)
		return 0;
	end_image(t, 1);
	s = frames_find(t);
	if (!s)
		return 0;
	/* Includes unused frames, because the verifier would explore each depth of a bounded loop. */
	for (i = 0; i < FUNCGRAPH_DEPTH; i++)
		if (s->frame[i].order >> ORDER_BITS == STACK_OF_USER)
			s->frame[i].order = (1ULL << ORDER_BITS) - 1;
	s->outermost = ~0ULL;
	return 0;
}

/* The loader runs this after it has set ended_ns and when no program that started earlier is still running. */
SEC("iter/task")
int show_open(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct call_frames *s;
	u64 now = *(volatile u64 *)&ended_ns;

	if (!t || !now)
		return 0;
	s = frames_find(t);
	if (s && s->depth)
		add_open_frames(s, now, false);
	return 0;
}

/*
 * As show_open(), for the goroutine that the loader specifies. The loader reads the keys of the map, and runs this for
 * each key, because some kernels reject iter/bpf_map_elem programs.
 */
struct goroutine open_goroutine = {};

SEC(BY_LOADER)
int show_open_goroutine(void *ctx)
{
	u64 now = *(volatile u64 *)&ended_ns, *ended;
	struct goroutine key;
	struct call_frames *s;
	struct image image;

	if (!now)
		return 0;
	key = open_goroutine;
	image = key.image;
	s = bpf_map_lookup_elem(&goroutines, &key);
	ended = bpf_map_lookup_elem(&images, &image);
	if (s && s->depth)
		add_open_frames(s, ended && *ended ? *ended : now, ended && *ended);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
