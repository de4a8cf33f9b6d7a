/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/lib/stack.bpf.h: sizes its maps and reads their counts.
 *
 *   stack_store__prepare()   between open and load
 *   stack_store__begin()     after load
 *   stack_store__read()      counts since the last call
 *   stack_store__free()
 *
 * Functions return 0 or a negative errno. Counts are read as differences, and each stack is fetched once. Entries are
 * removed from the kernel's maps: stack_store__drop_marked() removes entries of ended programs, and a turn removes all
 * entries that no program will update or refer to. A turn is due when the maps are a quarter full, or when most entries
 * have not grown.
 *
 *   stack_store__is_due()      true if a turn is due
 *   stack_store__begin_turn()  begins a new generation (bpf/lib/stack.bpf.h): marks all entries for removal ...
 *   stack_store__hold()        ... except these stacks
 *   stack_store__end_turn()    removes the rest
 *
 * stack_store__read() does all of these steps if counts are keyed by struct stack_key.
 */
#ifndef TALLY_STACK_STORE_H
#define TALLY_STACK_STORE_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "base/table.h"

#include "bpf/lib/stack.h"

/* Default number of stacks: allocated on demand, or (before 6.1) at once. */
#define STACKS_ON_DEMAND 131072
#define STACKS_AT_ONCE 8192

/* Returns the kernel's limit of frames in a stack walk (kernel.perf_event_max_stack). */
u32 stack_walk_limit(void);

/* The count of one key since the last read. */
struct stack_sample {
	const struct stack_key *key;
	const struct stack *stack;      /* NULL: lost */
	const struct stack_count *newest;       /* for its name */
	u64 count;              /* UINT64_MAX: saturated */
};

struct stack_classes {
	int fd;
	u32 frames;             /* depth limit of this map */
	u32 room;               /* capacity in stacks */
};

struct stack_store {
	int counts_fd;
	u32 counts_room;
	u64 seed;               /* of the programs' hashes */
	struct stack_classes class[3];
	/* All keys ever read, by first appearance; values as of the last read. */
	size_t nkeys;
	struct stack_key *key;
	struct stack_count *value;
	u32 *stack_of;          /* index into stack */
	struct table by_key;
	/* All stacks, each fetched once. */
	size_t nstacks;
	struct stack **stack;
	u64 *hash;
	struct table by_hash;
	/* Result of the last read. */
	struct stack_sample *sample;
	size_t nsamples;
	size_t nidle;           /* keys that did not grow */
	bool stale;             /* the last read did a turn: the next read starts from scratch */
	/* Turns; NULL: no turns are taken. */
	volatile u32 *generation;
	const volatile u8 *armed;       /* the gate */
	const volatile u64 *stored;     /* per class, counted in the kernel */
	u64 turned_ns;          /* time of the last turn, CLOCK_MONOTONIC */
	u64 taken[3];           /* number removed from the maps */
	struct bpf_program *show_held;  /* writes ids of stacks with pending counts; NULL: none */
	/* The current turn: stacks to remove unless they are held. */
	size_t nold;
	struct stack_leaving *old;
	struct table by_old;
};

struct stack_leaving {
	u64 hash;
	u32 class;
	bool is_held;
};

/*
 * Sizes the stack maps, and the map called counts (NULL: none), for a number of stacks (0: this kernel's default) of at
 * most depth kernel frames and depth user frames, plus as many Python frames if python is set. repeats: intervals
 * follow, so leave room for the keys of the next one (map__set_room_for_keys()).
 */
int stack_store__prepare(struct bpf_object *obj, const struct host *host, const char *counts,
			 u32 stacks, u32 depth, bool python, bool repeats);
int stack_store__begin(struct stack_store *s, const struct bpf_object *obj, const char *counts,
		       u64 seed);

/*
 * The kernel allocates map elements from a small per-CPU stock per map, which an interrupt refills and enlarges only
 * after an allocation. A context switch may need two elements at once, with interrupts off. So this function allocates
 * one element of each map on each CPU. Call it before the programs are attached. If the allocation is impossible, the
 * first new stacks may be lost.
 */
void stack_store__fill_stocks(const struct stack_store *s);

/*
 * Fetches a stack, which the caller frees. *stack is unchanged if the stack is lost: it is missing, or its hash does
 * not match its slot. (In a preemptible program, another task's walk may have overwritten the buffer between walking
 * and storing.)
 */
int stack_store__fetch(const struct stack_store *s, const struct stack_id *id,
		       struct stack **stack);

/* Fills in s->sample, valid until the next read. */
int stack_store__read(struct stack_store *s);

/* Forgets everything read. Call it after a read that did a turn, before the next read. */
void stack_store__begin_anew(struct stack_store *s);

/* True if a turn is due. n: existing keys, of which nidle did not grow since the last read. */
bool stack_store__is_due(const struct stack_store *s, size_t n, size_t nidle);
/* Stacks in the kernel's maps. */
u64 stack_store__in_maps(const struct stack_store *s);
int stack_store__begin_turn(struct stack_store *s);
void stack_store__hold(struct stack_store *s, const struct stack_id *id);
void stack_store__end_turn(struct stack_store *s);
/* Replaces stack_store__end_turn(): removes nothing. */
void stack_store__leave_all(struct stack_store *s);

/*
 * Between two reads: removes the marked stacks and their counts from the kernel's maps and from s.
 * No program may still add to them. Returns 0 or -ENOMEM.
 */
int stack_store__drop_marked(struct stack_store *s);

void stack_store__free(struct stack_store *s);

#endif /* TALLY_STACK_STORE_H */
