/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Block requests, as programs (request.bpf.h) and loaders (tools/disks/requests.h) share them. */
#ifndef TALLY_REQUEST_H
#define TALLY_REQUEST_H

#include "hist.h"
#include "task_key.h"

/* include/linux/blk_types.h, the same since 5.10; those of zones have moved. */
enum request_op {
	REQUEST_READ = 0,
	REQUEST_WRITE = 1,
	REQUEST_FLUSH = 2,
	REQUEST_DISCARD = 3,
	REQUEST_SECURE_ERASE = 5,
	REQUEST_WRITE_ZEROES = 9,
	REQUEST_DRIVER_FIRST = 32,      /* commands of drivers and of user space: SCSI, NVMe */
	REQUEST_DRIVER_LAST = 35,
};
#define REQUEST_OP_MASK 0xff

/* Our own numbers: the kernel's bits move. */
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

/* Keys of requests beside those of tasks; BY_OWN(0) and on. */
enum request_part {
	BY_DISK = 1 << BY_PARTS,
	BY_OP = 2 << BY_PARTS,
	BY_FLAGS = 4 << BY_PARTS,
};

struct request_parts {
	__u32 disk;             /* major << 20 | minor; 0: a request of no disk */
	__u8 op;
	__u8 flags;
	__u8 pad[2];
};

/* Who submitted a request, seen from the run. */
enum request_standing {
	REQUEST_OUT_OF_SCOPE,
	REQUEST_IN_SCOPE,
	REQUEST_BEFORE,         /* somebody, before the run */
};

/* A request from its submission to its end; times are CLOCK_MONOTONIC. */
struct request_state {
	__u64 submit_ns;
	__u64 issue_ns;         /* handed to the driver, the last time; 0: not yet */
	__u64 sector;
	__u32 bytes;            /* of the whole, merged ones included; known when it is issued */
	__u32 done;             /* bytes completed so far, of requests that complete in parts */
	__u32 disk;
	__s32 error;            /* of any part: an errno below 0, or (5.16) a blk_status_t above */
	__u8 op;
	__u8 flags;
	__u8 requeues;          /* times the driver gave it back; 255: or more */
	__u8 standing;          /* enum request_standing */
	__u32 cpu;              /* of the submission */
	__u32 pid, tid;         /* who submitted it */
	char comm[TASK_KEY_COMM_LEN];   /* of the thread; of the process where keys are of those */
	struct task_key task;
};

/* Written by the loader before the programs are loaded. */
struct request_config {
	__u32 disk;             /* the only one that counts; 0: all */
	__u8 queue_first;       /* tracepoints have the queue in front of the request */
	__u8 queue_before_bio;  /* the same of block_getrq: the two went at different times */
	__u8 by_bio;            /* submissions are seen at block_getrq, by their bio */
	__u8 at_issue;          /* submissions are not seen: all requests count, from their issue on */
};

struct request_run {
	__u64 before;           /* requests that ended in the run and were submitted before */
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
