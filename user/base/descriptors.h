/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_BASE_DESCRIPTORS_H
#define TALLY_BASE_DESCRIPTORS_H

#include <stdbool.h>

/*
 * Descriptors below RLIMIT_NOFILE (setrlimit(2)) that are reserved for what a run opens meanwhile.
 */
#define DESCRIPTORS_LEFT 32

/*
 * Whether fd, which the caller wants to keep, is among the reserved ones. If so, use and close it
 * at once. Works because the kernel returns the lowest free descriptor.
 */
bool descriptor_is_scarce(int fd);

#endif /* TALLY_BASE_DESCRIPTORS_H */
