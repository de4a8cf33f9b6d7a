// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Values of events and of spans between events: how many, sums, histograms, or each of them. What is
 * asked of an event, the filter, the value, the key, is in functions that the loader compiles from
 * what was typed and puts in the place of those below (probe.h has the contract).
 *
 * A span begins with one event and ends with another; both make the same bytes, its match, which are
 * the key of its begin in starts. Every end is counted once: as an event, as filtered (it began as
 * one that is out of scope or filtered), or as lost.
 *
 * What the adds have to reckon with: programs on the perf events of tracepoints shut each other out
 * (bpf_prog_active, trace_call_bpf()); those of fentry and of uprobes are only kept from running in
 * themselves, interrupt the others, and can be preempted. So numbers are added atomically unless
 * there are none but tracepoints. Keys contain the CPU: an element has one writer, but for those that
 * interrupt each other.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "event.bpf.h"
#include "loss.bpf.h"
#include "own_counters.bpf.h"
#include "probe.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "syscall_event.bpf.h"

const volatile u32 what = PROBE_COUNT;          /* enum probe_what */
const volatile bool keyed = false;
/* Every program that is attached is one on the perf event of a tracepoint. */
const volatile bool only_tracepoints = false;
/* Bytes of the key, a multiple of 4. */
const volatile u32 key_size = PROBE_KEY_SMALL;
/* Frames are in a buffer: for streams, and where key_size is above PROBE_KEY_SMALL. */
const volatile bool large = false;
const volatile u64 bias = 0;                    /* of extremes; of bounds always 2^63 */
const volatile u32 named = PROBE_NAME_NONE;     /* enum probe_name */
/* Of spans: what begins carry to their ends, from the start of the key; and the value. */
const volatile u32 begin_key = 0;
const volatile bool begin_value = false;
const volatile u32 begin_counters = 0;  /* where they stand behind it, a multiple of 8 */
const volatile bool span_in_thread = false;     /* a span ends in the thread in which it began */
/* Begins and ends without the other are losses: nothing but their absence can be the reason. */
const volatile bool count_unmatched = false;

u64 interval = 1;       /* counted up by the loader: probe_extremes */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);                 /* set by the loader: the events */
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct probe_sum));   /* likewise: probe_sum__size() */
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, sizeof(struct hist_slot) + 8);         /* likewise: with its key_size */
	__uint(value_size, sizeof(struct probe_sum));           /* likewise */
} keyed_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hist_whole);
} values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, sizeof(struct hist_slot) + 8);         /* likewise */
	__uint(value_size, sizeof(struct hist_segment));
} keyed_values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);                 /* set by the loader */
	__uint(key_size, 8);                    /* likewise: bytes of the match */
	__uint(value_size, sizeof(struct probe_begin));         /* likewise: and what is behind */
} starts SEC(".maps");

EVENT_BODY(event_filter, EVENT_FILTER, struct probe_frame)
EVENT_BODY(event_value, EVENT_VALUE, struct probe_frame)
EVENT_BODY(event_key, EVENT_KEY, struct probe_frame)
EVENT_BODY(event_match, EVENT_MATCH, struct probe_frame)

/* Since 6.10. */
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

/*
 * A program with more than 64 bytes of stack has one stack for each CPU since 6.13, and the buffers
 * are per CPU as well. Programs on fentry and uprobes can be preempted: another task's run would
 * write into what is being made. alone: nothing can come between as it is.
 */
static __always_inline void begin_work(bool alone)
{
	if (!alone && bpf_preempt_disable)
		bpf_preempt_disable();
}

static __always_inline void end_work(bool alone)
{
	if (!alone && bpf_preempt_enable)
		bpf_preempt_enable();
}

/* --- frames in buffers ------------------------------------------------------------------------- */

/*
 * What a record or a begin has in front of the key is written there when the head of the frame is no
 * longer needed: so one piece of memory is what the kernel is given.
 */
struct buffer {
	u64 head;
	struct probe_frame frame;
};
_Static_assert(sizeof(struct probe_record) <= sizeof(u64) + PROBE_HEAD, "no room for a record's");
_Static_assert(sizeof(struct probe_begin) <= PROBE_HEAD, "no room for a begin's");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROBE_FRAMES);
	__type(key, u32);
	__type(value, struct buffer);
} buffers SEC(".maps");

/* A bit for each of a CPU's buffers that is in use. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} buffers_used SEC(".maps");

struct lease {
	u64 *used;
	u64 bit;
};

/*
 * The first buffer that is free. Whoever interrupts has given back its own when this goes on, so
 * that looking and taking need not be one step. Atomic adds cancel out whatever happens.
 */
