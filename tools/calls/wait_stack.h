/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a thread sleeps until a file server answers, by the functions of the kernel on its stack. fcntl(2) and
 * flock(2) on such files look the same: the caller excludes them by the call.
 */
#ifndef TALLY_CALLS_WAIT_STACK_H
#define TALLY_CALLS_WAIT_STACK_H

#include "base/types.h"

enum wait_frame {
	FRAME_OTHER,
	FRAME_FUSE,	 /* code of FUSE for those that use its files */
	FRAME_FUSE_WAIT, /* waits for the answer of a daemon */
	FRAME_NFS,
	FRAME_NFS_WAIT,
	FRAME_PAGE, /* waits for a page of a file */
};

enum wait_stack {
	STACK_OTHER,
	STACK_FUSE,
	STACK_NFS,
	STACK_PAGE, /* for a page of any file system: generic functions may have replaced those of the file system */
};

/* name: of a kernel function, or NULL. */
enum wait_frame wait_frame_of(const char *name);

/* frame: innermost first. */
enum wait_stack wait_stack_of(const enum wait_frame *frame, size_t n);

#endif /* TALLY_CALLS_WAIT_STACK_H */
