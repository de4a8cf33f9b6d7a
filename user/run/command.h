/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command after "--". It runs as the user who called sudo, if any. The child waits to exec until
 * measuring begins, so no event of the command is missed.
 */
#ifndef TALLY_RUN_COMMAND_H
#define TALLY_RUN_COMMAND_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/types.h"

/* The signal mask and limits this process started with, and changes of the environment: for its commands. */
struct command_setting {
	sigset_t signals;       /* signal mask */
	struct rlimit files;    /* RLIMIT_NOFILE; all zeros if reading it failed: it was not changed then */
	char **env;             /* NAME=VALUE to set, NAME to remove */
	size_t nenv;
};

struct command {
	pid_t pid;              /* 0: none */
	int pidfd;              /* readable once the process has ended */
	int go_fd;              /* closing it without writing a byte makes the child give up */
	int error_fd;           /* receives the errno of a failed exec */
	const char *name;
	struct rusage before;   /* usage of the process just before execve(2) */
	int exec_err;           /* negative errno of a failed execve(2) or of a step before it; 0 if none */
	bool has_begun;         /* execve(2) succeeded */
	bool has_ended;         /* it ended after that, before command__release() */
	int status;             /* as in waitpid(2); valid if has_ended */
};

/*
 * Forks. The child switches to the user who called sudo, and waits. Returns 0 or a negative errno. The caller must
 * call command__release() in either case.
 */
int command__start(struct command *c, char **argv, const struct command_setting *setting);

/*
 * Lets the child exec the command. Reports an error and returns a negative errno if the exec fails,
 * or if the child was killed before it (-ECHILD).
 */
int command__go(struct command *c);

bool command__has_ended(const struct command *c);

/*
 * Waits for the command to end. *usage covers the command and all children it has waited for
 * (getrusage(2)), with times counted from the execve(2); *status is as in waitpid(2). The zombie is
 * left for command__release() to reap. Returns 0 or a negative errno.
 */
int command__wait(const struct command *c, struct rusage *usage, int *status);

/*
 * Runs a shell command line to its end, as the user who called sudo, if any. Reports errors,
 * including a nonzero exit status. Returns 0 or a negative errno.
 */
int command__shell(const char *line, const struct command_setting *setting);

/*
 * Sends SIGTERM to a command that still runs, or reaps one that has ended and keeps its status. Closes all
 * descriptors.
 */
void command__release(struct command *c);

/* The status as bash(1) reports it: the exit status, or 128 plus the signal number. status: as in waitpid(2). */
int command__shell_status(int status);

#endif /* TALLY_RUN_COMMAND_H */
