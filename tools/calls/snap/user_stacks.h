/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of the threads of a pass, with their user parts. The kernel walks no user stack of another thread: a pass
 * gives the registers, the loader reads the memory (base/opener.h: it may be that of a file system that does not
 * answer) and walks it (unwind/walk.h). Then another pass shows which threads have not run meanwhile; those that have
 * are looked at again, and lose their user part if they have run each time.
 */
#ifndef TALLY_SNAP_USER_STACKS_H
#define TALLY_SNAP_USER_STACKS_H

#include "calls/snap/snap.h"
#include "unwind/walk.h"

/* How often a thread is looked at. */
#define SNAP_LOOKS 4

/* Limits of reading for a picture: bytes, and time. */
#define SNAP_MOST_BYTES (1ULL << 30)
#define SNAP_READ_NS (10 * NSEC_PER_SEC)

/* How long a picture waits for the tables of files. */
#define SNAP_TABLES_NS (20 * NSEC_PER_SEC)

/* Processes whose memory gave no answer: no more is read of them for OPENER_REST_NS. */
#define SNAP_MOST_SILENT 64

/* Figures that tell whether a thread has run. */
struct snap_moment {
	u32 tid, pid;           /* pid: below /proc */
	u64 began, switches, ip, sp;
};

struct snap_stack {
	struct snap_moment moment;
	const struct snap_thread *thread;       /* in the pass in which it was looked at last */
	struct stack *stack;                    /* NULL: none */
	bool is_open;           /* may have run since */
	bool is_unread;         /* its memory could not be read */
};

struct snap_user_stacks {
	struct unwind_walker *walker;
	volatile s64 *clock_ahead;
	struct stack *room;     /* for the stack that is walked */
	struct snap_pass again[SNAP_LOOKS - 1];
	struct snap_stack *item;        /* by tid */
	size_t n;
	/* While memory is read. */
	u32 pid, thread;        /* of the process, and what has its memory */
	u64 bytes, end_ns;
	u32 silent[SNAP_MOST_SILENT];
	size_t nsilent;
	u64 silent_until_ns;
	/* In this picture. */
	u64 ran, unread, foreign;       /* foreign: of programs that are not 64-bit */
};

/* Between load and attach. clock_ahead: as of snap_pass__run(). */
int snap_user_stacks__begin(struct snap *s, struct measurement *m, const struct bpf_object *obj,
			    volatile s64 *clock_ahead);
void snap_user_stacks__free(struct snap_user_stacks *u);

/* Takes the stacks of the threads of a pass: item[0 .. n), which the next call replaces. May repeat the pass. */
int snap_user_stacks__take(struct snap *s);

/* The kernel's part of a stack, for which there is room. */
void snap_kernel_stack(const struct snap *s, const struct snap_thread *t, struct stack *to);

#endif /* TALLY_SNAP_USER_STACKS_H */
