/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of the threads of a pass, with their user parts and Python frames. The kernel does not walk the user stack of
 * another thread. Therefore a pass returns the registers, and the loader reads the memory (through base/opener.h, since
 * a file system that does not answer may back it) and walks it (unwind/walk.h). Another pass then shows which threads
 * have not run meanwhile. A thread that has run is tried again, and loses its user part if it has run each time.
 */
#ifndef TALLY_SNAP_USER_STACKS_H
#define TALLY_SNAP_USER_STACKS_H

#include "calls/snap/snap.h"
#include "runtime/python_walk.h"
#include "unwind/walk.h"

/* How often the stack of a thread is tried. */
#define SNAP_LOOKS 4

/* Limits for one picture: bytes read, and time spent reading. */
#define SNAP_MOST_BYTES (1ULL << 30)
#define SNAP_READ_NS (10 * NSEC_PER_SEC)

/* How long a picture waits for the unwind tables of files. */
#define SNAP_TABLES_NS (20 * NSEC_PER_SEC)

/* Processes whose memory did not answer. It is not read again for OPENER_REST_NS. */
#define SNAP_MOST_SILENT 64

/* Counters that show whether a thread has run. */
struct snap_moment {
	u32 tid, pid;           /* pid: as in /proc */
	u64 began, switches, ip, sp;
};

struct snap_stack {
	struct snap_moment moment;
	const struct snap_thread *thread;       /* as of the pass in which it was last read */
	struct stack *stack;                    /* NULL: none */
	bool is_open;           /* may have run since */
	bool is_unread;         /* its memory could not be read */
};

struct snap_user_stacks {
	struct unwind_walker *walker;
	struct python_walker *python;   /* NULL: Python frames are not wanted */
	u64 *sp;                /* stack pointers of the frames walked last, if python */
	volatile s64 *clock_ahead;
	struct stack *room;     /* buffer for the stack that is walked */
	struct snap_pass again[SNAP_LOOKS - 1];
	struct snap_stack *item;        /* by tid */
	size_t n;
	/* Used while memory is read. */
	u32 pid, thread;        /* of the process, and of the thread through which its memory is read */
	u64 bytes, end_ns;
	u32 silent[SNAP_MOST_SILENT];
	size_t nsilent;
	u64 silent_until_ns;
	/* Threads counted in this picture. */
	u64 ran, unread, foreign;       /* foreign: threads of programs that are not 64-bit */
};

/* To be called between load and attach. clock_ahead: see snap_pass__run(). */
int snap_user_stacks__begin(struct snap *s, struct measurement *m, const struct bpf_object *obj,
			    volatile s64 *clock_ahead);
void snap_user_stacks__free(struct snap_user_stacks *u);

/* Takes the stacks of the threads of a pass into item[0 .. n), which the next call replaces. May repeat the pass. */
int snap_user_stacks__take(struct snap *s);

/* Copies the kernel's part of a stack; the caller provides the space. */
void snap_kernel_stack(const struct snap *s, const struct snap_thread *t, struct stack *to);

#endif /* TALLY_SNAP_USER_STACKS_H */
