/* SPDX-License-Identifier: BSD-2-Clause */
/* The disposition of SIGCHLD that this process inherited. */
#ifndef TALLY_BASE_CHILD_SIGNAL_H
#define TALLY_BASE_CHILD_SIGNAL_H

#include "base/types.h"

/*
 * Sets the default disposition. Call before any child starts: a caller that ignores SIGCHLD passes this on through
 * execve(2), and the kernel then reaps children before waitpid(2) sees how they ended (wait(2), NOTES).
 */
void child_signal__take(void);

/* Restores the inherited disposition in a child that will run another program. */
void child_signal__give_back(void);

#endif /* TALLY_BASE_CHILD_SIGNAL_H */