static __always_inline struct probe_frame *take_frame(struct lease *lease)
{
	struct buffer *buffer;
	u32 i = 0;

	lease->used = bpf_map_lookup_elem(&buffers_used, &i);
	if (!lease->used)
		return NULL;
	lease->bit = ~*lease->used & ((1 << PROBE_FRAMES) - 1);
	lease->bit &= -lease->bit;
	_Static_assert(PROBE_FRAMES == 4, "the next line is for bits 0 to 3");
	i = (lease->bit >> 1) - (lease->bit >> 3);
	buffer = lease->bit ? bpf_map_lookup_elem(&buffers, &i) : NULL;
	if (!buffer) {
		count_lost(LOSS_NO_BUFFER);
		return NULL;
	}
	__sync_fetch_and_add(lease->used, lease->bit);
	return &buffer->frame;
}

static __always_inline void give_back(const struct lease *lease)
{
	__sync_fetch_and_add(lease->used, -lease->bit);
}

/* --- adding ------------------------------------------------------------------------------------ */

static __always_inline void add_to(u64 *n, u64 value, bool alone)
{
	if (alone)
		*n += value;
	else
		__sync_fetch_and_add(n, value);
}

/*
 * Plain: 5.10 has no atomic maximum. Of two that interrupt each other just here, on one CPU and with
 * one key, the interrupted one may win with the smaller value.
 */
static __always_inline void add_extremes(u64 *max, u64 *min_inv, u64 value)
{
	value ^= bias;
	if (value > *max)
		*max = value;
	if (~value > *min_inv)
		*min_inv = ~value;
}

/* Before the value is counted: who reads a count finds the extremes of what is in it. */
static __always_inline void add_to_interval(struct probe_sum *s, u64 value)
{
	u64 now = *(volatile u64 *)&interval;
	struct probe_extremes *e = &s->extremes[now & 1];

	if (e->interval != now) {
		e->max = e->min_inv = 0;
		e->interval = now;
	}
	add_extremes(&e->max, &e->min_inv, value);
}

/* Jiffies: any clock that rises on all CPUs will do, and this one is a load. */
static __always_inline void put_name(char name[TASK_COMM_LEN], u64 *stamp)
{
	struct task_struct *t, *leader;

	if (!named)
		return;
	if (named == PROBE_NAME_PROCESS) {
		t = (struct task_struct *)bpf_get_current_task();
		leader = BPF_CORE_READ(t, group_leader);
		bpf_probe_read_kernel(name, TASK_COMM_LEN, leader->comm);
	} else {
		bpf_get_current_comm(name, TASK_COMM_LEN);
	}
	*stamp = bpf_jiffies64();
}

static const struct probe_sum no_sum = {};
static const struct hist_segment no_segment = {};

/* The element of the frame's key, made if there is none; NULL: lost, and counted. */
static __always_inline void *find_or_make(void *map, struct probe_frame *f, const void *fresh)
{
	void *element;
	long err;

	f->slot.cpu = bpf_get_smp_processor_id();
	element = bpf_map_lookup_elem(map, &f->slot);
	if (element)
		return element;
	err = bpf_map_update_elem(map, &f->slot, fresh, BPF_NOEXIST);
	element = bpf_map_lookup_elem(map, &f->slot);
	if (!element)
		count_failed_update(err);
	return element;
}

static __always_inline void add_counters(struct probe_sum *s, const struct probe_frame *f,
					 bool alone)
{
	u32 i;

#pragma unroll
	for (i = 0; i < PROBE_COUNTERS; i++)
		if (i < ncounters)
			add_to(&s->counter[i], f->counter[i], alone);
}

static __always_inline void add_sum(struct probe_frame *f, bool alone)
{
	struct probe_sum *s;

	if (keyed) {
		f->slot.segment = 0;
		s = find_or_make(&keyed_sums, f, &no_sum);
	} else {
		s = bpf_map_lookup_elem(&sums, &f->event);
	}
	if (!s)
		return;
	if (what == PROBE_SUM) {
		add_to_interval(s, f->value);
		add_to(&s->sum, f->value, alone);
	}
	add_counters(s, f, alone);
	add_to(&s->count, 1, alone);
	if (keyed)
		put_name(s->name, &s->name_stamp);
}

static __always_inline void add_totals(struct hist_totals *t, u64 value, bool alone)
{
	add_to(&t->sum, value, alone);
	add_extremes(&t->max, &t->min_inv, value);
}

