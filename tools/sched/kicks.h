/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets a BPF program raise an interrupt on its own CPU: output to a perf event that wakes its
 * readers with each record makes the kernel queue an irq_work. No process reads these events, and
 * their buffers overwrite old records.
 */
#ifndef TALLY_STACK_KICKS_H
#define TALLY_STACK_KICKS_H

#include "base/types.h"

struct kick_cpu {
	int fd;
	void *buffer;
};

/* A zeroed struct has no events. */
struct kicks {
	struct kick_cpu *cpu;
	size_t n;
	size_t buffer_size;
};

/*
 * Opens an event on each online CPU, and puts it into a map of perf events. Returns 0 or a negative
 * errno. Call kicks__close() in either case.
 */
int kicks__open(struct kicks *k, int map_fd);
void kicks__close(struct kicks *k);

#endif /* TALLY_STACK_KICKS_H */
