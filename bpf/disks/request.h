/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Block requests, shared by programs (request.bpf.h) and loaders (tools/disks/requests.h). */
#ifndef TALLY_REQUEST_H
#define TALLY_REQUEST_H

#include "hist.h"
#include "task_key.h"

/* include/linux/blk_types.h, unchanged since 5.10 except for zone operations. */
enum request_op {
	REQUEST_READ = 0,
	REQUEST_WRITE = 1,
	REQUEST_FLUSH = 2,
	REQUEST_DISCARD = 3,
	REQUEST_SECURE_ERASE = 5,
	REQUEST_WRITE_ZEROES = 9,
	REQUEST_DRIVER_FIRST = 32,      /* driver and user space commands: SCSI, NVMe */
	REQUEST_DRIVER_LAST = 35,
};
#define REQUEST_OP_MASK 0xff

/* tally's own numbers, because the kernel's bits change. */
enum request_flag {
	REQUEST_SYNC = 1 << 0,
	REQUEST_META = 1 << 1,
	REQUEST_PRIO = 1 << 2,
	REQUEST_FUA = 1 << 3,
	REQUEST_PREFLUSH = 1 << 4,
	REQUEST_READAHEAD = 1 << 5,
	REQUEST_BACKGROUND = 1 << 6,
	REQUEST_NOWAIT = 1 << 7,
};

/* Key parts of requests, in addition to those of tasks: BY_OWN(0) and up. */
enum request_part {
	BY_DISK = 1 << BY_PARTS,
	BY_OP = 2 << BY_PARTS,
	BY_FLAGS = 4 << BY_PARTS,
};

struct request_parts {
	__u32 disk;             /* major << 20 | minor; 0 if the request has no disk */
	__u8 op;
	__u8 flags;
	__u8 pad[2];
};

/* Whether the submitter of a request was in scope. */
enum request_standing {
	REQUEST_OUT_OF_SCOPE,
	REQUEST_IN_SCOPE,
	REQUEST_BEFORE,         /* unknown: submitted before the run */
};

/* A request from submission to end; times are CLOCK_MONOTONIC. */
struct request_state {
	__u64 submit_ns;
	__u64 issue_ns;         /* last time it was issued to the driver; 0 if not yet */
	__u64 sector;
	__u32 bytes;            /* size, including merged requests; known when it is issued */
	__u32 done;             /* bytes completed so far, if it completes in parts */
	__u32 disk;
	__s32 error;            /* of any part: a negative errno, or (5.16) a positive blk_status_t */
	__u8 op;
	__u8 flags;
	__u8 requeues;          /* number of requeues by the driver; 255: or more */
	__u8 standing;          /* enum request_standing */
	__u32 cpu;              /* of the submission */
	__u32 pid, tid;         /* the submitter */
	char comm[TASK_KEY_COMM_LEN];   /* of the thread; of the process if keys are by pid */
	struct task_key task;
};

/* Written by the loader before it loads the programs. */
struct request_config {
	__u32 disk;             /* only count this disk; 0: all disks */
	__u8 queue_first;       /* tracepoints have a queue argument before the request */
	__u8 queue_before_bio;  /* the same for block_getrq, which lost that argument in another version */
	__u8 by_bio;            /* submissions are seen at block_getrq, by their bio */
	__u8 at_issue;          /* submissions are not hooked: every request counts, from its issue */
};

struct request_run {
	__u64 before;           /* requests that were submitted before the run and ended in it */
};

/* Histograms of requests (biolatency, bitesize). */
enum request_value {
	REQUEST_QUEUE_TIME,
	REQUEST_DEVICE_TIME,
	REQUEST_TOTAL_TIME,
	REQUEST_SIZE,
};

struct request_hist_key {
	struct hist_slot slot;
	struct task_key task;
	struct request_parts parts;
};

_Static_assert(sizeof(struct request_state) == 120, "request_state has padding");
_Static_assert(sizeof(struct request_hist_key) == 64, "request_hist_key has padding");

#endif /* TALLY_REQUEST_H */
