// SPDX-License-Identifier: BSD-2-Clause
/* Memory loads: copying, setting and touching memory for the first time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machine/bench/load.h"

/* Volatile pointers: the compiler can neither omit nor merge calls. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile set)(void *, int, size_t) = memset;

/* The source and target of copies. Each task has its own, touched in advance. */
struct buffers {
	char *from, *to;
};

static void copy_prepare(struct load_run *run)
{
	struct buffers *b = load_run__memory(run, run->o->tasks, sizeof(*b));
	u64 size = run->o->size, i;

	for (i = 0; i < run->o->tasks; i++) {
		b[i].from = load_run__memory(run, size, 1);
		b[i].to = load_run__memory(run, size, 1);
		memset(b[i].from, 0x55, size);
		memset(b[i].to, 0xaa, size);
	}
	run->state = b;
}

/* The last byte changes each time, so that a copy that did not happen is detected. */
static u64 copy_work(struct load_run *run, u32 task)
{
	const struct buffers *b = (struct buffers *)run->state + task;
	u64 size = run->o->size, i;

	for (i = 0; i < run->loops; i++) {
		b->from[size - 1] = i;
		copy(b->to, b->from, size);
		if (((volatile char *)b->to)[size - 1] != (char)i)
			crew__fail(run->crew, "memcpy() did not copy", 0);
	}
	if (memcmp(b->to, b->from, size))
		crew__fail(run->crew, "memcpy() did not copy all bytes", 0);
	return i;
}

const struct load load_memcpy = {
	.name = "memcpy",
	.summary = "the C library's memcpy(3)",
	.operation = "copy",
	.takes = LOAD_TASKS | LOAD_SIZE,
	.usual = { .tasks = 1, .size = 1 << 20, .threads = true },
	.least_size = 1,
	.most_size = 1ULL << 30,
	.moves = true,
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.prepare = copy_prepare,
	.work = copy_work,
};

static u64 set_work(struct load_run *run, u32 task)
{
	const struct buffers *b = (struct buffers *)run->state + task;
	u64 size = run->o->size, i;

	for (i = 0; i < run->loops; i++) {
		set(b->to, (char)i, size);
		if (((volatile char *)b->to)[size - 1] != (char)i)
			crew__fail(run->crew, "memset() did not set", 0);
	}
	/* All bytes must be equal to the first one, which must have the value set last. */
	if (b->to[0] != (char)(i - 1) || memcmp(b->to, b->to + 1, size - 1))
		crew__fail(run->crew, "memset() did not set all bytes", 0);
	return i;
}

const struct load load_memset = {
	.name = "memset",
	.summary = "the C library's memset(3)",
	.operation = "memset",
	.takes = LOAD_TASKS | LOAD_SIZE,
	.usual = { .tasks = 1, .size = 1 << 20, .threads = true },
	.least_size = 1,
	.most_size = 1ULL << 30,
	.moves = true,
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.prepare = copy_prepare,
	.work = set_work,
};

/*
 * --- page-fault --------------------------------------------------------------------------------
 */

#define PAGES 256               /* mapped, touched and unmapped in one loop */

static u64 minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static u64 fault_work(struct load_run *run, u32 task)
{
	u64 page = sysconf(_SC_PAGESIZE), before = minor_faults(), i, k;
	char *m;

	(void)task;
	for (i = 0; i < run->loops; i++) {
		m = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		if (m == MAP_FAILED)
			crew__fail(run->crew, "cannot map memory", errno);
		/* Ensures one fault per page. Kernels without huge pages return an error, which is harmless. */
		madvise(m, PAGES * page, MADV_NOHUGEPAGE);
		for (k = 0; k < PAGES; k++)
			((volatile char *)m)[k * page] = 1;
		if (munmap(m, PAGES * page))
			crew__fail(run->crew, "cannot unmap memory", errno);
	}
	if (minor_faults() - before < run->loops * PAGES)
		crew__fail(run->crew, "there were fewer page faults than pages", 0);
	return i * PAGES;
}

static u64 fault_operations(const struct load_options *o)
{
	return o->tasks * PAGES;
}

const struct load load_page_fault = {
	.name = "page-fault",
	.summary = "pages of new memory, touched for the first time; 256 per mmap(2)",
	.operation = "page",
	.takes = LOAD_TASKS | LOAD_THREADS,
	.usual = { .tasks = 1 },
	.tasks = load__tasks_of_options,
	.operations = fault_operations,
	.work = fault_work,
};
