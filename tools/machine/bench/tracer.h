/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command whose cost is measured: started before a round, ended after it with SIGINT, as from a
 * terminal: its whole process group gets it. Its output goes to a file or nowhere.
 */
#ifndef TALLY_BENCH_TRACER_H
#define TALLY_BENCH_TRACER_H

#include "machine/bench/child.h"

struct tracer {
	char **argv;            /* as typed */
	bool ours;              /* is this very program, so it can say when it is ready */
	u64 settle_ns;          /* the others are given so long */
	int output;             /* a descriptor for what it prints; -1: none */
	const struct child_signals *signals;

	struct child child;
	int messages;           /* what it says on stderr, for when it fails */
	char **own_argv;        /* of ours: with --ready-fd and */
	char number[16];
};

/*
 * Is the command this program, under whichever name? is_tool: whether a name is one of our tools.
 * tracer__free() in any case. Returns 0 or -ENOMEM.
 */
int tracer__prepare(struct tracer *t, bool (*is_tool)(const char *name));
void tracer__free(struct tracer *t);

/*
 * Starts it and returns when it is ready: 0 or a negative errno, -EINTR if a signal came. What is
 * wrong has been said, and nothing of it is left.
 */
int tracer__start(struct tracer *t);

/*
 * Ends it. Returns 0, or a negative errno if it had ended before, did not end within some seconds,
 * or failed, which has been said. Nothing of it is left in any case.
 */
int tracer__stop(struct tracer *t);

#endif /* TALLY_BENCH_TRACER_H */
