/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of /proc/PID/mountinfo, proc(5). Reading that file asks no server of a file system. */
#ifndef TALLY_BASE_MOUNT_LINE_H
#define TALLY_BASE_MOUNT_LINE_H

#include "base/types.h"

/* The texts are parts of the line. */
struct mount_line {
	u32 id;
	u32 major, minor; /* of the file system */
	const char *root; /* the directory of the file system that is mounted */
	char *point;
	const char *type, *source;
	char *options; /* of the file system: "rw,errors=continue" */
};

/* Changes the line, and undoes the escapes of names. Returns false if the line has another form. */
bool mount_line__parse(struct mount_line *m, char *line);

#endif /* TALLY_BASE_MOUNT_LINE_H */
