/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts that a BPF program asks for on its own CPU: output to a perf event that wakes its
 * readers with each record makes the kernel send itself one (irq_work). Nobody reads these events;
 * what they record overwrites itself.
 */
#ifndef TALLY_STACK_KICKS_H
#define TALLY_STACK_KICKS_H

#include "base/types.h"

struct kick_cpu {
	int fd;
	void *buffer;
};

/* All zero: none. */
struct kicks {
	struct kick_cpu *cpu;
	size_t n;
	size_t buffer_size;
};

/*
 * An event on each CPU that is online, into a map of perf events. Returns 0 or a negative errno;
 * kicks__close() in any case.
 */
int kicks__open(struct kicks *k, int map_fd);
void kicks__close(struct kicks *k);

#endif /* TALLY_STACK_KICKS_H */
