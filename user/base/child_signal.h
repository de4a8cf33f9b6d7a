/* SPDX-License-Identifier: BSD-2-Clause */
/* The disposition of SIGCHLD that this process inherited. */
#ifndef TALLY_BASE_CHILD_SIGNAL_H
#define TALLY_BASE_CHILD_SIGNAL_H

#include "base/types.h"

/*
 * Sets the default disposition. Must be called before any child starts: if our parent ignores SIGCHLD, we inherit this
 * through execve(2), and the kernel reaps children before waitpid(2) can return their status (wait(2), NOTES).
 */
void child_signal__take(void);

/* Restores the inherited disposition in a child that will run another program. */
void child_signal__give_back(void);

#endif /* TALLY_BASE_CHILD_SIGNAL_H */
