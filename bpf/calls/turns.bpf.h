/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last WHY_TURNS turns of each CPU; a turn lasts from one switch to the next. Only the program at sched_switch
 * reads and writes them, with interrupts off, so no other CPU uses this memory.
 */
#ifndef TALLY_TURNS_BPF_H
#define TALLY_TURNS_BPF_H

#include "compat.bpf.h"
#include "task_key.bpf.h"
#include "why.h"

/* comm is that of the process that had the CPU; empty if it was idle. */
struct turn {
	u64 since, until;
	char comm[TASK_COMM_LEN];
};

/* The last turns of a CPU. Turn n is at index n % WHY_TURNS. */
struct turns {
	u64 n, since;           /* number and start of the current turn */
	struct turn turn[WHY_TURNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct turns);
} all_turns SEC(".maps");

static __always_inline struct turn *turn_at(struct turns *turns, u64 n)
{
	n &= WHY_TURNS - 1;
	/* The verifier of 5.10 knows the range of this register only. */
	barrier_var(n);
	return n < WHY_TURNS ? &turns->turn[n] : NULL;
}

static __always_inline void end_turn(struct turns *turns, struct task_struct *t, u64 now)
{
	struct turn *turn = turn_at(turns, turns->n);

	if (!turn)
		return;
	turn->since = turns->since;
	turn->until = now;
	if (is_idle(t))
		turn->comm[0] = 0;
	else
		task_key_typed_comm(turn->comm, t->group_leader);
	turns->n++;
	turns->since = now;
}

/* Returns the turn at that time, among those before the last WHY_LAST_TURNS; NULL if it is no longer stored. */
static __always_inline struct turn *turn_of_time(struct turns *turns, u64 at)
{
	u64 low = WHY_LAST_TURNS + 1, high = WHY_TURNS, middle, n = turns->n;
	struct turn *turn;
	int i;

	for (i = 0; i < 8 && low < high; i++) {
		middle = (low + high) / 2;
		turn = turn_at(turns, n - middle);
		if (!turn)
			return NULL;
		if (turn->since <= at)
			high = middle;
		else
			low = middle + 1;
	}
	turn = turn_at(turns, n - low);
	return turn && turn->since <= at && turn->until > at ? turn : NULL;
}

#endif /* TALLY_TURNS_BPF_H */
