/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: the chain of threads that determined the elapsed time, from records of their waits
 * (bpf/calls/whypath.h).
 *
 * The walk goes back in time from the end. Time on a CPU and time in which a thread waited for a CPU are links of that
 * thread. If another thread in scope woke it, the path continues with the waker, at the time of the wakeup. A new
 * thread leads to its parent. A wait that was ended from elsewhere (a timer, a disk, a task outside the scope) is a
 * link itself. Time without a record is a link of kind PATH_HOLE.
 *
 * Links follow each other without a gap, so their times add up to the elapsed time.
 *
 * A walk through a span of a thread always returns to this thread. It replaces each wait of the thread by what the
 * waker did during the wait, and explains the waits of the waker in the same way. The path therefore contains all of
 * the thread's own time. An ordinary critical path does not: it stays with the waker, even for the time before the wait
 * began.
 */
#ifndef TALLY_CALLS_WHY_PATH_H
#define TALLY_CALLS_WHY_PATH_H

#include "base/table.h"
#include "base/types.h"

#include "bpf/calls/whypath.h"

enum path_what {
	PATH_ON_CPU,
	PATH_FOR_CPU, /* runnable; phase is the reason: woken, preempted, throttled */
	PATH_WAIT,    /* blocked, as phase, slot and file describe; not woken by a thread in scope */
	PATH_HOLE,    /* unknown */
};

/* A record as stored. Names are indexes; 0 is no name. */
struct path_node {
	u64 since, woken, until;
	u32 thread; /* index of the thread */
	u32 waker, number, slot;
	u32 name, waker_name; /* the thread's from this record on; an outside waker's */
	__u16 phase, code;
	u8 kind; /* enum whypath_kind */
};

struct path_link {
	u64 from, until; /* CLOCK_MONOTONIC */
	enum path_what what;
	u32 tid, name;
	u32 slot; /* slot, phase and file of a wait: as in struct why_key (file: its kind) */
	__u16 phase, file;
	__u16 by;	/* enum whypath_by */
	u32 waker_name; /* for WHYPATH_BY_OUTSIDE */
	bool is_other;	/* in a span: the link of another thread, which explains a wait */
};

/* A span of a thread, recorded when it ends. */
struct path_span {
	u64 began, ended;
	u32 tid;
};

/* A thread and its records. */
struct path_thread {
	u32 tid, name;
	u32 first, n; /* its records, in path.order */
	u32 left;     /* number of its records before the position of the walk */
	bool linked;  /* the thread has a link */
};

/* Where the walk resumes a thread after it has explained one of its waits. It then goes back to `until`. */
struct path_place {
	struct path_thread *thread;
	u32 left, name;
	u64 until;
};

/*
 * Initialise to all zeros. If there are more than `most` records, new ones replace the oldest ones, and the path begins
 * with a hole. most == 0 stands for PATH_MOST.
 */
struct path {
	u32 most;
	struct path_node *node; /* a ring: record i is node[i % most] */
	u64 n;			/* records taken */
	u64 dropped;		/* number of records that were replaced */
	struct path_thread *thread;
	size_t nthreads;
	struct table threads;		 /* by tid */
	char (*name)[TASK_KEY_COMM_LEN]; /* name 0 is empty */
	size_t nnames;
	struct table names;
	/* Set by path__index(): records by thread, as indexes into the ring, and spans, oldest first. */
	u32 *order;
	struct path_span *span;
	size_t nspans;
	struct path_place *place; /* stack of the walk, innermost thread last */
	size_t nplaces;
	/*
	 * The caller sets end_tid or end_pid. With end_pid, end_tid becomes the thread of that process that ended last,
	 * or 0 if the process's first thread was alive at the end of the run. end_ns is the time when end_tid ended; 0
	 * if it has not ended.
	 */
	u32 end_pid, end_tid;
	u64 end_ns;
	struct path_link *link; /* links of the last walk, latest first */
	size_t nlinks;
	size_t nthreads_linked; /* over all walks */
};

/*
 * Limits. Each record takes 56 bytes, so all take 112 MiB; memory is allocated as they arrive. Names beyond the limit
 * are empty.
 */
#define PATH_MOST (2U << 20)
#define PATH_MOST_NAMES (1U << 20)

/* Maximum depth of explanations in a span: waits for threads that wait for other threads, and so on. */
#define PATH_LEVELS 64

/* Takes a record. Records of one thread must come in order of time. Returns 0 or -ENOMEM. */
int path__take(struct path *p, const struct whypath_record *r);

/* Must be called once, after all records and before the first walk. Returns 0 or -ENOMEM. */
int path__index(struct path *p);

/* Finds the links of the path that began at began_ns and ends with this thread at end_ns. Returns 0 or -ENOMEM. */
int path__walk(struct path *p, u32 tid, u64 began_ns, u64 end_ns);

/* Finds the links of the path through a span. Returns 0 or -ENOMEM. */
int path__walk_span(struct path *p, const struct path_span *span);

const char *path__name(const struct path *p, u32 name);
void path__free(struct path *p);

#endif /* TALLY_CALLS_WHY_PATH_H */
