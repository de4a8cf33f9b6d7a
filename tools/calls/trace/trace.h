/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the tool trace: descriptions of the calls for the programs (calls.c), records as
 * lines (lines.c), the filter by path (paths.c), and sums as a table (table.c).
 *
 * Functions of type int return 0 or a negative errno.
 */
#ifndef TALLY_TRACE_TRACE_H
#define TALLY_TRACE_TRACE_H

#include "agg/loss.h"
#include "host/syscall_set.h"
#include "run/lines.h"
#include "run/measurement.h"
#include "stack/callers.h"
#include "sym/symbols.h"
#include "calls/syscall/calls.h"
#include "calls/syscall/constants.h"
#include "calls/syscall/sums.h"
#include "calls/syscall/table.h"

#include "trace.skel.h"

#define TRACE_SOURCE "tp_btf/sys_enter and sys_exit"

/* -P: each path as typed, and with symbolic links resolved. */
struct trace_paths {
	char **path;
	size_t n;
};

/* The options set the first members; the functions below set the rest. */
struct trace {
	bool summary, failed, succeeded, has_set, fd_names, faults, since, epoch, ip, has_columns, detach;
	u32 columns;                    /* columns of --summary, as bits by their index in the table of table.c */
	enum constant_style constants;
	u64 min_ns, overhead_ns, string_max, bytes;
	const char *sort;
	struct syscall_set set;
	struct trace_paths paths;

	struct trace_bpf *bpf;
	struct call_signatures signatures;

	struct callers callers;         /* -g */
	struct lines lines;
	struct stream_template fault_line;
	char line[128], fault[64];      /* the default templates */
	const char *field[8];           /* names of the fields of lines */
	size_t nfields;
	u64 last_start_ns;              /* the latest start of a call shown so far */
	struct symbols *symbols;        /* for --faults and --ip */

	/* for --summary */
	u64 faults_before[2];
	struct loss_counters losses_before;
};

/* --- calls.c ---------------------------------------------------------------------------------- */

/* Passes to the loaded programs which calls are traced, and what to read of each. */
int trace__describe_calls(struct trace *t);

/* --- lines.c ---------------------------------------------------------------------------------- */

/* Parses the templates, after the options. Reports errors in the user's template. */
int trace_lines__init(struct trace *t, struct cli *cli);

/* To be called between load and attach. */
int trace_lines__begin(struct trace *t, struct measurement *m);

/* The hook report(); m->own is the struct trace. */
int trace_lines__report(struct measurement *m, struct report *r);
void trace_lines__free(struct trace *t);

/* --- paths.c ---------------------------------------------------------------------------------- */

/* Returns 0 or -ENOMEM. */
int trace_paths__add(struct trace_paths *p, const char *path);

/*
 * Whether the call has one of the paths as an argument, or passes or returns a descriptor of a path's file. size: size
 * of the record as received.
 */
bool trace_paths__touches(const struct trace_paths *p, const struct signature *s,
			  const struct trace_record *r, size_t size);
void trace_paths__free(struct trace_paths *p);

/* --- table.c ---------------------------------------------------------------------------------- */

/* Finds the column of --sort; NULL stands for "call". Returns -EINVAL after listing the valid names. */
int trace_table__sort_column(const char *name, const char **column);

/* Adds columns, separated by commas, to those shown. Returns -EINVAL after listing the valid names. */
int trace_table__add_columns(struct trace *t, const char *names);
void trace_table__complete_column(struct completion *c);

/* The hook report(). */
int trace_table__report(struct measurement *m, struct report *r);

#endif /* TALLY_TRACE_TRACE_H */
