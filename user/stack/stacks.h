/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a report of events counted by stack from the BPF maps. The object includes bpf/lib/stack.bpf.h and loss.bpf.h,
 * and has a hash map from struct stack_key to struct stack_count.
 *
 *   stacks__prepare()    between open and load, with the object's constants
 *   stacks__begin()      between load and attach: sets m->watch
 *   stacks__report()     from report(): counts since the last call
 *   stacks__free()
 *
 * Functions return 0 or a negative errno.
 */
#ifndef TALLY_STACK_STACKS_H
#define TALLY_STACK_STACKS_H

#include "agg/loss.h"
#include "base/arch.h"
#include "run/measurement.h"
#include "stack/broken.h"
#include "stack/choice.h"
#include "stack/generated.h"
#include "stack/names.h"
#include "stack/store.h"
#include "stack/told.h"
#include "unwind/unwinder.h"

/* Resolved once and kept for later reports. */
struct known_stack {
	const struct stack *stack;
	struct stack_path path;
};

struct stacks {
	const struct bpf_object *obj;
	const char *counts;             /* the map's name */
	u32 depth;
	u64 seed;
	bool kernel, user;              /* the parts to take */
	bool unwind;                    /* walk user stacks by tables (unwind/unwinder.h) */
	bool hides_callers;             /* the report has only innermost frames */
	bool unwinds_all;               /* load the tables of all existing processes before the run */
	bool python;                    /* replace the interpreter's frames by Python frames */
	bool at_tracepoints;            /* stacks end at tracepoints: see is_tracers_own() */
	bool callee_first;              /* trees and pictures start with the callee */
	bool lines, inlined;            /* see struct stack_names */
	struct stack_choice choice;
	char left_out_by[256];
	const char *const *event; /* names by event number, if keys have one; else NULL */
	struct report_event *events;    /* nevents of them, if these have values of different kinds; borrowed */
	size_t nevents;
	struct stack_store store;
	struct stack_names names;
	struct ring_buffer *processes;  /* processes whose first stack was taken */
	struct told told;               /* mappings of processes, from records */
	struct bpf_link *mappings;      /* the program stack_on_mapping */
	u64 unnoticed_before;           /* told.unnoticed at the last report */
	u64 kernel_changes;             /* symbols__kernel_changes() at the last report */
	u64 mixed, unknown, lacks_python;       /* events in the current report */
	struct broken broken;           /* in the current report */
	bool counts_doubts;             /* stacks__count_doubts() updates these */
	struct generated generated;     /* in the current report */
	u64 read_ns;                    /* time of the last read; 0: never */
	struct unwinder unwinder;
	struct python interpreters;
	int watch_fd;                   /* epoll of processes and told */
	int losses_fd;
	struct loss_counters losses_before;
	struct known_stack *known;
	size_t nknown;
	struct table by_stack;
	char *note;                     /* of the last report */
};

/*
 * Checks --max-depth against the kernel's limit. Returns -EINVAL after reporting the error. depth
 * 0: the default, or the kernel's limit if that is lower.
 */
int stacks__set_depth(struct stacks *s, u64 depth);

/*
 * counts: the map's name, a constant, or NULL: no such map and no reports. Set the depth before;
 * max_keys 0: default.
 */
int stacks__prepare(struct stacks *s, const struct measurement *m, struct bpf_object *obj,
		    const char *counts, u32 max_keys);
int stacks__begin(struct stacks *s, struct measurement *m);

/*
 * Replaces stacks__prepare() and stacks__begin() for a tool that walks stacks itself: sets how frames are named, from
 * the options. Sets s->unwinder for the names only: see unwinder__begin().
 */
int stacks__begin_names(struct stacks *s);

/* For an object whose programs take no stacks in this run: omits the parts needed only for stacks. */
int stacks__leave_out(const struct bpf_object *obj);

/* Called from m->watch: records the mappings of new processes. */
int stacks__watch(struct stacks *s);

/*
 * Fills in events, counters and stacks. Stacks are resolved, merged and sorted, largest first, at most top (0: all).
 * The caller fills in value, source and the description of the values. Frames live as long as s; use the report before
 * making the next one.
 */
int stacks__report(struct stacks *s, const struct measurement *m, struct report *r, size_t top);

/*
 * Reads the counts since the last call into s->store. Removes from the kernel's maps and from s all data of programs
 * that had ended by the last call and, in turns (stack/store.h), all data that no longer grows.
 */
int stacks__read(struct stacks *s);

/* The last step of stacks__read(), for callers that count by other keys; set s->read_ns when reading. */
void stacks__forget_ended(struct stacks *s);

/*
 * Two parts of stacks__report(), for callers that build stacks themselves. The first fills in counters. The second adds
 * value to the stack with that path and key, creating it if needed, or to the omitted stacks; by_path is the index of
 * stacks, initially empty. event: 0, or its index in r->stacks->event, as the key says.
 */
int stacks__read_losses(struct stacks *s, struct report *r);
int stacks__add_path(struct stacks *s, struct report *r, struct table *by_path, u32 key, u32 event, u64 value,
		     const struct stack_path *path);

/*
 * A third part, for the notes on the report. The first function resets the counts of defects; the second counts the
 * defects of a stack.
 */
void stacks__forget_doubts(struct stacks *s);
void stacks__count_doubts(struct stacks *s, const struct stack_path *path, u64 count);

/*
 * Adds notes on defects of the report's stacks, with advice: many broken frame-pointer chains; with
 * source lines or inlined frames, files without that information. Call when the report has all its
 * stacks. Returns 0 or -ENOMEM.
 */
int stacks__add_notes(struct stacks *s, struct report *r);

/* The keys of stacks__tabulate() rows, in addition to the report's. */
enum leaf_part {
	LEAF_DSO = 1 << 0,
	LEAF_SYM = 1 << 1,
	LEAF_LINE = 1 << 2,     /* with LEAF_SYM: also the source line */
};

/*
 * Makes rows from a report's stacks, by key and innermost frame, largest first. With several events, each row belongs
 * to one event, named by its first key. With side_by_side, for text output, a row has a column of shares for each
 * event.
 */
int stacks__tabulate(struct report *r, u32 leaf, size_t top, bool side_by_side);

void stacks__free(struct stacks *s);

#endif /* TALLY_STACK_STACKS_H */
