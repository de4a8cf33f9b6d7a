/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's software events minor-faults and major-faults, with a program run for each one
 * (bpf/memory/faults.bpf.c), and the number of events for which no program ran.
 */
#ifndef TALLY_MEMORY_FAULT_EVENTS_H
#define TALLY_MEMORY_FAULT_EVENTS_H

#include "event/sampled.h"
#include "run/measurement.h"

#define FAULT_EVENTS 2          /* minor, major */

struct fault_events {
	bool only_major;
	int taken_fd;           /* map of the programs' counts, struct faults_taken */
	struct sampled_event event[FAULT_EVENTS];
	u64 counted[FAULT_EVENTS], taken[FAULT_EVENTS];
	s64 behind[FAULT_EVENTS];       /* events counted by the kernel for which no program has run yet */
};

/*
 * Both functions report errors, and return 0 or a negative errno. Call fault_events__free() in
 * either case.
 */
int fault_events__start(struct fault_events *e, const struct measurement *m,
			const struct bpf_program *const program[FAULT_EVENTS], int taken_fd);

/* Counts the events since the last call that the kernel counted, but for which no program ran. */
int fault_events__missed(struct fault_events *e, const struct measurement *m, u64 *missed);

void fault_events__free(struct fault_events *e);

#endif /* TALLY_MEMORY_FAULT_EVENTS_H */
