/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lockstat and futexstat share: waits summed up by key, as a table or as histograms, or by the
 * stack of who waited. The object has, beside the maps and constants of run/measure.h (the value is
 * called waits) and stack/stacks.h (counts, of ns):
 *
 *   min_ns, with_stacks, take       constants, set here
 *   ended_ns                        not 0 from the end on: then nothing is counted any more
 *   show_waiting                    adds the waits that go on then (iter/task)
 *
 *   lock_waits__check()     from check()
 *   lock_waits__prepare()   between open and load
 *   lock_waits__begin()     between load and attach
 *   lock_waits__report()    from report()
 *   lock_waits__free()
 *
 * All return 0 or a negative errno.
 */
#ifndef TALLY_LOCKS_LOCK_WAITS_H
#define TALLY_LOCKS_LOCK_WAITS_H

#include "run/last.h"
#include "run/measure.h"
#include "stack/options.h"
#include "stack/stacks.h"

struct lock_waits {
	/* Of the tool. */
	struct own_parts parts;
	u32 by;                         /* the keys where none are asked for */
	u32 marking;                    /* keys that say which waits had not ended */
	u32 mark;                       /* what is added where none of those is asked for */
	const char *const *event;       /* what stacks are grouped by, by struct task_key.event */
	u32 of_memory;                  /* keys that are addresses in processes, to be named */

	/* As asked for. */
	struct stack_options options;
	u64 min_ns;
	bool hist, with_stacks;

	bool sees_processes;            /* stacks.names.symbols knows them, without stacks too */
	struct stacks stacks;
	struct last_report last;
	bool ended;
	u64 waits_before;
};

/* --min, --hist, -g and those of stacks; the input is a struct lock_waits. */
extern const struct argp lock_waits_argp;

int lock_waits__check(struct lock_waits *w, struct cli *cli);

/* key_size: of the map keyed_waits. */
int lock_waits__prepare(struct lock_waits *w, struct measurement *m, size_t key_size);

/* m->own is to be a struct that begins with the struct lock_waits. */
int lock_waits__begin(struct lock_waits *w, struct measurement *m);

/*
 * Is this the last report? Then ended_ns is set, and waits that go on are added. To be asked before
 * lock_waits__report().
 */
void lock_waits__end(struct lock_waits *w, const struct measurement *m);

/*
 * Fills in all but value and source. waits: how many had been counted by stack until now.
 * share: as in run/tabulate.h.
 */
int lock_waits__report(struct lock_waits *w, struct measurement *m, struct report *r, u64 waits,
		       const char *share);
void lock_waits__free(struct lock_waits *w);

#endif /* TALLY_LOCKS_LOCK_WAITS_H */
