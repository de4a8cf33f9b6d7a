// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stalls of tasks when free memory is short, and their durations: reclaim, compaction, sleeps above
 * memory.high, OOM kills. The subject is the stalled task, or the victim of a kill.
 *
 * If one kind happens inside another (a task in direct reclaim that also exceeds the limit of its
 * cgroup), both count; no kind happens inside itself.
 *
 * No tracepoint shows the sleeps above memory.high. The kernel's mem_cgroup_handle_over_high() first
 * reclaims, which has tracepoints, and then sleeps at most once: psi_memstall_enter(),
 * schedule_timeout_killable(), psi_memstall_leave(). The time from the second to the third within
 * that function is the sleep, with the wait for a CPU after it, as in memory.pressure. This is the
 * cheapest way, since all these calls are rare: a program on context switches would run for every
 * task. It is exact, too, because the end is a function's entry: the kernel skips fexit programs for
 * tasks that sleep in a function while another program is attached to it, or detached.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "element.bpf.h"
#include "hist.bpf.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "reclaim.h"
#include "ring.bpf.h"
#include "scope.bpf.h"
#include "task_key.bpf.h"
#include "task_state.bpf.h"
#include "writer.bpf.h"

const volatile bool lines = false;      /* one record per stall, instead of sums */
const volatile u64 min_ns = 0;

/* All sums have a key: only keyed_stalls is used. */
HIST_MAPS(stalls, struct reclaim_key);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct reclaim_pages_key);
	__type(value, u64);
} pages SEC(".maps");

/* Where in mem_cgroup_handle_over_high() a task is. */
enum over_high {
	NOT_OVER_HIGH,
	OVER_HIGH,
	OVER_HIGH_ASLEEP,
};

struct reclaim_state {
	u64 start_ns[RECLAIM_TIMED];    /* 0: not in this kind of stall */
	u64 over_high;                  /* enum over_high */
};

TASK_STATE(reclaim_states, struct reclaim_state)

/* --- sums and records ------------------------------------------------------------------------- */

static __always_inline void add_pages(const struct reclaim_key *of, u64 n)
{
	struct reclaim_pages_key key = {
		.task = of->task, .parts = of->parts, .writer = this_writer(),
	};
	u64 *sum, zero = 0;

	sum = element_of(&pages, &key, &zero);
	if (sum)
		*sum += n;
}

/* t is NULL for the current task. */
static __always_inline void add(struct task_struct *t, u32 kind, u64 ns, u64 freed)
{
	struct reclaim_key key = { .parts.kind = kind };
	struct hist_segment *h;

	task_key_of(&key.task, t);
	h = hist_add_key(&keyed_stalls, &key.slot, ns);
	if (!h)
		return;
	task_key_name(h->name, &h->name_stamp, t, bpf_ktime_get_ns());
	if (freed)
		add_pages(&key, freed);
}

static __always_inline void emit(struct task_struct *t, u32 kind, u64 ns, u64 freed)
{
	struct reclaim_record *r = ring_reserve(struct reclaim_record);
	u64 id = bpf_get_current_pid_tgid();

	if (!r)
		return;
	r->time_ns = bpf_ktime_get_ns();
	r->ns = ns;
	r->pages = freed;
	r->pid = scope_tgid(t);
	r->tid = scope_tid(t);
	r->cpu = bpf_get_smp_processor_id();
	r->kind = kind;
	r->other_pid = id >> 32;
	r->other_tid = id;
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), scope_subject(t)->comm);
	bpf_get_current_comm(r->other_comm, sizeof(r->other_comm));
	ring_submit(r);
}

