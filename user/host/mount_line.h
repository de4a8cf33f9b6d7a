/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of /proc/PID/mountinfo, proc(5). Reading that file asks no server of a file system. */
#ifndef TALLY_HOST_MOUNT_LINE_H
#define TALLY_HOST_MOUNT_LINE_H

#include "base/types.h"

/* The texts are parts of the line. */
struct mount_line {
	u32 id;
	u32 major, minor; /* of the file system */
	const char *point, *type, *source;
};

/* Changes the line. Returns false if it has another form. */
bool mount_line__parse(struct mount_line *m, char *line);

#endif /* TALLY_HOST_MOUNT_LINE_H */
