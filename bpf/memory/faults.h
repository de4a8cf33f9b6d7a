/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by faults.bpf.c and its loader. */
#ifndef TALLY_FAULTS_H
#define TALLY_FAULTS_H

#include "file.h"
#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. */
enum fault_part {
	BY_FAULT_KIND = 1 << BY_PARTS,
	BY_FAULT_FILE = 1 << (BY_PARTS + 1),
	BY_FAULT_ACCESS = 1 << (BY_PARTS + 2),
	BY_FAULT_MODE = 1 << (BY_PARTS + 3),
};

/* The kind of mapping at the address. */
enum fault_kind {
	FAULT_UNKNOWN,          /* the mappings were being changed and could not be read */
	FAULT_HEAP,             /* the brk(2) heap */
	FAULT_STACK,            /* of the main thread; other threads' stacks are anonymous */
	FAULT_ANON,
	FAULT_SHMEM,            /* shared without a file, System V, memfd, tmpfs files */
	FAULT_TEXT,             /* executable file mapping */
	FAULT_DATA,             /* other file mapping, including private copies */
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

/* The code that faulted. */
enum fault_mode {
	FAULT_BY_USER,
	FAULT_BY_KERNEL,        /* on behalf of the task, in a system call */
	FAULT_MODES,
};

struct faults_parts {
	struct file_id file;
	__u32 kind;             /* enum fault_kind */
	__u32 access;
	__u32 mode;
	__u32 pad;
};

/*
 * An element belongs to one CPU: plain adds are exact. If no part is requested, keys of the map end after the last
 * requested part of task.
 */
struct faults_key {
	__u32 writer;
	__u32 pad;
	struct task_key task;
	struct faults_parts parts;
};

/* Cumulative since the gate was opened. */
struct faults_sums {
	__u64 minor;
	__u64 major;
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* Per CPU: faults for which the program ran, as the kernel counts them; the index is 1 for major faults. */
struct faults_taken {
	__u64 n[2];
};

_Static_assert(sizeof(struct faults_key) == 88, "faults_key has padding");
_Static_assert(sizeof(struct faults_sums) == 40, "faults_sums has padding");

#endif /* TALLY_FAULTS_H */
