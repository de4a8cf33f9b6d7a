/* SPDX-License-Identifier: BSD-2-Clause */
/* The user-space half of bpf/files/file.bpf.h: system calls on files, and the common options of file tools. */
#ifndef TALLY_FILES_CALLS_H
#define TALLY_FILES_CALLS_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "cli/option_row.h"
#include "host/host.h"

#include "bpf/lib/file.h"
#include "bpf/lib/syscalls.h"

/* Source and caveat of reports. */
extern const char file_calls_source[], file_calls_caveat[];
/* Source of reports with --waits. */
extern const char file_waits_source[];

/* "read", "write", "open", "fsync", "readdir"; indexed by enum file_op. */
extern const char *const file_op_names[FILE_OPS];

struct file_options {
	u32 ops;                /* 1 << enum file_op, ORed */
	const char *fs;         /* a file system type; NULL: any */
	bool has_mount;         /* restrict to the mount with this id */
	u32 mount;
	bool all_kinds;         /* include objects other than regular files and directories */
	bool waits;             /* measure waits within calls, by context switches: bpf/files/file_waits.bpf.h */
};

/* --fs, --mount, --all-kinds; --op and --waits: options of a struct file_options. */
extern const struct option_row file_rows[], file_call_rows[];

/*
 * Prepares the opened object: sets its constant calls (bpf/lib/call.bpf.h) and have_task_storage, and selects the
 * programs: the system call programs or, with --waits, on_wait. FILE_OPTIONS_SET sets the other constants. Returns 0 or
 * a negative errno.
 */
int file_calls__prepare(struct bpf_object *obj, const struct host *host,
			const struct file_options *o);

/* Sets the constants of file.bpf.h that correspond to the options. */
#define FILE_OPTIONS_SET(rodata, o)                                                                \
	do {                                                                                       \
		(rodata)->file_ops = (o)->ops;                                                     \
		(rodata)->all_kinds = (o)->all_kinds;                                              \
		(rodata)->has_only_mount = (o)->has_mount;                                         \
		(rodata)->only_mount = (o)->mount;                                                 \
		(rodata)->has_only_fs = (o)->fs;                                                   \
		snprintf((char *)(rodata)->only_fs, FILE_FS_LEN, "%s", (o)->fs ?: "");             \
	} while (0)

#endif /* TALLY_FILES_CALLS_H */