static __always_inline void add_value(struct probe_frame *f, bool alone)
{
	u64 value = what == PROBE_BOUNDS ? f->order : f->value;
	u64 i = what == PROBE_BOUNDS ? f->value : hist_index(f->value);
	struct hist_segment *h;
	struct hist_whole *all;
	u32 zero = 0;

	/* 5.10 knows the range of the very register that is compared, not of one shifted since. */
	barrier_var(i);
	if (i >= HIST_BUCKETS)          /* does not happen; the verifier cannot know */
		return;
	if (!keyed) {
		all = bpf_map_lookup_elem(&values, &zero);
		if (!all)
			return;
		add_totals(&all->totals, value, alone);
		add_to(&all->bucket[i], 1, alone);
		return;
	}
	f->slot.segment = i >> HIST_SEGMENT_BITS;
	h = find_or_make(&keyed_values, f, &no_segment);
	if (!h)
		return;
	add_totals(&h->totals, value, alone);
	add_to(&h->bucket[i & (HIST_SEGMENT_BUCKETS - 1)], 1, alone);
	put_name(h->name, &h->name_stamp);
}

static __always_inline void add_record(struct probe_frame *f)
{
	struct probe_record *r = (void *)f->key - sizeof(*r);
	u64 elapsed = f->elapsed, id = bpf_get_current_pid_tgid(), size = f->size;
	u32 event = f->event;

	barrier_var(size);
	if (size > PROBE_KEY_MOST)      /* does not happen, as above */
		return;
	r->time_ns = bpf_ktime_get_ns();
	r->elapsed = elapsed;
	r->event = event;
	r->cpu = bpf_get_smp_processor_id();
	r->pid = id >> 32;
	r->tid = id;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	ring_output(r, sizeof(*r) + size);
}

static __always_inline void add(struct probe_frame *f, bool alone)
{
	if (what == PROBE_STREAM)
		add_record(f);
	else if (what == PROBE_COUNT || what == PROBE_SUM)
		add_sum(f, alone);
	else
		add_value(f, alone);
}

static __always_inline bool has_value(void)
{
	return what == PROBE_SUM || what == PROBE_HIST || what == PROBE_BOUNDS;
}

/* --- what each event is asked ------------------------------------------------------------------ */

/* Those that are false have counted why. */

static __always_inline bool passes(void *ctx, struct probe_frame *f)
{
	int verdict = event_filter(ctx, f);

	if (verdict < 0)
		count_lost(LOSS_READ_FAULT);
	if (verdict == 0)
		count_filtered();
	return verdict > 0;
}

static __always_inline bool make_value(void *ctx, struct probe_frame *f)
{
	int verdict = event_value(ctx, f);

	if (verdict)
		count_lost(verdict < 0 ? LOSS_READ_FAULT : LOSS_NEGATIVE);
	return !verdict;
}

static __always_inline bool make_key(void *ctx, struct probe_frame *f)
{
	if (event_key(ctx, f) >= 0)
		return true;
	count_lost(LOSS_READ_FAULT);
	return false;
}

static __always_inline bool make_match(void *ctx, struct probe_frame *f)
{
	if (event_match(ctx, f) >= 0)
		return true;
	count_lost(LOSS_READ_FAULT);
	return false;
}

/* --- single events ----------------------------------------------------------------------------- */

static __always_inline void measure(void *ctx, struct probe_frame *f, bool alone)
{
	if (has_value() && !make_value(ctx, f))
		return;
	if ((keyed || what == PROBE_STREAM) && !make_key(ctx, f))
		return;
	add(f, alone);
}

/* The head of a frame, and a small key. */
struct small_frame {
	u8 head[PROBE_HEAD];
	u8 key[PROBE_KEY_SMALL];
} __attribute__((aligned(8)));

static __noinline int measure_small(void *ctx, u32 event, bool alone)
{
	struct small_frame small;
	struct probe_frame *f = (void *)&small;
	u32 i;

	f->value = f->order = f->elapsed = 0;
	f->event = event;
	f->size = 0;
	f->slot = (struct hist_slot){};
	/* The verifier does not know that event_key() writes all that maps then read. */
#pragma unroll
	for (i = 0; i < PROBE_KEY_SMALL; i += 8)
		if (keyed && i < key_size)
			*(volatile u64 *)&small.key[i] = 0;
	if (passes(ctx, f))
		measure(ctx, f, alone);
	return 0;
}

