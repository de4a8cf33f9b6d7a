/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What faults.bpf.c and its loader share. */
#ifndef TALLY_FAULTS_H
#define TALLY_FAULTS_H

#include "file.h"
#include "task_key.h"

/* Behind the parts of task keys, for --by. */
enum fault_part {
	BY_FAULT_KIND = 1 << BY_PARTS,
	BY_FAULT_FILE = 1 << (BY_PARTS + 1),
	BY_FAULT_ACCESS = 1 << (BY_PARTS + 2),
	BY_FAULT_MODE = 1 << (BY_PARTS + 3),
};

/* What is mapped at the address. */
enum fault_kind {
	FAULT_UNKNOWN,          /* the mappings were being changed, and could not be looked at */
	FAULT_HEAP,             /* what brk(2) makes */
	FAULT_STACK,            /* of the main thread: those of others are anonymous */
	FAULT_ANON,
	FAULT_SHMEM,            /* shared without a file, System V, memfd, files of a tmpfs */
	FAULT_TEXT,             /* of a file, executable */
	FAULT_DATA,             /* of a file, what is not; private copies of it, too */
	FAULT_HUGETLB,
	FAULT_SPECIAL,          /* the kernel's own: vdso, vvar */
	FAULT_KINDS,
};

enum fault_access {
	FAULT_ACCESS_UNKNOWN,
	FAULT_READ,
	FAULT_WRITE,
	FAULT_EXEC,
	FAULT_ACCESSES,
};

/* What code did it. */
enum fault_mode {
	FAULT_BY_USER,
	FAULT_BY_KERNEL,        /* for the task, in a system call */
	FAULT_MODES,
};

struct faults_parts {
	struct file_id file;
	__u32 kind;             /* enum fault_kind */
	__u32 access;
	__u32 mode;
	__u32 pad;
};

/* An element belongs to one CPU: plain adds are exact. */
struct faults_key {
	struct task_key task;
	struct faults_parts parts;
	__u32 writer;
	__u32 pad;
};

/* Cumulative since the gate was opened. */
struct faults_sums {
	__u64 minor;
	__u64 major;
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* Sent when a file is seen for the first time (on a CPU, by a key). */
struct faults_name {
	struct file_id id;
	struct file_name name;
};

/* Per CPU: what the program was run for, as the kernel counts it. By major. */
struct faults_taken {
	__u64 n[2];
};

_Static_assert(sizeof(struct faults_key) == 88, "faults_key has padding");
_Static_assert(sizeof(struct faults_sums) == 40, "faults_sums has padding");

#endif /* TALLY_FAULTS_H */