static __always_inline void tell(struct task_struct *t, u32 kind, u64 ns, u64 freed)
{
	if (lines)
		emit(t, kind, ns, freed);
	else
		add(t, kind, ns, freed);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static __always_inline int begin(u32 kind)
{
	struct reclaim_state *s;

	if (!armed || !scope_for_life(NULL))
		return 0;
	s = reclaim_states_get(calling_task(), NULL);
	if (!s)
		count_lost(LOSS_NO_STORAGE);
	/* kswapd may begin again before it sleeps: it has been awake since the first time. */
	else if (kind != RECLAIM_KSWAPD || !s->start_ns[kind])
		s->start_ns[kind] = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end(u32 kind, u64 freed)
{
	struct reclaim_state *s;
	u64 ns;

	if (!armed || !in_scope(NULL))
		return 0;
	s = reclaim_states_find(calling_task());
	if (!s || !s->start_ns[kind]) {
		count_begun_before();
		return 0;
	}
	ns = bpf_ktime_get_ns() - s->start_ns[kind];
	s->start_ns[kind] = 0;
	if (ns < min_ns)
		count_filtered();
	else
		tell(NULL, kind, ns, freed);
	return 0;
}

#define RECLAIM_HOOKS(kind, name)                                                                  \
	SEC("tp_btf/" #name "_begin")                                                              \
	int UNPREEMPTED_PROG(name##_begins)                                                                \
	{                                                                                          \
		return begin(kind);                                                                \
	}                                                                                          \
                                                                                                   \
	SEC("tp_btf/" #name "_end")                                                                \
	int UNPREEMPTED_PROG(name##_ends, unsigned long freed)                                             \
	{                                                                                          \
		return end(kind, freed);                                                           \
	}

RECLAIM_HOOKS(RECLAIM_DIRECT, mm_vmscan_direct_reclaim)
RECLAIM_HOOKS(RECLAIM_MEMCG, mm_vmscan_memcg_reclaim)
RECLAIM_HOOKS(RECLAIM_SOFTLIMIT, mm_vmscan_memcg_softlimit_reclaim)
RECLAIM_HOOKS(RECLAIM_NODE, mm_vmscan_node_reclaim)

SEC("tp_btf/mm_compaction_begin")
int UNPREEMPTED_PROG(mm_compaction_begins)
{
	return begin(RECLAIM_COMPACT);
}

SEC("tp_btf/mm_compaction_end")
int UNPREEMPTED_PROG(mm_compaction_ends)
{
	return end(RECLAIM_COMPACT, 0);
}

SEC("tp_btf/mm_vmscan_kswapd_wake")
int UNPREEMPTED_PROG(kswapd_wakes)
{
	return begin(RECLAIM_KSWAPD);
}

SEC("tp_btf/mm_vmscan_kswapd_sleep")
int UNPREEMPTED_PROG(kswapd_sleeps)
{
	return end(RECLAIM_KSWAPD, 0);
}

/* --- memory.high ------------------------------------------------------------------------------ */

/* Most calls return at once: the kernel makes one whenever a task returns to user space with any work to do. */
static __always_inline bool owes_pages(void)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();

	return !bpf_core_field_exists(t->memcg_nr_pages_over_high) || BPF_CORE_READ(t, memcg_nr_pages_over_high);
}

static __always_inline void set_over_high(struct reclaim_state *s, enum over_high where)
{
	s->over_high = where;
	s->start_ns[RECLAIM_HIGH] = 0;
}

/*
 * Attached before the begin, so that no task stays in a state that nothing ends. Newer kernels (6.18) call the
 * function __mem_cgroup_handle_over_high().
 */
SEC("fexit/mem_cgroup_handle_over_high")
int UNPREEMPTED(PREEMPT_FUNCTION, over_high_ends, u64 *, ctx)
{
	struct reclaim_state *s = reclaim_states_find(calling_task());

	if (s)
		set_over_high(s, NOT_OVER_HIGH);
	return 0;
}

SEC("fentry/mem_cgroup_handle_over_high")
int UNPREEMPTED(PREEMPT_FUNCTION, over_high_begins, u64 *, ctx)
{
	struct reclaim_state *s;

	if (!owes_pages() || !scope_for_life(NULL))
		return 0;
	s = reclaim_states_get(calling_task(), NULL);
	if (s)
		set_over_high(s, OVER_HIGH);
	else
		count_lost(LOSS_NO_STORAGE);
	return 0;
}

/* It has a few other callers, such as NFS and the OOM killer. */
SEC("fentry/schedule_timeout_killable")
int UNPREEMPTED(PREEMPT_FUNCTION, high_sleep_begins, u64 *, ctx)
{
	struct reclaim_state *s = reclaim_states_find(calling_task());

	if (!s || s->over_high != OVER_HIGH)
		return 0;
	s->over_high = OVER_HIGH_ASLEEP;
	return begin(RECLAIM_HIGH);
}

SEC("fentry/psi_memstall_leave")
int UNPREEMPTED(PREEMPT_FUNCTION, high_sleep_ends, u64 *, ctx)
{
	struct reclaim_state *s = reclaim_states_find(calling_task());

	if (!s || s->over_high != OVER_HIGH_ASLEEP)
		return 0;
	s->over_high = NOT_OVER_HIGH;
	return end(RECLAIM_HIGH, 0);
}

/* --- victims ---------------------------------------------------------------------------------- */

/*
 * Since 6.8, and in kernels with a backport (commit 72ba14deb40a), the tracepoint passes the task; before that, only a
 * pid.
 */
SEC("tp_btf/mark_victim")
int UNPREEMPTED_PROG(on_victim, struct task_struct *victim)
{
	if (armed && in_scope(victim))
		tell(victim, RECLAIM_OOM, 0, 0);
	return 0;
}

/* --- current stalls --------------------------------------------------------------------------- */

static __always_inline void show_one(struct bpf_iter__task *ctx, struct task_struct *t, u32 kind,
				     u64 start_ns)
{
	struct reclaim_running r = { .parts.kind = kind };
	u64 stamp;

	r.ns = bpf_ktime_get_ns() - start_ns;
	if (!start_ns || (s64)r.ns < 0 || r.ns < min_ns)
		return;
	task_key_of(&r.task, t);
	task_key_name(r.name, &stamp, t, 0);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
}

SEC("iter/task")
int show_running(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct reclaim_state *s;
	u32 kind;

	if (!t || is_idle(t))
		return 0;
	s = reclaim_states_find(t);
	if (!s || !scope_now(t))
		return 0;
#pragma unroll
	for (kind = 0; kind < RECLAIM_TIMED; kind++)
		show_one(ctx, t, kind, s->start_ns[kind]);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
