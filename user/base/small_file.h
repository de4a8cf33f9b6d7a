/* SPDX-License-Identifier: BSD-2-Clause */
/* Small kernel files: in /proc, /sys and cgroups. */
#ifndef TALLY_BASE_SMALL_FILE_H
#define TALLY_BASE_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads as much as fits, and adds a NUL. dir: as in openat(2). Returns false if the file is missing or empty.
 */
bool small_file__read(int dir, const char *path, char *text, size_t room);

#endif /* TALLY_BASE_SMALL_FILE_H */
