/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks as stored in the kernel: taken by stack.bpf.h, read by user/stack/stacks.h.
 *
 * A stack is stored once, under a 64-bit hash of all its contents and its process; keys of maps that count by stack
 * contain that hash. Two stacks with equal hashes would be merged: with a million stacks, this happens by chance once
 * in 30 million runs. Each run has a new seed, so such a pair cannot be prepared.
 *
 * All elements of a BPF map have one size, and most stacks are much shorter than the longest. So there are three maps,
 * for stacks of different lengths; a stack is stored in the first map that it fits.
 *
 * Stacks that are no longer contained in any key are removed, in turns: see stack_generation in stack.bpf.h and
 * stack_store__begin_turn() in user/stack/store.h.
 */
#ifndef TALLY_STACK_H
#define TALLY_STACK_H

#include "python.h"
#include "task_key.h"
#include "unwind.h"
#include "walk_regs.h"

#define STACK_DEPTH 127         /* the kernel's default limit: kernel.perf_event_max_stack */
#define STACK_MOST_DEPTH 1023   /* the most that programs can hash, if that limit was raised */

#define STACK_GUESSES 32        /* bits of stack.guessed */

#define STACK_PARTS 3           /* kernel, user, Python */

#define STACK_SMALL 24          /* frames of all parts; a u64 each */
#define STACK_MEDIUM 64

/* The parts to take, and the number of innermost kernel frames (the tracer's own) to skip. */
enum stack_flags {
	STACK_KERNEL = 0x100,
	STACK_USER = 0x200,
	/*
	 * At a user function's entry (ctx is its struct pt_regs), before it has set up its frame: a frame pointer walk
	 * would miss the caller, whose return address is on top of the stack.
	 */
	STACK_AT_ENTRY = 0x400,
	/* Just before a return: the walk begins at the caller, whose address is on top of the stack. */
	STACK_AT_EXIT = 0x1000,
	STACK_REGS = 0x800,     /* the context begins with the registers: perf events, kprobes, uprobes */
	STACK_INNERMOST = 0x2000,       /* only the innermost frame of all parts, without looking for callers */
	STACK_SKIP = 0xff,
};

/* From this bit upwards: the maximum number of frames of each part, if less than stack_depth; 0: stack_depth. */
#define STACK_MOST_SHIFT 16

/* How a part of a stack ends at its outer end. */
enum stack_end {
	STACK_NOT_TAKEN,        /* not requested, or the task has no such part */
	STACK_WALKED,           /* the walk found no further frame: the outermost one, or a broken chain */
	STACK_DEEPER,           /* there are, or may be, more frames than were requested */
	STACK_UNREADABLE,       /* the kernel refused */
	STACK_ROOT,             /* the walk reached the thread's first function */
	STACK_GUESSED,          /* as STACK_WALKED, but there are tables, and none covers the outermost frame's code */
	STACK_STUCK,            /* the outermost frame's rule could not be applied, or its memory could not be read */
	STACK_GONE,             /* the task is exiting, and has released its memory, stack included */
	STACK_RAN,              /* the thread ran while the loader read it: nothing is known */
};

/*
 * An element of a map: frame[0 .. kernel) innermost first, then frame[kernel .. kernel + user), then the Python frames,
 * encoded as in python.h.
 *
 * A user address is meaningful only together with the mappings that existed when the stack was taken. So space is part
 * of the identity of a stack with a user part: it combines the process, its exec count, and the number of times that
 * code was unmapped before (struct stack_code). All events counted by one stack saw the code that was mapped at
 * first_ns.
 */
struct stack {
	__u16 kernel, user;     /* frames of each part */
	__u8 kernel_end, user_end;      /* enum stack_end */
	__u16 mark;             /* used by the loader; 0 when stored */
	__u32 pid;              /* in the loader's pid namespace, 0 if not in it */
	__u32 generation;       /* generation in which it was stored */
	__u64 space;            /* 0 without a user part, as are pid and first_ns */
	__u64 first_ns;         /* CLOCK_MONOTONIC: when it was stored */
	__u16 python;           /* Python frames */
	__u8 python_end;        /* enum python_end */
	__u8 pad;
	/*
	 * The user frames, one bit each from the innermost, whose callers were found by frame pointers although their
	 * code may have an unwind table that was not known yet: callers may be missing there. The last bit stands for
	 * all further frames.
	 */
	__u32 guessed;
	__u64 frame[];
};

