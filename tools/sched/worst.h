/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The longest waits (absences, slices) of all CPUs, from the heaps in the kernel
 * (bpf/sched/timehist.bpf.c). The heap of each CPU contains the N longest of this CPU, so the N
 * longest of all CPUs are among them.
 */
#ifndef TALLY_SCHED_WORST_H
#define TALLY_SCHED_WORST_H

#include "base/types.h"

#include "bpf/lib/switches.h"

struct worst {
	struct switches_worst *entry;
	size_t n;
};

/* Reads the heaps, and skips empty entries. Returns 0 or a negative errno. */
int worst__read(struct worst *w, int map_fd, u32 max_entries);

/* Adds the entries of tasks currently on a CPU (iterator show_running), read from fd. */
int worst__read_running(struct worst *w, int fd);

/*
 * Sorts the longest first, and keeps at most `most`. If a task left its CPU between the two
 * readings, the entry taken while it ran is dropped.
 */
void worst__settle(struct worst *w, size_t most);

int worst__add(struct worst *w, const struct switches_worst *entry);
void worst__free(struct worst *w);

#endif /* TALLY_SCHED_WORST_H */
