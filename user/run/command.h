/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command behind "--": started as the user who called sudo, if any, and held back until
 * measuring has begun, so that nothing it does is missed.
 */
#ifndef TALLY_RUN_COMMAND_H
#define TALLY_RUN_COMMAND_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/types.h"

/* What the process came with, and its commands are given. */
struct command_setting {
	sigset_t signals;       /* the mask */
	struct rlimit files;    /* RLIMIT_NOFILE; all zeros: it could not be read, nor changed */
};

struct command {
	pid_t pid;              /* 0: none */
	int pidfd;              /* readable when it has ended */
	int go_fd;              /* closing it without a byte makes the child give up */
	int error_fd;           /* brings the errno of a failed exec */
	const char *name;
	struct rusage before;   /* what its process had used when it was executed */
};

/*
 * Forks; the child waits. Returns 0 or a negative errno. command__release() in any case.
 */
int command__start(struct command *c, char **argv, const struct command_setting *setting);

/*
 * Lets it run. Says so and returns a negative errno if it cannot be executed, or was killed before
 * it could be (-ECHILD).
 */
int command__go(struct command *c);

bool command__has_ended(const struct command *c);

/*
 * Waits for its end. *usage is that of the command and of all children it has waited for
 * (getrusage(2)), its times from the execve(2) on; *status as of waitpid(2). It is still there for command__release(). Returns 0 or
 * a negative errno.
 */
int command__wait(const struct command *c, struct rusage *usage, int *status);

/*
 * Runs a shell command line to its end, as the user who called sudo, if any. Says what is wrong,
 * an exit status other than 0 too. Returns 0 or a negative errno.
 */
int command__shell(const char *line, const struct command_setting *setting);

/* Ends what still runs (SIGTERM), reaps what has ended, closes everything. */
void command__release(struct command *c);

#endif /* TALLY_RUN_COMMAND_H */
