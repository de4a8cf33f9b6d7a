/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files of unknown size, and pipes. Small ones: base/small_file.h. */
#ifndef TALLY_BASE_WHOLE_FILE_H
#define TALLY_BASE_WHOLE_FILE_H

#include <stddef.h>

#include "base/types.h"

/*
 * Reads fd to its end, and adds a NUL. fd and *text are owned by the caller. *size (size may be NULL) excludes the NUL.
 * Returns 0; -EFBIG if the file has more than most bytes; -ENOMEM; or an error of read(2). On failure *text is NULL.
 */
int whole_file__read(int fd, size_t most, char **text, size_t *size) MUST_CHECK;

#endif /* TALLY_BASE_WHOLE_FILE_H */