static __noinline int measure_large(void *ctx, u32 event, bool alone)
{
	struct probe_frame *f;
	struct lease lease;

	/* The filter of a single event asks the event alone: most may be left out, and need no buffer. */
	if (!passes(ctx, NULL))
		return 0;
	f = take_frame(&lease);
	if (!f)
		return 0;
	f->elapsed = 0;
	f->event = event;
	f->size = 0;
	measure(ctx, f, alone);
	give_back(&lease);
	return 0;
}

static __always_inline void single(void *ctx, u32 event, bool alone)
{
	if (!armed || !in_scope(NULL))
		return;
	begin_work(alone);
	if (large)
		measure_large(ctx, event, alone);
	else
		measure_small(ctx, event, alone);
	end_work(alone);
}

/* --- spans ------------------------------------------------------------------------------------- */

static __always_inline u64 start_of_thread(void)
{
	struct task_struct *t;

	if (!span_in_thread)
		return 0;
	/* A typed pointer to the current task: a load instead of a call. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		t = bpf_get_current_task_btf();
		return t->start_time;
	}
	t = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(t, start_time);
}

/*
 * The newest begin is the one that counts: the one before it never ended where a function was left by
 * longjmp, or an exec.
 */
static __always_inline void put_begin(struct probe_frame *f, bool lost)
{
	struct probe_begin *b = (void *)f->key - sizeof(*b);
	u64 value = f->value, order = f->order, flags = count_unmatched ? BPF_NOEXIST : BPF_ANY;
	long err;

	b->task_start = start_of_thread();
	b->value = value;
	b->order = order;
	b->tid = bpf_get_current_pid_tgid();
	if (ncounters)
		own_counters_get(calling_task(), NULL); /* made now: that takes longer than to read */
	b->time_ns = bpf_ktime_get_ns();
	/* Within the time: what a task did cannot take longer. */
	if (!lost && ncounters && !read_own_counters((void *)f->key + begin_counters)) {
		count_lost(LOSS_READ_FAULT);
		lost = true;
	}
	b->lost = lost;
	err = bpf_map_update_elem(&starts, f->match, b, flags);
	if (count_unmatched && (int)err == -EEXIST) {
		count_lost(LOSS_UNMATCHED);
		err = bpf_map_update_elem(&starts, f->match, b, BPF_ANY);
	}
	if (err)
		count_failed_update(err);
}

/*
 * Before the gate is open, too: ends that come after that find their begin. What is out of scope or
 * filtered here is counted at its end; what is lost here is not counted there again.
 */
static __always_inline void begin_frame(void *ctx, struct probe_frame *f)
{
	int verdict = event_filter(ctx, f);
	bool lost = verdict < 0;

	if (lost)
		count_lost(LOSS_READ_FAULT);
	if (!verdict || !make_match(ctx, f))
		return;
	if (!lost && begin_value)
		lost = !make_value(ctx, f);
	if (!lost && begin_key)
		lost = !make_key(ctx, f);
	put_begin(f, lost);
}

static __noinline int begin_span(void *ctx, u32 event)
{
	struct probe_frame *f;
	struct lease lease;

	f = take_frame(&lease);
	if (!f)
		return 0;
	f->elapsed = 0;
	f->event = event;
	begin_frame(ctx, f);
	give_back(&lease);
	return 0;
}

enum begun { BEGUN_NOT, BEGUN, BEGUN_LOST };

static __always_inline void since_begin(struct probe_frame *f, const struct probe_begin *b)
{
	const u64 *counter = (void *)b->key + begin_counters;
	u32 i;

#pragma unroll
	for (i = 0; i <= PROBE_COUNTERS; i++)
		if (ncounters && i <= ncounters)
			f->counter[i] -= counter[i];
}

/* False: it is counted why not. */
static __always_inline bool has_counters(const struct probe_frame *f, bool were_read)
{
	if (!ncounters)
		return true;
	if (!were_read)
		count_lost(LOSS_READ_FAULT);
	else if (f->counter[ncounters])
		count_lost(LOSS_MISSED);
	return were_read && !f->counter[ncounters];
}

/* Takes the begin out of starts, what it carries into the frame. */
static __always_inline enum begun take_begin(struct probe_frame *f, u64 now)
{
	struct probe_begin *b = bpf_map_lookup_elem(&starts, f->match);
	enum begun found;

	if (!b)
		return BEGUN_NOT;
	found = b->task_start != start_of_thread() ? BEGUN_NOT : b->lost ? BEGUN_LOST : BEGUN;
	f->elapsed = now - b->time_ns;
	if (begin_value) {
		f->value = b->value;
		f->order = b->order;
	}
	if (begin_key)
		bpf_probe_read_kernel(f->key, begin_key, b->key);
	since_begin(f, b);
	bpf_map_delete_elem(&starts, f->match);
	return found;
}

static __always_inline void end_frame(void *ctx, struct probe_frame *f, u64 now, bool alone)
{
	bool were_read = false;
	enum begun begun;

	if (ncounters) {
		were_read = read_own_counters(f->counter);
		now = bpf_ktime_get_ns();
	}
	if (!make_match(ctx, f))
		return;
	begun = take_begin(f, now);
	if (begun == BEGUN_LOST)
		return;
	if (begun == BEGUN_NOT) {
		/* The tool's own calls did not begin for us; in_scope() counts them as filtered. */
		if (!count_unmatched)
			count_filtered();
		else if (in_scope(NULL))
			count_lost(LOSS_UNMATCHED);
		return;
	}
	if (!armed || !passes(ctx, f))
		return;
	if (!has_counters(f, were_read))
		return;
	if (has_value() && !begin_value && !make_value(ctx, f))
		return;
	if ((keyed || what == PROBE_STREAM) && !make_key(ctx, f))
		return;
	add(f, alone);
}

static __noinline int end_span(void *ctx, u32 event, bool alone)
{
	u64 now = bpf_ktime_get_ns();
	struct probe_frame *f;
	struct lease lease;

	f = take_frame(&lease);
	if (!f)
		return 0;
	f->event = event;
	f->size = 0;
	end_frame(ctx, f, now, alone);
	give_back(&lease);
	return 0;
}

static __always_inline void begin(void *ctx, u32 event, bool alone)
{
	if (!scope_for_life(NULL) || !scope_now(NULL))
		return;
	begin_work(alone);
	begin_span(ctx, event);
	end_work(alone);
}

static __always_inline void end(void *ctx, u32 event, bool alone)
{
	begin_work(alone);
	end_span(ctx, event, alone);
	end_work(alone);
}

/* --- templates: what the loader attaches copies of ---------------------------------------------- */

/* On the perf event of a tracepoint. */
SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	single(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

/* On the perf event of a kprobe or uprobe, of an entry or a return. */
SEC("kprobe")
int on_probe(void *ctx)
{
	single(ctx, event_slot(), false);
	return KEEP_EVENT;
}

/* kprobe.multi and uprobe.multi; there 1 would mean something else. */
SEC("kprobe")
int on_probes(void *ctx)
{
	single(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int on_entry(void *ctx)
{
	single(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int on_exit(void *ctx)
{
	single(ctx, event_slot(), false);
	return 0;
}

SEC("tracepoint")
int begin_tracepoint(void *ctx)
{
	begin(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

SEC("kprobe")
int begin_probe(void *ctx)
{
	begin(ctx, event_slot(), false);
	return KEEP_EVENT;
}

SEC("kprobe")
int begin_probes(void *ctx)
{
	begin(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int begin_entry(void *ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int begin_exit(void *ctx)
{
	begin(ctx, event_slot(), false);
	return 0;
}

SEC("tracepoint")
int end_tracepoint(void *ctx)
{
	end(ctx, event_slot(), only_tracepoints);
	return KEEP_EVENT;
}

SEC("kprobe")
int end_probe(void *ctx)
{
	end(ctx, event_slot(), false);
	return KEEP_EVENT;
}

SEC("kprobe")
int end_probes(void *ctx)
{
	end(ctx, event_cookie(ctx), false);
	return 0;
}

SEC("fentry")
int end_entry(void *ctx)
{
	end(ctx, event_slot(), false);
	return 0;
}

SEC("fexit")
int end_exit(void *ctx)
{
	end(ctx, event_slot(), false);
	return 0;
}

/* On all system calls; with one map of slots for begins, and one for the others. */
SYSCALL_SLOTS(syscall_slots)
SYSCALL_SLOTS(begin_syscall_slots)

ON_SYSCALL_ENTER(on_syscall_enter, syscall_slots, single, false)
ON_SYSCALL_EXIT(on_syscall_exit, syscall_slots, single, false)
ON_SYSCALL_ENTER(begin_syscall_enter, begin_syscall_slots, begin, false)
ON_SYSCALL_EXIT(begin_syscall_exit, begin_syscall_slots, begin, false)
ON_SYSCALL_ENTER(end_syscall_enter, syscall_slots, end, false)
ON_SYSCALL_EXIT(end_syscall_exit, syscall_slots, end, false)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
