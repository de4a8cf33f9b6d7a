/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool snap: the pass over all threads (pass.c), a thread as text (thread.c), and the table of them
 * (rows.c).
 *
 * Functions of type int return 0 or a negative errno.
 */
#ifndef TALLY_SNAP_SNAP_H
#define TALLY_SNAP_SNAP_H

#include "base/table.h"
#include "calls/syscall/calls.h"
#include "cli/task_key.h"
#include "run/measurement.h"
#include "sym/symbols.h"

#include "bpf/calls/snap.h"

/* --by: keys of the tool's own. */
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
	s64 clock_ahead;        /* bpf/calls/snap.bpf.c */
};

/* The descriptors of all calls, for the programs: rodata->descriptors. */
void snap_pass__describe(u8 descriptors[TRACE_SLOTS][TRACE_FDS], struct call_signatures *signatures);

/* link: of the program; clock_ahead: the program's variable. */
int snap_pass__run(struct snap_pass *p, int link_fd, volatile s64 *clock_ahead);

/* The record at *at, 0 for the first, and advances *at. NULL: there are no more. */
const struct snap_thread *snap_pass__next(const struct snap_pass *p, size_t *at);

/* How long it has been in its state. False: unknown. */
bool snap_pass__time(const struct snap_pass *p, const struct snap_thread *t, u64 *ns);
void snap_pass__free(struct snap_pass *p);

/* --- thread.c --------------------------------------------------------------------------------- */

struct snap_names {
	struct call_signatures signatures;
	struct symbols *symbols;
};

/* The part of a thread, allocated; NULL in *text: there is none. Returns 0 or -ENOMEM. */
int snap_names__part(struct snap_names *names, const struct snap_thread *t, enum snap_part part, char **text);

/* The arguments of the call, likewise. */
int snap_names__arguments(struct snap_names *names, const struct snap_thread *t, char **text);

/* Threads that need attention come first: the smaller, the more. */
u32 snap_thread__rank(const struct snap_thread *t, u64 ns);

/* --- rows.c ----------------------------------------------------------------------------------- */

struct snap {
	/* Options. */
	bool each;
	const char *order;      /* a column; NULL: by key */
	/* The rest is set by the hooks. */
	struct snap_bpf *bpf;
	struct bpf_link *link;
	struct snap_names names;
	struct snap_pass pass;
};

/* The default of --sort: what needs attention, then the most threads. */
#define SNAP_ORDER_USUAL "odd"

int snap_rows__report(struct snap *s, struct measurement *m, struct report *r);

#endif /* TALLY_SNAP_SNAP_H */
