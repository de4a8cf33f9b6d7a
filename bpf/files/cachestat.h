/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by cachestat.bpf.c and its loader. */
#ifndef TALLY_CACHESTAT_H
#define TALLY_CACHESTAT_H

#include "file.h"
#include "task_key.h"

/* Key parts for --by, in addition to those of tasks. */
enum cachestat_part {
	BY_CACHED_FILE = 1 << BY_PARTS,
};

/* Counters, in pages. */
enum cachestat_count {
	CACHESTAT_READ,         /* requested by reads, hit or miss */
	CACHESTAT_FAULT,        /* requested by page faults on mapped files, hit or miss */
	CACHESTAT_MISS,         /* of both: not in the cache at that moment */
	/* Pages added to the cache: */
	CACHESTAT_ADDED,        /* by reads and faults, as far as known yet: misses and pages read ahead */
	CACHESTAT_UNASKED,      /* part of CACHESTAT_ADDED: in calls that requested no page at all */
	CACHESTAT_WRITTEN,      /* by writes */
	CACHESTAT_OTHER,        /* by anything else: readahead(2), metadata */
	CACHESTAT_DIRTIED,      /* previously clean pages, dirtied by writes or in mapped memory */
	CACHESTAT_COUNTS,
};

/* Classes of system calls. */
enum cachestat_call {
	CACHESTAT_CALL_NONE,
	CACHESTAT_CALL_WRITE,
	CACHESTAT_CALL_ADVICE,  /* calls that start readahead for others and do not wait */
	CACHESTAT_CALL_READ,    /* (fd, ...), at the file position */
	CACHESTAT_CALL_PREAD,   /* (fd, , , offset) */
	CACHESTAT_CALL_SENDFILE,        /* (to, fd, address of the offset), piecewise */
	CACHESTAT_CALL_SPLICE,          /* (fd, address of the offset, ...), piecewise */
};

struct cachestat_key {
	struct file_id id;
	struct task_key task;
	__u32 writer;           /* of no CPU: all CPUs add to one element */
	__u32 pad;
};

/* Cumulative since the gate was opened. */
struct cachestat_sums {
	__u64 sum[CACHESTAT_COUNTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

_Static_assert(sizeof(struct cachestat_key) == 72, "cachestat_key has padding");

#endif /* TALLY_CACHESTAT_H */
