/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of open(2) flags. */
#ifndef TALLY_HOST_OPEN_FLAGS_H
#define TALLY_HOST_OPEN_FLAGS_H

#include "base/types.h"

#define OPEN_FLAGS_SPACE 320

/*
 * Formats "O_WRONLY|O_CREAT|O_CLOEXEC", followed by a hex number for unknown bits. Returns text,
 * which has room for OPEN_FLAGS_SPACE.
 */
char *open_flags(char text[OPEN_FLAGS_SPACE], u64 flags);

/* Whether the flags may create a file, so that the mode applies. */
bool open_flags_create(u64 flags);

#endif /* TALLY_HOST_OPEN_FLAGS_H */
