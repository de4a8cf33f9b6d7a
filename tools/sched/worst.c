// SPDX-License-Identifier: BSD-2-Clause
#include "sched/worst.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/iterator.h"

int worst__add(struct worst *w, const struct switches_worst *entry)
{
	return ARRAY_APPEND(w->entry, w->n, *entry);
}

int worst__read(struct worst *w, int map_fd, u32 max_entries)
{
	int ncpus = libbpf_num_possible_cpus(), cpu, err = 0;
	struct switches_worst *per_cpu;
	u32 i;

	if (ncpus < 0)
		return ncpus;
	per_cpu = calloc(ncpus, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	for (i = 0; i < max_entries && !err; i++) {
		err = bpf_map_lookup_elem(map_fd, &i, per_cpu);
		for (cpu = 0; cpu < ncpus && !err; cpu++)
			if (per_cpu[cpu].value)
				err = worst__add(w, &per_cpu[cpu]);
	}
	free(per_cpu);
	return err;
}

static int add_running(void *context, const void *entry)
{
	return worst__add(context, entry);
}

int worst__read_running(struct worst *w, int fd)
{
	return iterator__each(fd, sizeof(struct switches_worst), add_running, w);
}

/* Longest first. If two entries belong to the same wait, the completed one comes first. */
static int compare(const void *a, const void *b)
{
	const struct switches_worst *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->record.task.tid != y->record.task.tid)
		return x->record.task.tid < y->record.task.tid ? -1 : 1;
	if (x->record.run_ns != y->record.run_ns)
		return x->record.run_ns < y->record.run_ns ? -1 : 1;
	return 0;
}

static bool is_same_wait(const struct switches_worst *ended, const struct switches_worst *running)
{
	return running->record.run_ns == SWITCHES_UNKNOWN && ended->value == running->value &&
	       ended->record.task.tid == running->record.task.tid && ended->record.off_ns == running->record.off_ns &&
	       ended->record.wait_ns == running->record.wait_ns;
}

void worst__settle(struct worst *w, size_t most)
{
	size_t i, n = 0;

	if (w->n)
		qsort(w->entry, w->n, sizeof(*w->entry), compare);
	for (i = 0; i < w->n && n < most; i++)
		if (!n || !is_same_wait(&w->entry[n - 1], &w->entry[i]))
			w->entry[n++] = w->entry[i];
	w->n = n;
}

void worst__free(struct worst *w)
{
	free(w->entry);
	*w = (struct worst){};
}
