/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by lockstat and futexstat: waits summed by key, as a table or as histograms, or by the
 * waiter's stack. In addition to the maps and constants of run/measure.h (the value is called
 * waits) and stack/stacks.h (counts, in ns), the object has:
 *
 *   min_ns, with_stacks, take       constants, set here
 *   ended_ns                        set at the end: nothing is counted afterwards
 *   show_waiting                    adds the unfinished waits at the end (iter/task)
 *
 *   lock_waits__check()     from check()
 *   lock_waits__prepare()   between open and load
 *   lock_waits__begin()     between load and attach
 *   lock_waits__report()    from report()
 *   lock_waits__free()
 *
 * Functions return 0 or a negative errno.
 */
#ifndef TALLY_LOCKS_LOCK_WAITS_H
#define TALLY_LOCKS_LOCK_WAITS_H

#include "run/measure.h"
#include "stack/options.h"
#include "stack/stacks.h"

struct lock_waits {
	/* Set by the tool. */
	struct own_parts parts;
	u32 by;                         /* default keys */
	u32 marking;                    /* keys that can mark unfinished waits */
	u32 mark;                       /* the key to add if --by has no key of `marking` */
	const char *const *event;       /* groups of stacks, by struct task_key.event */
	u32 of_memory;                  /* keys that are addresses in processes, and need to be resolved to names */

	/* Set by options. */
	struct stack_options options;
	u64 min_ns;
	bool with_stacks;

	bool sees_processes;            /* stacks.names.symbols tracks processes, even without stacks */
	struct stacks stacks;
	bool ended;
	u64 waits_before;
};

/* --min, -g and the options of stacks. The input is a struct lock_waits. */
extern const struct option_row lock_wait_rows[];

int lock_waits__check(struct lock_waits *w, struct cli *cli);

/* key_size: key size of the map keyed_waits. */
int lock_waits__prepare(struct lock_waits *w, struct measurement *m, size_t key_size);

/* m->own must begin with the struct lock_waits. */
int lock_waits__begin(struct lock_waits *w, struct measurement *m);

/*
 * If this is the last report, sets ended_ns and adds the unfinished waits. To be called before
 * lock_waits__report().
 */
void lock_waits__end(struct lock_waits *w, const struct measurement *m);

/*
 * Fills in everything except value and source. waits: number of waits counted by stack so far.
 * share: see run/tabulate.h.
 */
int lock_waits__report(struct lock_waits *w, struct measurement *m, struct report *r, u64 waits,
		       const char *share);
void lock_waits__free(struct lock_waits *w);

#endif /* TALLY_LOCKS_LOCK_WAITS_H */
