/* SPDX-License-Identifier: BSD-2-Clause */
/* SIGCHLD as this process was given it. */
#ifndef TALLY_BASE_CHILD_SIGNAL_H
#define TALLY_BASE_CHILD_SIGNAL_H

#include "base/types.h"

/*
 * Call before any child. A caller that ignores SIGCHLD passes that on through execve(2), and the kernel then reaps
 * children before waitpid(2) sees how they ended (wait(2), NOTES): sets the default.
 */
void child_signal__take(void);

/* Gives a child that will run a program of others what this process was given. */
void child_signal__give_back(void);

#endif /* TALLY_BASE_CHILD_SIGNAL_H */
