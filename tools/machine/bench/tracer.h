/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command whose cost is measured. It is started before a round, and ended afterwards by SIGINT
 * to its whole process group, as from a terminal. Its output goes to a file or is discarded.
 */
#ifndef TALLY_BENCH_TRACER_H
#define TALLY_BENCH_TRACER_H

#include "machine/bench/child.h"

struct tracer {
	char **argv;            /* as typed */
	bool ours;              /* the command is tally itself, which can report when it is ready */
	u64 settle_ns;          /* how long other programs get to become ready */
	int output;             /* a descriptor for its output, or -1 */
	const struct child_signals *signals;

	struct child child;
	int messages;           /* its stderr, shown if it fails */
	char **own_argv;        /* for tally itself: argv with --ready-fd and its number */
	char number[16];
};

/*
 * Finds out whether the command is tally itself, under any name. is_tool: whether a name is that of
 * a tool. The caller must call tracer__free() in either case. Returns 0 or -ENOMEM.
 */
int tracer__prepare(struct tracer *t, bool (*is_tool)(const char *name));
void tracer__free(struct tracer *t);

/*
 * Starts the command and returns when it is ready: 0, or a negative errno after reporting the
 * error, -EINTR after a signal. After an error, no process is left.
 */
int tracer__start(struct tracer *t);

/*
 * Ends the command. Returns 0, or a negative errno after reporting that the command had ended
 * before, did not end within some seconds, or failed. No process is left in either case.
 */
int tracer__stop(struct tracer *t);

#endif /* TALLY_BENCH_TRACER_H */
