/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_DESCRIPTORS_H
#define TALLY_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* So many of what a process may have open (setrlimit(2), RLIMIT_NOFILE) are for what a run opens meanwhile. */
#define DESCRIPTORS_LEFT 32

/*
 * Is this descriptor, which is held for later, one of the last? Then it should be used and closed at
 * once: others want some, too. The kernel gives the lowest that is free.
 */
bool descriptor_is_scarce(int fd);

#endif /* TALLY_BASE_DESCRIPTORS_H */
