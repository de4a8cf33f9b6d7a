// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

const struct load *const loads[] = {
	&load_sched_pipe, &load_sched_messaging, &load_futex_wake, &load_futex_hash,
	&load_syscall, &load_open, &load_page_fault, &load_fork, &load_exec, &load_memcpy,
	&load_memset,
};
const size_t load_count = ARRAY_SIZE(loads);

const struct load *load__find(const char *name, const char **near)
{
	const char *names[ARRAY_SIZE(loads)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		if (!strcmp(loads[i]->name, name))
			return loads[i];
		names[i] = loads[i]->name;
	}
	if (near)
		*near = nearest(name, names, ARRAY_SIZE(names));
	return NULL;
}

const char *load__option_name(enum load_takes one)
{
	switch (one) {
	case LOAD_GROUPS:
		return "--groups";
	case LOAD_TASKS:
		return "--tasks";
	case LOAD_THREADS:
		return "--threads";
	case LOAD_SIZE:
		return "--size";
	case LOAD_PIPE:
		return "--pipe";
	default:
		return "--shared";
	}
}

void *load_run__memory(struct load_run *run, u64 n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		crew__fail(run->crew, "no memory for the load", ENOMEM);
	return memory;
}

u64 load__tasks_of_options(const struct load_options *o)
{
	return o->tasks;
}

static u64 work(void *context, u32 task)
{
	struct load_run *run = context;

	return run->load->work(run, task);
}

void load__run(struct load_run *run)
{
	const struct load_options *o = run->o;

	if (o->pinned && sched_setaffinity(0, sizeof(o->cpus), &o->cpus))
		crew__fail(run->crew, "cannot run on the CPUs of -C", errno);
	if (run->load->prepare)
		run->load->prepare(run);
	crew__run(run->crew, o->threads, work, run);
}
