/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: the chain of threads that made the elapsed time, from records of their waits
 * (bpf/calls/whypath.h).
 *
 * The walk starts at the end. Time on a CPU, and time in which a thread waited for a CPU, is a link of that thread. If
 * another thread in scope woke it, the path continues with the waker, at the time of the wakeup. A new thread leads to
 * its parent. A wait that was ended from elsewhere (a timer, a disk, a task outside the scope) is a link itself. Time
 * without a record is a link of its own, PATH_HOLE.
 *
 * Links follow each other without a gap, so their times add up to the elapsed time.
 */
#ifndef TALLY_CALLS_WHY_PATH_H
#define TALLY_CALLS_WHY_PATH_H

#include "base/table.h"
#include "base/types.h"

#include "bpf/calls/whypath.h"

enum path_what {
	PATH_ON_CPU,
	PATH_FOR_CPU, /* runnable: phase says since when */
	PATH_WAIT,    /* blocked, by phase, slot and file; until somebody outside of the scope, or nobody, woke it */
	PATH_HOLE,    /* unknown */
};

/* A record as it is kept. Names are indexes; 0 is no name. */
struct path_node {
	u64 since, woken, until;
	u64 before; /* the record of this thread before it, by its place among all; 0: none */
	u32 tid, waker, number, slot;
	u32 name, waker_name; /* from this record on; of an outside waker */
	__u16 phase, code;
	u8 kind; /* enum whypath_kind */
};

struct path_link {
	u64 from, until; /* CLOCK_MONOTONIC */
	enum path_what what;
	u32 tid, name;
	u32 slot; /* of a wait: as in struct why_key, and so are these two */
	__u16 phase, file;
	__u16 by;	/* enum whypath_by */
	u32 waker_name; /* of WHYPATH_BY_OUTSIDE */
};

/* A number of a thread. */
struct path_thread {
	u32 tid, name;
	u64 last;    /* place of its last record; the walk moves it back */
	u32 after;   /* number of the record behind last; 0: none of the same thread */
	bool linked; /* it has a link */
};

/*
 * Initialise to all zeros. Records beyond most replace the oldest ones; the path then begins with a hole. most of 0 is
 * PATH_MOST.
 */
struct path {
	u32 most;
	struct path_node *node; /* a ring: the record of place i, from 1 on, is node[(i - 1) % most] */
	u64 n;			/* records taken */
	u64 dropped;		/* of them, the oldest ones that were replaced */
	struct path_thread *thread;
	size_t nthreads;
	struct table threads;		 /* by tid */
	char (*name)[TASK_KEY_COMM_LEN]; /* name 0 is empty */
	size_t nnames;
	struct table names;
	/*
	 * The caller sets end_tid, or end_pid: then end_tid becomes the thread of that process that ended last, and
	 * stays 0 while its first thread goes on. end_ns is when it ended; 0: it goes on.
	 */
	u32 end_pid, end_tid;
	u64 end_ns;
	struct path_link *link; /* after path__walk(): the last one first */
	size_t nlinks, nthreads_linked;
};

/* 64 bytes each, so 128 MiB; they take memory as they come. Further names are empty. */
#define PATH_MOST (2U << 20)
#define PATH_MOST_NAMES (1U << 20)

/* Takes a record; those of a thread in the order of its time. Returns 0 or -ENOMEM. */
int path__take(struct path *p, const struct whypath_record *r);

/*
 * Finds the links of the path that ends with that thread at end_ns, and began at began_ns. Returns 0 or -ENOMEM.
 * Once, after all records.
 */
int path__walk(struct path *p, u32 tid, u64 began_ns, u64 end_ns);

const char *path__name(const struct path *p, u32 name);
void path__free(struct path *p);

#endif /* TALLY_CALLS_WHY_PATH_H */
