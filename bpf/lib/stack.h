/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks as they are kept in the kernel: taken by stack.bpf.h, read by user/stack/stack.h.
 *
 * A stack is stored once, under a 64-bit hash over all of it and the process that it is of; whatever counts
 * by stack has that hash in its key. Two stacks with one hash would be taken for one: of a million, by chance once
 * in 30 million runs. The hash is seeded anew in each run, so nobody can prepare such a pair.
 *
 * Elements of a BPF map are all of one size and most stacks are much shorter than the longest.
 * So there are three maps, for stacks of up to so many frames; a stack is in the first that it fits.
 *
 * What nobody counts by any more leaves the maps, in turns: see stack_generation in stack.bpf.h and
 * stack_store__begin_turn() in user/stack/store.h.
 */
#ifndef TALLY_STACK_H
#define TALLY_STACK_H

#include "task_key.h"
#include "unwind.h"

#define STACK_DEPTH 127         /* the kernel walks so far: kernel.perf_event_max_stack */
#define STACK_MOST_DEPTH 1023   /* if that was raised: what the programs can hash */

#define STACK_SMALL 24          /* frames of both parts; each a u64 */
#define STACK_MEDIUM 64

/* How a part of a stack ended at its outer end. */
enum stack_end {
	STACK_NOT_TAKEN,        /* not asked for, or the task has no such part */
	STACK_WALKED,           /* the walk found no further frame: the first one, or a broken chain */
	STACK_DEEPER,           /* there are, or may be, more frames than were asked for */
	STACK_UNREADABLE,       /* the kernel refused */
	STACK_ROOT,             /* the walk came to the first function of the thread */
	STACK_GONE,             /* the task is at its end, and has given its memory back, with the stack */
};

/*
 * The element of a map: frame[0 .. kernel) innermost first, then frame[kernel .. kernel + user).
 *
 * An address of a process means something only together with what was mapped when the stack was taken. So a
 * stack with a user part is kept apart by space: which process, which of its programs (exec), and how often
 * code was unmapped before (struct stack_code). All that counts by one stack has seen the code that was mapped
 * at first_ns.
 */
struct stack {
	__u16 kernel, user;     /* frames of each part */
	__u8 kernel_end, user_end;      /* enum stack_end */
	__u16 mark;             /* for the loader's use; 0 */
	__u32 pid;              /* as the loader's pid namespace numbers it, 0: it is not in there */
	__u32 generation;       /* it was stored in */
	__u64 space;            /* 0 without a user part; as are the other two */
	__u64 first_ns;         /* CLOCK_MONOTONIC: when it was stored */
	__u64 frame[];
};

/*
 * What is known of a process's code, by its tgid modulo STACK_CODES; two that share a place may begin
 * generations for each other. A generation ends when less code is mapped than was seen before: something was
 * unmapped, and its addresses may soon be those of other code. Looked at where memory is mapped (the
 * tracepoint vm_unmapped_area) and at each new stack.
 */
struct stack_code {
	__u64 seen;             /* tgid << 42 | pages of code */
	__u64 began_ns;         /* of this generation, CLOCK_MONOTONIC */
	__u32 generation;
	__u32 pad;
};

#define STACK_CODES 4096
#define STACK_CODE_PAGES_BITS 42        /* a pid has at most 22 */

#define USER_WINDOW 1024

/* The walk of a user stack (user_stack.bpf.h). */
struct user_walk {
	__u64 ip, cs, flags, sp, bp;    /* registers of the frame that it has come to; cs, flags: of the first */
	__u64 probed_return;    /* struct return_instance of the next frame that has one; 0: none */
	__u32 n, most;          /* frames of both parts so far, and at most */
	__u64 window;           /* the address of the memory that was read last */
	__u32 have;             /* and how much of it is in bytes[] */
	__u8 end;               /* enum stack_end */
	__u8 is_exact;          /* ip is of the next instruction, and not behind a call */
	__u8 at_entry;          /* a function begins at ip */
	__u8 pad;
	/* By tables: the process's mappings, and the one that ip is in. */
	struct unwind_space space;
	struct unwind_mapping mapping;
	struct unwind_file file;
	__u8 bytes[USER_WINDOW];
};

/* What stands in the keys of those who count by stack. All zero: the stack was lost. */
struct stack_id {
	__u64 hash;
	__u32 tgid;             /* whose user addresses they are; 0: there are none */
	__u32 frames;           /* of both parts: says which map */
};

/* Where a stack is made. Only programs look at what is in it. */
struct stack_slot {
	__u64 holders;          /* preempt.bpf.h: claim_alone() */
	__u32 level;            /* which one this is */
	__u8 kernel_is_deep, user_is_deep;      /* the last ones made here were */
	__u8 pad[2];
	struct stack_id id;     /* of the last one */
	struct user_walk walk;
	struct stack stack;
};

/*
 * What events are counted by, and the element of that hash. The generation is that in which it is added to: see
 * stack_generation in stack.bpf.h.
 */
struct stack_key {
	struct stack_id stack;
	struct task_key task;
	__u32 generation;
	__u32 pad;
};

struct stack_count {
	__u64 count;                    /* or a sum: with the next one a number of 128 bits (wide.h) */
	__u64 count_high;
	__u64 name_stamp;               /* when name was written; the newest of a key wins */
	char name[TASK_KEY_COMM_LEN];   /* of the task, if the key has a pid or tid and no comm */
};

/* Sent when a process has its first stack taken, or has mapped more code since. */
struct stack_process {
	__u32 pid;              /* as in struct stack */
	__u32 pad;
};

/* Multiplication carries each bit upwards, the shift brings it down again. */
static inline __attribute__((always_inline)) __u64 stack_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* What a stack is stored under, never 0. most: frames that both parts have together at most. */
static inline __attribute__((always_inline)) __u64 stack_hash(const struct stack *s, __u64 seed,
							      __u32 most)
{
	__u32 n = s->kernel + s->user, i;
	__u64 hash = stack_mix(seed, (__u64)s->kernel << 32 | s->user);

	hash = stack_mix(hash, (__u64)s->generation << 32 | s->kernel_end << 8 | s->user_end);
	hash = stack_mix(hash, s->space);
	for (i = 0; i < 2 * STACK_MOST_DEPTH; i++) {
		if (i >= n || i >= most)
			break;
		hash = stack_mix(hash, s->frame[i]);
	}
	return hash ?: 1;
}

_Static_assert(sizeof(struct stack) == 32, "stack has padding");
_Static_assert(sizeof(struct stack_code) == 24, "stack_code has padding");
_Static_assert(sizeof(struct stack_id) == 16, "stack_id has padding");
_Static_assert(sizeof(struct stack_key) == 72, "stack_key has padding");
_Static_assert(sizeof(struct stack_count) == 40, "stack_count has padding");

#endif /* TALLY_STACK_H */
