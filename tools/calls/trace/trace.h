/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool trace: which calls, as the kernel's side is told; their records as lines
 * (lines.c), or their sums as a table (table.c).
 *
 * All of int return 0 or a negative errno.
 */
#ifndef TALLY_TRACE_TRACE_H
#define TALLY_TRACE_TRACE_H

#include "agg/loss.h"
#include "host/syscall_set.h"
#include "run/lines.h"
#include "run/measurement.h"
#include "sym/symbols.h"
#include "calls/syscall/sums.h"
#include "calls/syscall/table.h"

#include "trace.skel.h"

#define TRACE_SOURCE "tp_btf/sys_enter and sys_exit"

/* The first lines are what the options say; the functions below make the rest. */
struct trace {
	bool summary, failed, has_set, fd_names, faults;
	u64 min_ns, string_max, bytes;
	const char *sort;
	struct syscall_set set;

	struct trace_bpf *bpf;
	const struct signature *signature[TRACE_SLOTS]; /* where known, or guessed */
	int tracefs;                                    /* -1: none */

	struct lines lines;
	struct stream_template fault_line;
	struct symbols *symbols;        /* --faults */

	/* --summary */
	u64 faults_before[2];
	struct loss_counters losses_before;
};

/* --- calls.c ---------------------------------------------------------------------------------- */

#define CALL_NAME_SPACE 64

/*
 * "openat", "openat:32" of a 32-bit call, "syscall_600" where no name is known; in sums, the
 * highest number stands for all above it. Returns text.
 */
const char *trace__call_name(char text[CALL_NAME_SPACE], u32 slot, u32 number);

/* Of a slot below TRACE_SLOTS; never NULL. */
const struct signature *trace__signature(struct trace *t, u32 slot);
void trace__free_signatures(struct trace *t);

/* Tells the loaded programs which calls are wanted and what to read of them. */
int trace__describe_calls(struct trace *t);

/* --- lines.c ---------------------------------------------------------------------------------- */

/* After the options were parsed: the templates. Says what is wrong with that of the user. */
int trace_lines__init(struct trace *t, struct cli *cli);

/* Between load and attach. */
int trace_lines__begin(struct trace *t, struct measurement *m);

/* The hook report(); m->own is the struct trace. */
int trace_lines__report(struct measurement *m, struct report *r);
void trace_lines__free(struct trace *t);

/* --- table.c ---------------------------------------------------------------------------------- */

/* The column of --sort of that name, "call" (NULL), or -EINVAL after saying which there are. */
int trace_table__sort_column(const char *name, const char **column);

/* The hook report(). */
int trace_table__report(struct measurement *m, struct report *r);

#endif /* TALLY_TRACE_TRACE_H */
