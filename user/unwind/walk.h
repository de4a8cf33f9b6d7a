/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks user stacks of threads that are not running, as the BPF programs do (bpf/lib/unwind.bpf.h): by the tables of an
 * unwinder, and by frame pointers in code without a table. Memory and registers are untrusted; a walk always ends.
 */
#ifndef TALLY_UNWIND_WALK_H
#define TALLY_UNWIND_WALK_H

#include <sys/types.h>

#include "unwind/unwinder.h"

#include "bpf/lib/stack.h"

/* Bytes of a stack read at once (fewer at first), and the maximum number of reads for a stack. */
#define WALK_PIECE (16 << 10)
#define WALK_PIECES 64

#define WALK_RULES 4096

/* The rule last looked up at one of the addresses that share a cache slot. */
struct walk_rule {
	const struct unwind_rule *rule;         /* NULL: no rule */
	u64 address;                            /* in the file; 0: empty slot */
	u32 file;
};

struct unwind_walker {
	struct user_walk walk;
	const struct unwinder *unwinder;        /* NULL: by frame pointers only */
	/* Like pread(2), of the thread's memory. Returns a negative errno on failure. */
	ssize_t (*read)(void *arg, u64 address, void *to, size_t size);
	void *arg;
	u64 piece;                              /* address of the last read */
	size_t have;
	u32 pieces;                             /* reads for this stack so far */
	bool is_unread;                         /* the last walk ran into memory that could not be read */
	u64 *sp;                                /* room for the frames' stack pointers; NULL: not wanted */
	struct walk_rule known[WALK_RULES];
	char bytes[WALK_PIECE];
};

/* Returns 0 or -ENOMEM. unwinder may be NULL; else it has seen the processes whose stacks are walked. */
int unwind_walker__new(struct unwind_walker **walker, const struct unwinder *unwinder,
		       ssize_t (*read)(void *arg, u64 address, void *to, size_t size), void *arg);
void unwind_walker__free(struct unwind_walker *walker);

/*
 * Fills in the user part of a stack, after its kernel part. Writes at most `most` frames, for which to must have room.
 */
void unwind_walker__walk(struct unwind_walker *walker, u32 pid, const struct walk_regs *regs, u32 most,
			 struct stack *to);

#endif /* TALLY_UNWIND_WALK_H */
