/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loads of `tally bench`. Each does exactly loops * operations() operations, checks its own
 * work, and fails (machine/bench/crew.h) where a system call or an answer is not what it has to be.
 */
#ifndef TALLY_BENCH_LOAD_H
#define TALLY_BENCH_LOAD_H

#include <sched.h>

#include "machine/bench/crew.h"
#include "base/types.h"

/* What can be asked for, where a load takes it. */
enum load_takes {
	LOAD_GROUPS = 1 << 0,
	LOAD_TASKS = 1 << 1,
	LOAD_THREADS = 1 << 2,
	LOAD_SIZE = 1 << 3,
	LOAD_PIPE = 1 << 4,
	LOAD_SHARED = 1 << 5,
	LOAD_OPTIONS = 6,
};

struct load_options {
	u64 groups;
	u64 tasks;              /* of a group */
	u64 size;               /* bytes of an operation */
	bool threads;           /* tasks are threads of one process */
	bool pipe;              /* pipes, not sockets */
	bool shared;            /* futexes as between processes */
	bool pinned;
	cpu_set_t cpus;         /* if pinned */
};

struct load_run;

struct load {
	const char *name;       /* at most 15 characters: its tasks have it, too */
	const char *summary;
	const char *operation;  /* in the singular */
	u32 takes;              /* enum load_takes, ORed */
	struct load_options usual;      /* groups, tasks: 0 where there are none; LOAD_EACH_CPU */
	u64 least_size, most_size;
	bool moves;             /* an operation moves size bytes */
	u64 (*tasks)(const struct load_options *o);
	u64 (*operations)(const struct load_options *o);        /* of one loop */
	void (*prepare)(struct load_run *run);          /* before there are tasks; or NULL */
	u64 (*work)(struct load_run *run, u32 task);    /* returns the operations it counts */
};

#define LOAD_EACH_CPU UINT64_MAX

/* One run of it, in a process of its own, which ends after that: nothing has to be freed. */
struct load_run {
	const struct load *load;
	const struct load_options *o;
	u64 loops;
	struct crew *crew;
	void *state;            /* the load's own */
};

extern const struct load load_sched_pipe, load_sched_messaging, load_futex_wake, load_futex_hash,
	load_syscall, load_open, load_page_fault, load_fork, load_exec, load_memcpy, load_memset;

extern const struct load *const loads[];
extern const size_t load_count;

/* NULL if there is none. *nearest, if not NULL: the name that may be meant, or NULL. */
const struct load *load__find(const char *name, const char **nearest);

/* "--groups" */
const char *load__option_name(enum load_takes one);

/* In the process of the load: sets it up and does it. */
void load__run(struct load_run *run);

/* For prepare(): memory, zeroed. */
void *load_run__memory(struct load_run *run, u64 n, size_t size);

/* As many as --tasks says: of many loads tasks() and operations(). */
u64 load__tasks_of_options(const struct load_options *o);

#endif /* TALLY_BENCH_LOAD_H */