/*
 * The state of a process's code, by tgid modulo STACK_CODES; processes that share an element may begin generations for
 * each other. A generation ends when less code is mapped than before: some code was unmapped, and other code may soon
 * be mapped at its addresses. Checked when memory is mapped (tracepoint vm_unmapped_area) and at each new stack.
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
#define VMA_PIVOTS 15           /* of a node of the tree of mappings: the maximum of all types */

/* The walk of a user stack (user_stack.bpf.h). */
struct user_walk {
	union {                 /* of the current frame; link: only of the first */
		struct walk_regs regs;
		struct {
			__u64 ip, sp, bp, base, link;
		};
	};
	__u64 probed_return;    /* struct return_instance of the next frame that has one; 0 if none */
	__u32 n, most;          /* frames of both parts so far, and at most */
	__u64 window;           /* address of the memory last read */
	__u32 have;             /* number of bytes of the window that are in bytes[] */
	__u8 end;               /* enum stack_end */
	__u8 is_exact;          /* ip is the next instruction to run, not one after a call */
	__u8 at_entry;          /* ip is at a function's entry */
	__u8 has_begun;         /* the first frame's mapping has been looked up */
	__u8 asks;              /* the loader knows no mapping that contains sought */
	__u8 has_stepped;       /* this is not the first frame */
	__u8 sp_is_least;       /* sp is not exact: see unwind_has_record() */
	__u32 first;            /* the index of the first user frame */
	__u32 guessed;          /* see struct stack */
	/* For walks by tables: the process's mappings, and the one that contains ip. */
	struct unwind_space space;
	struct unwind_mapping mapping;
	struct unwind_file file;
	__u64 sought;           /* address whose mapping was last looked up */
	__u64 pivot[VMA_PIVOTS];        /* see vma.bpf.h */
	struct unwind_identity identity;        /* of the file there */
	__u8 bytes[USER_WINDOW];
};

/* The part of a key that identifies a stack. All zero if the stack was lost. */
struct stack_id {
	__u64 hash;
	__u32 tgid;             /* the process of the user addresses; 0 if there are none */
	__u32 frames;           /* of all parts: determines the map */
};

/* Memory in which a stack is assembled. Only programs use the contents. */
struct stack_slot {
	__u64 holders;          /* preempt.bpf.h: claim_alone() */
	__u32 level;            /* index of this slot */
	__u8 kernel_is_deep, user_is_deep;      /* of the last stack made here */
	__u8 pad[2];
	struct stack_id id;     /* of the last stack */
	struct user_walk walk;
	struct python_walk python;
	struct stack stack;
};

/*
 * The key by which events are counted, and the element of that key. generation is the one in which the element is added
 * to: see stack_generation in stack.bpf.h.
 */
struct stack_key {
	struct stack_id stack;
	struct task_key task;
	__u32 generation;
	__u32 pad;
};

struct stack_count {
	__u64 count;                    /* or a sum; forms a 128-bit number with count_high (wide.h) */
	__u64 count_high;
	__u64 name_stamp;               /* time name was written; the newest of a key wins */
	char name[TASK_KEY_COMM_LEN];   /* of the task, if the key has a pid or tid but no comm */
};

/* Sent at the first stack of a process, and at a later one if the process has mapped more code. */
struct stack_process {
	__u32 pid;              /* as in struct stack */
	__u32 pad;
};

/* The multiplication propagates each bit upwards, the shift downwards. */
static inline __attribute__((always_inline)) __u64 stack_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* The hash under which a stack is stored; never 0. most: limit for the number of frames of all parts together. */
static inline __attribute__((always_inline)) __u64 stack_hash(const struct stack *s, __u64 seed,
							      __u32 most)
{
	__u32 n = s->kernel + s->user + s->python, i;
	__u64 hash = stack_mix(seed, (__u64)s->kernel << 32 | s->user);

	hash = stack_mix(hash, (__u64)s->generation << 32 | s->kernel_end << 8 | s->user_end);
	hash = stack_mix(hash, s->space);
	hash = stack_mix(hash, (__u64)s->guessed << 32 | (__u32)s->python_end << 16 | s->python);
	for (i = 0; i < STACK_PARTS * STACK_MOST_DEPTH; i++) {
		if (i >= n || i >= most)
			break;
		hash = stack_mix(hash, s->frame[i]);
	}
	return hash ?: 1;
}

_Static_assert(sizeof(struct stack) == 40, "stack has padding");
_Static_assert(sizeof(struct stack_code) == 24, "stack_code has padding");
_Static_assert(sizeof(struct stack_id) == 16, "stack_id has padding");
_Static_assert(sizeof(struct stack_key) == 72, "stack_key has padding");
_Static_assert(sizeof(struct stack_count) == 40, "stack_count has padding");

#endif /* TALLY_STACK_H */
