// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/load.h"

#include <errno.h>
#include <stdlib.h>

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
