/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/files/file.bpf.h: which system calls are about files, and the options that all
 * tools about files have.
 */
#ifndef TALLY_FILES_CALLS_H
#define TALLY_FILES_CALLS_H

#include <argp.h>
#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"

#include "bpf/lib/file.h"
#include "bpf/lib/syscalls.h"

/* What reports say of all of it. */
extern const char file_calls_source[], file_calls_caveat[];

/* "read", "write", "open", "fsync", "readdir"; by enum file_op. */
extern const char *const file_op_names[FILE_OPS];

struct file_options {
	u32 ops;                /* 1 << enum file_op, ORed */
	const char *fs;         /* a file system type; NULL: any */
	bool has_mount;         /* only on the mount of that id */
	u32 mount;
	bool all_kinds;         /* also what is neither a regular file nor a directory */
};

/* Of a tool's own options: those of files. */
enum {
	KEY_FILE_FS = 0x1100,
	KEY_FILE_MOUNT,
	KEY_FILE_OPS,
	KEY_FILE_ALL_KINDS,
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

/*
 * One of the keys above; ARGP_ERR_UNKNOWN for others. Says what is wrong and returns EINVAL.
 */
error_t file_options__parse(struct file_options *o, int key, char *arg);

/*
 * On the opened object: marks is its constant calls (bpf/lib/call.bpf.h), and *have_task_storage is for
 * the one of that name. The other constants are set by FILE_OPTIONS_SET. 0 or a negative errno.
 */
int file_calls__prepare(struct bpf_object *obj, const struct host *host,
			const struct file_options *o);

/* The constants of file.bpf.h that say the same as the options. */
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
