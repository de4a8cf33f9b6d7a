/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events counted by stack, from the maps to the report. The object includes bpf/lib/stack.bpf.h and
 * loss.bpf.h, and has a hash of struct stack_key to struct stack_count.
 *
 *   stacks__prepare()    between open and load, with the object's constants
 *   stacks__begin()      between load and attach: m->watch is taken
 *   stacks__report()     from report(): what came since the last call
 *   stacks__free()
 *
 * All return 0 or a negative errno.
 */
#ifndef TALLY_STACK_STACKS_H
#define TALLY_STACK_STACKS_H

#include "agg/loss.h"
#include "run/measurement.h"
#include "stack/choice.h"
#include "stack/names.h"
#include "stack/store.h"
#include "stack/told.h"
#include "unwind/unwinder.h"

/* Are there tables to walk by on this machine? (bpf/lib/unwind.h) */
#ifdef __x86_64__
#define STACKS_HAVE_TABLES true
#else
#define STACKS_HAVE_TABLES false
#endif

/* Resolved once, however often it is reported. */
struct known_stack {
	const struct stack *stack;
	struct stack_path path;
};

struct stacks {
	const struct bpf_object *obj;
	const char *counts;             /* the map's name */
	u32 depth;
	u64 seed;
	bool kernel, user;              /* the parts that are taken */
	bool unwind;                    /* the user's by tables (unwind/unwinder.h) */
	bool unwinds_all;               /* by those of all processes there are, before it begins */
	bool at_tracepoints;            /* stacks end there: see is_tracers_own() */
	bool callee_first;              /* what trees and pictures begin with */
	bool lines, inlined;            /* see struct stack_names */
	struct stack_choice choice;
	char left_out_by[256];
	const char *const *event; /* names by number, where keys have one; NULL: they do not */
	struct stack_store store;
	struct stack_names names;
	struct ring_buffer *processes;  /* that have their first stack taken */
	struct told told;               /* what processes map */
	struct bpf_link *mappings;      /* the program stack_on_mapping */
	u64 unnoticed_before;           /* of told, as of the last report */
	u64 mixed, unknown;             /* events of the report that is made */
	bool counts_doubts;             /* they are counted */
	u64 read_ns;                    /* when the counts were read last; 0: never */
	struct unwinder unwinder;
	int watch_fd;                   /* epoll of both */
	int losses_fd;
	struct loss_counters losses_before;
	struct known_stack *known;
	size_t nknown, known_room;
	struct table by_stack;
	char *note;                     /* of the report that was made last */
};

/*
 * Checks --max-depth against the kernel's limit and says what is wrong with it: -EINVAL. depth 0:
 * as deep as usual, or as the kernel goes if that is less.
 */
int stacks__set_depth(struct stacks *s, u64 depth);

/* counts: the map's name, constant, or NULL: there is none, nor reports. The depth has been set; max_keys 0: the default. */
int stacks__prepare(struct stacks *s, const struct measurement *m, struct bpf_object *obj,
		    const char *counts, u32 max_keys);
int stacks__begin(struct stacks *s, struct measurement *m);

/* For an object whose programs take no stacks this time: without what only stacks need. */
int stacks__leave_out(const struct bpf_object *obj);

/* To be called from m->watch: takes down the mappings of processes that are new. */
int stacks__watch(struct stacks *s);

/*
 * Fills in events, counters and stacks: symbolic ones, equal ones merged, the largest first, no
 * more than top (0: all). The caller fills in value, source and what the values are. Frames live as
 * long as s, and the report is to be used before the next one is made.
 */
int stacks__report(struct stacks *s, const struct measurement *m, struct report *r, size_t top);

/*
 * What has been counted since the last call, in s->store. What belongs to programs that had ended then leaves the
 * kernel's maps and s; and in turns what has not grown any more (stack/store.h).
 */
int stacks__read(struct stacks *s);

/* The last of that for those who count by other keys, and set s->read_ns when they read. */
void stacks__forget_ended(struct stacks *s);

/*
 * Two parts of it, for those who put stacks together by themselves. The first fills in counters.
 * The second adds value to the stack of that path and key, which is made if there is none, or to
 * what is left out; by_path is empty at first and finds them again.
 */
int stacks__read_losses(struct stacks *s, struct report *r);
int stacks__add_path(struct stacks *s, struct report *r, struct table *by_path, u32 key, u64 value,
		     const struct stack_path *path);

/*
 * Adds to the note of a report what is missing in its stacks, and what to do: much of them by broken chains
 * of frame pointers; with frames of lines, or inlined, files that say nothing of that. To be called when
 * all stacks of the report are in it. Returns 0 or -ENOMEM.
 */
int stacks__add_notes(struct stacks *s, struct report *r);

/* What the rows of stacks__tabulate() are by, beside the key. */
enum leaf_part {
	LEAF_DSO = 1 << 0,
	LEAF_SYM = 1 << 1,
	LEAF_LINE = 1 << 2,     /* with LEAF_SYM: and the source line */
};

/* Makes rows of a report's stacks, by key and the innermost frames, the largest first. */
int stacks__tabulate(struct report *r, u32 leaf, size_t top);

void stacks__free(struct stacks *s);

#endif /* TALLY_STACK_STACKS_H */
