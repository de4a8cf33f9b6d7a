/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command whose cost is measured: started before a round, ended afterwards with SIGINT for its
 * whole process group, as from a terminal. Its output goes to a file or nowhere.
 */
#ifndef TALLY_BENCH_TRACER_H
#define TALLY_BENCH_TRACER_H

#include "machine/bench/child.h"

struct tracer {
	char **argv;            /* as typed */
	bool ours;              /* it is this very program, which can report when it is ready */
	u64 settle_ns;          /* other programs get this much time */
	int output;             /* a descriptor for its output; -1: none */
	const struct child_signals *signals;

	struct child child;
	int messages;           /* its stderr, shown if it fails */
	char **own_argv;        /* for our own: argv with --ready-fd and number */
	char number[16];
};

/*
 * Tells whether the command is this program, under any name. is_tool: whether a name is one of our
 * tools. Call tracer__free() in either case. Returns 0 or -ENOMEM.
 */
int tracer__prepare(struct tracer *t, bool (*is_tool)(const char *name));
void tracer__free(struct tracer *t);

/*
 * Starts the command and returns when it is ready: 0, or a negative errno after reporting the
 * error, -EINTR after a signal. On errors no process is left.
 */
int tracer__start(struct tracer *t);

/*
 * Ends the command. Returns 0, or a negative errno after reporting that it had ended before, did
 * not end within some seconds, or failed. No process is left in either case.
 */
int tracer__stop(struct tracer *t);

#endif /* TALLY_BENCH_TRACER_H */
