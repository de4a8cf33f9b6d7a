/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user-space half of bpf/files/file.bpf.h: which system calls are about files, and the options
 * that file tools share.
 */
#ifndef TALLY_FILES_CALLS_H
#define TALLY_FILES_CALLS_H

#include <argp.h>
#include <bpf/libbpf.h>

#include "base/types.h"
#include "cli/complete.h"
#include "host/host.h"

#include "bpf/lib/file.h"
#include "bpf/lib/syscalls.h"

/* Source and caveat of their reports. */
extern const char file_calls_source[], file_calls_caveat[];
/* Source with --waits. */
extern const char file_waits_source[];

/* "read", "write", "open", "fsync", "readdir"; indexed by enum file_op. */
extern const char *const file_op_names[FILE_OPS];

struct file_options {
	u32 ops;                /* 1 << enum file_op, ORed */
	const char *fs;         /* a file system type; NULL: any */
	bool has_mount;         /* restrict to the mount with this id */
	u32 mount;
	bool all_kinds;         /* include objects other than regular files and directories */
	bool waits;             /* waits in calls, by context switches: bpf/files/file_waits.bpf.h */
};

/* Keys of the file options, among a tool's own options. */
enum {
	KEY_FILE_FS = 0x1100,
	KEY_FILE_MOUNT,
	KEY_FILE_OPS,
	KEY_FILE_ALL_KINDS,
	KEY_FILE_WAITS,
};

#define FILE_OPTION_FS                                                                             \
	{ "fs", KEY_FILE_FS, "TYPE", 0, "On file systems of this type only: ext4, xfs, nfs4", 1 }
#define FILE_OPTION_MOUNT                                                                          \
	{ "mount", KEY_FILE_MOUNT, "PATH", 0, "On the mount that PATH is on only", 1 }
#define FILE_OPTION_OPS                                                                            \
	{ "op", KEY_FILE_OPS, "OP,...", 0, "Only these of read, write, open, fsync, readdir", 1 }
#define FILE_OPTION_ALL_KINDS                                                                      \
	{ "all-kinds", KEY_FILE_ALL_KINDS, NULL, 0,                                                \
	  "Pipes, sockets, terminals and devices, too, not only files and directories", 1 }
#define FILE_OPTION_WAITS                                                                          \
	{ "waits", KEY_FILE_WAITS, NULL, 0, "Each wait in a call instead, without a hook at each system call", 0 }

/* Declare the values of --fs and --op below the tool's table (OPTION_VALUES). */
#define FILE_VALUES_FS(table)                                                                      \
	OPTION_VALUES(fs, .options = table, .key = KEY_FILE_FS, .add = file_options__complete_fs)
#define FILE_VALUES_OPS(table)                                                                     \
	OPTION_VALUES(op, .options = table, .key = KEY_FILE_OPS, .word = file_op_names + FILE_NOTHING + 1, \
		      .n = FILE_OPS - FILE_NOTHING - 1, .separators = ",")
void file_options__complete_fs(struct completion *c);

/*
 * Parses an option with one of the keys above; returns ARGP_ERR_UNKNOWN for others, or EINVAL after
 * reporting the error.
 */
error_t file_options__parse(struct file_options *o, int key, char *arg);

/*
 * Prepares the opened object: sets its constant calls (bpf/lib/call.bpf.h) and have_task_storage, and chooses the
 * programs: those at system calls or, with --waits, on_wait.
 * FILE_OPTIONS_SET sets the other constants. Returns 0 or a negative errno.
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
