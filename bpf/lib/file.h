/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls about files and the names of files: what file.bpf.h and user/files/ share. */
#ifndef TALLY_FILE_H
#define TALLY_FILE_H

#include "task_key.h"

/* What is done to a file. */
enum file_op {
	FILE_NOTHING,
	FILE_READ,
	FILE_WRITE,
	FILE_OPEN,
	FILE_SYNC,
	FILE_READDIR,
	FILE_OPS,
};

/* What kind of system call does it: where its arguments are. */
enum file_call {
	FILE_CALL_NONE,
	FILE_CALL_READ,                 /* (fd, ...), at the file's position */
	FILE_CALL_PREAD,                /* (fd, , , offset) */
	FILE_CALL_WRITE,
	FILE_CALL_PWRITE,
	FILE_CALL_SYNC,                 /* (fd, ...) */
	FILE_CALL_READDIR,
	FILE_CALL_OPEN,                 /* (path, ...) */
	FILE_CALL_OPENAT,               /* (directory, path, ...) */
	FILE_CALL_OPEN_HANDLE,          /* without a path */
	FILE_CALL_SENDFILE,             /* (to, from, ...) */
	FILE_CALL_COPY,                 /* (from, , to, ...) */
};

/* One file for as long as it exists, whatever it is called: inode numbers are used again. */
struct file_id {
	__u64 inode;
	__u32 device;           /* dev_t of the kernel: 12 bits major, 20 bits minor number */
	__u32 generation;       /* zero on file systems that have none */
};

/*
 * A mount: what /proc/PID/mountinfo of its namespace has it under. The kernel gives ids out again
 * when mounts have gone: the device tells most of them apart.
 */
struct file_mount {
	__u32 ns;               /* inode number of its mount namespace; 0: it is in none (a pipe) */
	__u32 id;
	__u32 device;           /* as of struct file_id */
};

enum file_name_flag {
	FILE_NAME_CUT = 1,      /* more directories above than were followed */
	FILE_NAME_DELETED = 2,
	FILE_NAME_PLAIN = 4,    /* not in a directory: one name, of "/" or of a pipe, memfd, ... */
	FILE_NAME_TYPED = 8,    /* the file was not opened: the text the call was made with */
	FILE_NAME_UNKNOWN = 16, /* the descriptor was closed, or changed, during the call */
};

#define FILE_NAME_MAX 256       /* NAME_MAX and its end */
#define FILE_PATH_MAX 4096      /* PATH_MAX */
#define FILE_DEPTH 128          /* names, and mount points, that are followed */

/*
 * A path: its names, each with a NUL behind it, the last one first. Only size bytes of it are sent.
 */
struct file_name {
	__u32 flags;            /* enum file_name_flag, ORed */
	__u32 mode;             /* S_IFMT bits */
	__u64 inode;            /* what pipes and sockets are called after */
	__u32 size;
	__u32 pad;
	char names[FILE_PATH_MAX + FILE_NAME_MAX];
};

#define FILE_FS_LEN 16

_Static_assert(sizeof(struct file_id) == 16, "file_id has padding");

#endif /* TALLY_FILE_H */
