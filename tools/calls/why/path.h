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
 *
 * The walk through a span of a thread does not leave the thread for good. Only its waits are explained, by what the
 * waker did meanwhile, whose waits are explained in the same way. So the thread's own time is all in the path, which it
 * is not in a critical path whose waker was busy before the wait began.
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
	u32 thread; /* by its place among the threads */
	u32 waker, number, slot;
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
	bool is_other;	/* in a span: of a thread that explains a wait */
};

/* A span of a thread, as it ends. */
struct path_span {
	u64 began, ended;
	u32 tid;
};

/* A number of a thread. */
struct path_thread {
	u32 tid, name;
	u32 first, n; /* its records, in path.order */
	u32 left;     /* as many are before the walk */
	bool linked;  /* it has a link */
};

/* Where the walk goes on with a thread, whose wait has been explained back to until. */
struct path_place {
	struct path_thread *thread;
	u32 left, name;
	u64 until;
};

/*
 * Initialise to all zeros. Records beyond most replace the oldest ones; the path then begins with a hole. most of 0 is
 * PATH_MOST.
 */
struct path {
	u32 most;
	struct path_node *node; /* a ring: record i is node[i % most] */
	u64 n;			/* records taken */
	u64 dropped;		/* of them, the oldest ones that were replaced */
	struct path_thread *thread;
	size_t nthreads;
	struct table threads;		 /* by tid */
	char (*name)[TASK_KEY_COMM_LEN]; /* name 0 is empty */
	size_t nnames;
	struct table names;
	/* After path__index(): records by thread, by their places in the ring; and the spans, the oldest first. */
	u32 *order;
	struct path_span *span;
	size_t nspans;
	struct path_place *place; /* of the walk, the innermost one last */
	size_t nplaces;
	/*
	 * The caller sets end_tid, or end_pid: then end_tid becomes the thread of that process that ended last, and
	 * stays 0 while its first thread goes on. end_ns is when it ended; 0: it goes on.
	 */
	u32 end_pid, end_tid;
	u64 end_ns;
	struct path_link *link; /* of the last walk: the last one first */
	size_t nlinks;
	size_t nthreads_linked; /* of all walks */
};

/* 56 bytes each, so 112 MiB; they take memory as they come. Further names are empty. */
#define PATH_MOST (2U << 20)
#define PATH_MOST_NAMES (1U << 20)

/* Waits for threads that wait for others, and so on: as many levels are followed in a span. */
#define PATH_LEVELS 64

/* Takes a record; those of a thread in the order of its time. Returns 0 or -ENOMEM. */
int path__take(struct path *p, const struct whypath_record *r);

/* Once, after all records and before the first walk. Returns 0 or -ENOMEM. */
int path__index(struct path *p);

/* Finds the links of the path that ends with that thread at end_ns, and began at began_ns. Returns 0 or -ENOMEM. */
int path__walk(struct path *p, u32 tid, u64 began_ns, u64 end_ns);

/* The same in a span. */
int path__walk_span(struct path *p, const struct path_span *span);

const char *path__name(const struct path *p, u32 name);
void path__free(struct path *p);

#endif /* TALLY_CALLS_WHY_PATH_H */
