/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool snap: the pass over all threads (pass.c), a thread as text (thread.c), threads by key
 * (groups.c), and the table (rows.c) or the stacks (stacks.c, user_stacks.c) of them.
 *
 * Functions of type int return 0 or a negative errno.
 */
#ifndef TALLY_SNAP_SNAP_H
#define TALLY_SNAP_SNAP_H

#include "base/table.h"
#include "calls/syscall/calls.h"
#include "cli/key_view.h"
#include "run/measurement.h"
#include "stack/options.h"
#include "stack/stacks.h"
#include "sym/kernel_variables.h"
#include "sym/symbols.h"

#include "bpf/calls/snap.h"

/* Keys for --by that only this tool has. */
enum snap_part {
	SNAP_BY_STATE,
	SNAP_BY_CALL,
	SNAP_BY_OBJECT,
	SNAP_BY_WCHAN,
	SNAP_PARTS,
};

extern const char *const snap_part_names[SNAP_PARTS];

/* --- pass.c ----------------------------------------------------------------------------------- */

/* The records of a pass, as read. All zeros at first. */
struct snap_pass {
	char *data;
	size_t size, room;
	u64 took_ns;
	s64 clock_ahead;        /* bpf/calls/snap.bpf.c */
};

/* The descriptors of all calls, for the programs: rodata->descriptors. */
void snap_pass__describe(u8 descriptors[TRACE_SLOTS][TRACE_FDS], struct call_signatures *signatures);

/* link: the program's link. clock_ahead: the program's variable. */
int snap_pass__run(struct snap_pass *p, int link_fd, volatile s64 *clock_ahead);

/* Returns the record at *at (0 for the first) and advances *at, or returns NULL after the last. */
const struct snap_thread *snap_pass__next(const struct snap_pass *p, size_t *at);

/* How long the thread has been in its state. Returns false if this is unknown. */
bool snap_pass__time(const struct snap_pass *p, const struct snap_thread *t, u64 *ns);
void snap_pass__free(struct snap_pass *p);

/* --- thread.c --------------------------------------------------------------------------------- */

struct snap_names {
	struct call_signatures signatures;
	struct symbols *symbols;
};

/* Sets *text to this part of a thread, allocated, or to NULL if the thread has none. Returns 0 or -ENOMEM. */
int snap_names__part(struct snap_names *names, const struct snap_thread *t, enum snap_part part, char **text);

/* The same for the arguments of the call. */
int snap_names__arguments(struct snap_names *names, const struct snap_thread *t, char **text);

/* Converts a thread's call to the record that is decoded, without the targets of pointers. Returns its size. */
size_t snap_thread__record(struct trace_record *r, const struct snap_thread *t);
bool snap_thread__is_call(const struct snap_thread *t, const char *name);

/* The rank in the order of attention that threads need: the smallest comes first. */
u32 snap_thread__rank(const struct snap_thread *t, u64 ns);

/* --- the tool --------------------------------------------------------------------------------- */

struct snap {
	/* Options. */
	bool each, with_stacks, with_waits;
	/* Show only these waits; with several, each of them. Descriptors are read only where a file lock needs it. */
	bool deadlocks; /* cycles */
	bool servers;   /* waits for file servers */
	bool locks;     /* waits for locks of the kernel */
	const char *order;      /* a column; NULL: by key */
	struct stack_options options;
	/* The rest is set by the hooks. */
	struct snap_bpf *bpf;
	struct bpf_program *socket_visitor; /* show_socket, loaded for --waits */
	struct bpf_link *link;
	struct snap_names names;
	struct kernel_variables variables; /* of locks of the kernel, with --waits */
	struct snap_pass pass;
	struct stacks stacks;   /* which stacks are taken, names and the unwinder */
	struct snap_user_stacks *user_stacks;   /* NULL if no stacks are wanted */
	char without[320];      /* the caveat: threads without a stack, or what is known of waits */
};

/* The default of --sort: unusual groups first, then the largest. */
#define SNAP_ORDER_USUAL "odd"

/* --- groups.c --------------------------------------------------------------------------------- */

/* Parts that were not requested are zero. text: 1 + index of a text, or 0 for none. */
struct snap_group_key {
	struct task_key task;
	u32 text[SNAP_PARTS];
};

struct snap_group {
	struct snap_group_key key;
	u64 threads;
	u32 rank;
	bool has_time;          /* for at least one thread, the time of its last state change is known */
	u64 longest_ns, doubt_ns;       /* of the thread that has been in this state for the longest time: */
	const struct snap_thread *thread;
};

struct snap_groups {
	struct snap *snap;
	u32 by;
	struct task_key_names names;
	struct key_view view;
	char **text;
	size_t ntexts;
	struct table by_text;
	struct snap_group *group;
	size_t n;
	struct table by_key;
};

/* by: the keys, as in struct cli. */
void snap_groups__begin(struct snap_groups *t, struct snap *s, struct measurement *m, u32 by);

/* Adds a thread of the pass to its group, whose number is *index. Returns 0 or -ENOMEM. */
int snap_groups__add(struct snap_groups *t, const struct snap_thread *thread, u32 *index);

/* Adds the cells of the key. */
int snap_groups__add_key(struct snap_groups *t, const struct snap_group *g, struct report_row *row);
void snap_groups__free(struct snap_groups *t);

/*
 * Add a cell with a text, or none if it is NULL. The first function takes ownership of the text, the second copies it.
 */
int snap_add_cell(struct report_row *row, struct field cell, char *text);
int snap_copy_cell(struct report_row *row, struct field cell, const char *text);

/* --- rows.c, stacks.c ------------------------------------------------------------------------- */

int snap_rows__report(struct snap *s, struct measurement *m, struct report *r);

/* The value of each stack is the number of threads that have it. */
int snap_stacks__report(struct snap *s, struct measurement *m, struct report *r);

#endif /* TALLY_SNAP_SNAP_H */
