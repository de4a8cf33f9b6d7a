/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_DESCRIPTORS_H
#define TALLY_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Number of descriptors below RLIMIT_NOFILE (setrlimit(2)) that are reserved for short-lived use during a run. */
#define DESCRIPTORS_LEFT 32

/*
 * Whether fd, which the caller wants to keep, is one of the reserved descriptors. If so, the caller must use and close
 * it at once. Works because the kernel returns the lowest free descriptor.
 */
bool descriptor_is_scarce(int fd);

#endif /* TALLY_BASE_DESCRIPTORS_H */
