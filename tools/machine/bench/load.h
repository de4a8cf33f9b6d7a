/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loads of `tally bench`. Each does exactly loops * operations() operations, verifies its own
 * work, and fails (machine/bench/crew.h) if a system call or a result is wrong.
 */
#ifndef TALLY_BENCH_LOAD_H
#define TALLY_BENCH_LOAD_H

#include <sched.h>

#include "machine/bench/crew.h"
#include "base/types.h"

/* Options that a load may accept. */
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
	u64 tasks;              /* tasks per group */
	u64 size;               /* bytes per operation */
	bool threads;           /* tasks are threads of one process */
	bool pipe;              /* pipes instead of sockets */
	bool shared;            /* futexes are shared between processes */
	bool pinned;
	cpu_set_t cpus;         /* CPUs to pin the tasks to */
};

struct load_run;

struct load {
	const char *name;       /* at most 15 characters, because tasks get this name, too */
	const char *summary;
	const char *operation;  /* singular */
	u32 takes;              /* enum load_takes, ORed */
	struct load_options usual;      /* defaults; groups and tasks are 0 if unused, or LOAD_EACH_CPU */
	u64 least_size, most_size;
	bool moves;             /* an operation moves size bytes */
	u64 (*tasks)(const struct load_options *o);
	u64 (*operations)(const struct load_options *o);        /* number of operations in one loop */
	void (*prepare)(struct load_run *run);          /* runs before the tasks start; may be NULL */
	u64 (*work)(struct load_run *run, u32 task);    /* returns the number of operations done */
};

#define LOAD_EACH_CPU UINT64_MAX

/* One run of a load, in a process of its own that ends afterwards, so that nothing needs to be freed. */
struct load_run {
	const struct load *load;
	const struct load_options *o;
	u64 loops;
	struct crew *crew;
	void *state;            /* owned by the load */
};

extern const struct load load_sched_pipe, load_sched_messaging, load_futex_wake, load_futex_hash,
	load_syscall, load_open, load_page_fault, load_fork, load_exec, load_memcpy, load_memset;

extern const struct load *const loads[];
extern const size_t load_count;

/*
 * Returns NULL if there is no such load. Unless nearest is NULL, *nearest is then the most similar
 * name, or NULL.
 */
const struct load *load__find(const char *name, const char **nearest);

/* "--groups" */
const char *load__option_name(enum load_takes one);

/* Sets up and runs the load, in the load's process. */
void load__run(struct load_run *run);

/* For prepare(): allocates zeroed memory. */
void *load_run__memory(struct load_run *run, u64 n, size_t size);

/* Returns the number of --tasks; used as tasks() and operations() of many loads. */
u64 load__tasks_of_options(const struct load_options *o);

#endif /* TALLY_BENCH_LOAD_H */
