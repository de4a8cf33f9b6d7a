/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/lib/stack.bpf.h: the sizes of its maps, and what has been counted there.
 *
 *   stack_store__prepare()   between open and load
 *   stack_store__begin()     after load
 *   stack_store__read()      what was counted since the last call
 *   stack_store__free()
 *
 * All return 0 or a negative errno. Counts are read as differences, and each stack is fetched once. What is in the
 * kernel's maps leaves them: that of programs that have ended by stack_store__drop_marked(), and in a turn, which is
 * taken when the maps have filled to a quarter or most of what is there has not grown, everything that nobody will
 * add to or refer to any more.
 *
 *   stack_store__is_due()      is it time for one?
 *   stack_store__begin_turn()  begins a new generation (bpf/lib/stack.bpf.h): all that is there is to go ...
 *   stack_store__hold()        ... but for these stacks
 *   stack_store__end_turn()    takes the rest out
 *
 * stack_store__read() does all of that for those who count by struct stack_key.
 */
#ifndef TALLY_STACK_STORE_H
#define TALLY_STACK_STORE_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "base/table.h"

#include "bpf/lib/stack.h"

/* How many stacks there is room for where nobody says so: allocated as needed, or (before 6.1) at
 * once. */
#define STACKS_ON_DEMAND 131072
#define STACKS_AT_ONCE 8192

/* How many frames the kernel walks at most (kernel.perf_event_max_stack). */
u32 stack_walk_limit(void);

/* What has been counted under one key since the last read. */
struct stack_sample {
	const struct stack_key *key;
	const struct stack *stack;      /* NULL: lost */
	const struct stack_count *newest;       /* for its name */
	u64 count;              /* UINT64_MAX: as much or more */
};

struct stack_classes {
	int fd;
	u32 frames;             /* the longest stack of this map */
	u32 room;               /* so many stacks fit */
};

struct stack_store {
	int counts_fd;
	u32 counts_room;
	u64 seed;               /* of the programs' hashes */
	struct stack_classes class[3];
	/* All keys ever read, in the order of the first sight; values as of the last read. */
	size_t nkeys, room;
	struct stack_key *key;
	struct stack_count *value;
	u32 *stack_of;          /* index into stack */
	struct table by_key;
	/* The stacks, fetched once. */
	size_t nstacks, stacks_room;
	struct stack **stack;
	u64 *hash;
	struct table by_hash;
	/* What the last read has found. */
	struct stack_sample *sample;
	size_t nsamples;
	size_t nidle;           /* keys that had not grown */
	bool stale;             /* it took a turn: the next one begins from nothing */
	/* Turns; without a generation there are none. */
	volatile u32 *generation;
	const volatile u8 *armed;       /* the gate */
	const volatile u64 *stored;     /* of each class, in the kernel */
	u64 turned_ns;          /* the last one, CLOCK_MONOTONIC */
	u64 taken[3];           /* and what was taken out again */
	struct bpf_program *show_held;  /* writes ids of stacks that are yet to count; NULL: there are none */
	/* The turn that goes on: stacks that go, unless they are held. */
	size_t nold, old_room;
	struct stack_leaving *old;
	struct table by_old;
};

struct stack_leaving {
	u64 hash;
	u32 class;
	bool is_held;
};

/*
 * Sizes the maps of stacks, and the one called counts (NULL: there is none), for so many
 * stacks (0: the default of this kernel) of at most depth kernel and depth user frames; repeats: in each interval.
 */
int stack_store__prepare(struct bpf_object *obj, const struct host *host, const char *counts,
			 u32 stacks, u32 depth, bool repeats);
int stack_store__begin(struct stack_store *s, const struct bpf_object *obj, const char *counts,
		       u64 seed);

/*
 * Elements come out of a small stock that the kernel keeps for each CPU and map, which it only
 * makes larger, by an interrupt, once something was taken. A switch may need two at once, with
 * interrupts off. So one of each is taken on each CPU, before the programs are attached; where that
 * cannot be, new stacks may be lost at first.
 */
void stack_store__fill_stocks(const struct stack_store *s);

/*
 * Fetches a stack, which the caller frees. One that is not there is lost: *stack stays as it is. So is
 * one that does not hash to where it stands: a program that can be preempted may find that another
 * task's walk has come between its own and the storing of it.
 */
int stack_store__fetch(const struct stack_store *s, const struct stack_id *id,
		       struct stack **stack);

/* Fills in s->sample, which is the store's until the next read. */
int stack_store__read(struct stack_store *s);

/* Forgets all that was read, where the last read took a turn: to be called before the next one. */
void stack_store__begin_anew(struct stack_store *s);

/* n: keys that there are, of which nidle have not grown since the last time. */
bool stack_store__is_due(const struct stack_store *s, size_t n, size_t nidle);
/* Stacks in the kernel's maps. */
u64 stack_store__in_maps(const struct stack_store *s);
int stack_store__begin_turn(struct stack_store *s);
void stack_store__hold(struct stack_store *s, const struct stack_id *id);
void stack_store__end_turn(struct stack_store *s);
/* In its place: nothing is taken out. */
void stack_store__leave_all(struct stack_store *s);

/*
 * Between two reads: takes the stacks that are marked, and what was counted by them, out of the kernel's maps and
 * out of s. Nothing may be added to those any more. 0 or -ENOMEM.
 */
int stack_store__drop_marked(struct stack_store *s);

void stack_store__free(struct stack_store *s);

#endif /* TALLY_STACK_STORE_H */
