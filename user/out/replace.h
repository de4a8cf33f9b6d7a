/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that others read at any time: they see all of the old text or all of the new one. */
#ifndef TALLY_OUT_REPLACE_H
#define TALLY_OUT_REPLACE_H

#include "base/types.h"

/*
 * Writes n bytes to ".NAME.tally" beside path and then gives that its name. Mode 0644 less the
 * umask: whoever collects it is another user. A link, or whatever else is no regular file, stays
 * (-EEXIST). Returns 0 or a negative errno; then path is as it was.
 */
int replace_file(const char *path, const char *text, size_t n);

#endif /* TALLY_OUT_REPLACE_H */
