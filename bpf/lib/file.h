/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* File system calls and file names, shared by file.bpf.h and user/files/. */
#ifndef TALLY_FILE_H
#define TALLY_FILE_H

#include "task_key.h"

/* The operation on a file. */
enum file_op {
	FILE_NOTHING,
	FILE_READ,
	FILE_WRITE,
	FILE_OPEN,
	FILE_SYNC,
	FILE_READDIR,
	FILE_OPS,
};

/* The kind of system call, which determines where its arguments are. */
enum file_call {
	FILE_CALL_NONE,
	FILE_CALL_READ,                 /* (fd, ...), at the file position */
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

/* Identifies a file for its lifetime, independently of its name: inode numbers are reused. */
struct file_id {
	__u64 inode;
	__u32 device;           /* the kernel's dev_t: 12 bits major, 20 bits minor number */
	__u32 generation;       /* 0 on file systems without generations */
};

/*
 * A mount, as listed in /proc/PID/mountinfo of its namespace. The kernel reuses the ids of unmounted mounts; the device
 * distinguishes most of them.
 */
struct file_mount {
	__u32 ns;               /* inode number of its mount namespace; 0 if it has none (a pipe) */
	__u32 id;
	__u32 device;           /* as in struct file_id */
};

enum file_name_flag {
	FILE_NAME_CUT = 1,      /* the path has more parent directories than the walk followed */
	FILE_NAME_DELETED = 2,
	FILE_NAME_PLAIN = 4,    /* not in a directory: a single name, as of "/", a pipe or a memfd */
	FILE_NAME_TYPED = 8,    /* the file was not opened: this is the path passed to the call */
	FILE_NAME_UNKNOWN = 16, /* the descriptor was closed or replaced during the call */
};

#define FILE_NAME_MAX 256       /* NAME_MAX and a NUL */
#define FILE_PATH_MAX 4096      /* PATH_MAX */
#define FILE_DEPTH 128          /* names and mount points that the walk follows */
#define FILE_DEPTH_SHORT 32     /* for tools that run beside many others: the program loads faster */

/* A path: its names, last one first, each followed by a NUL. Only the first size bytes of names are sent. */
struct file_name {
	__u32 flags;            /* enum file_name_flag, ORed */
	__u32 mode;             /* S_IFMT bits */
	__u64 inode;            /* part of the names of pipes and sockets */
	__u32 size;
	__u32 pad;
	char names[FILE_PATH_MAX + FILE_NAME_MAX];
};

/* Sent when a file is first seen. Only as long as the name requires. */
struct file_record {
	struct file_id id;
	struct file_name name;
};

#define FILE_FS_LEN 16

_Static_assert(sizeof(struct file_id) == 16, "file_id has padding");

#endif /* TALLY_FILE_H */
