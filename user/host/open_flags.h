/* SPDX-License-Identifier: BSD-2-Clause */
/* The flags of open(2) by name. */
#ifndef TALLY_HOST_OPEN_FLAGS_H
#define TALLY_HOST_OPEN_FLAGS_H

#include "base/types.h"

#define OPEN_FLAGS_SPACE 320

/*
 * "O_WRONLY|O_CREAT|O_CLOEXEC", with what has no name as a hex number behind. Returns text, which
 * has room for OPEN_FLAGS_SPACE.
 */
char *open_flags(char text[OPEN_FLAGS_SPACE], u64 flags);

/* Do they make a file, so that the mode counts? */
bool open_flags_create(u64 flags);

#endif /* TALLY_HOST_OPEN_FLAGS_H */
