/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at CPUs by the clock: a timer (perf event cpu-clock) on each CPU runs a program so many
 * times a second, whatever runs there, and the looks that did not come are counted.
 */
#ifndef TALLY_STACK_SAMPLER_H
#define TALLY_STACK_SAMPLER_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/scope.h"

struct sampler_cpu {
	int cpu;
	int fd;                 /* of the event; the link's */
	struct bpf_link *link;  /* NULL: the CPU went offline, and its timer with it */
	u64 idle_before_ns;     /* what the kernel's books said when sampling began */
	u64 missed;             /* samples that did not come, since the start */
};

struct sampler {
	u64 hz;                 /* samples a second, */
	u64 period_ns;          /* or, if this is not 0, one in each such time */
	bool idle_counts;       /* looks at an idle CPU are missed like any others */
	struct sampler_cpu *cpu;
	size_t n;
	u64 armed_ns;           /* CLOCK_MONOTONIC: the one that the timers go by */
	u64 disarmed_ns;        /* likewise; 0: samples still come */
	u64 missed;             /* of all CPUs, as of the last sampler__missed() */
};

/* What the program has seen on one CPU since the start. */
struct sampler_seen {
	u64 taken;
	u64 idle;               /* of these, looks at an idle CPU */
};

/* Does the kernel allow such a rate? Says so if not, and returns -EINVAL. */
int sampler__check_rate(u64 hz);

/*
 * Starts a timer on each CPU that is online and in scope. Says what is wrong. Returns 0 or a
 * negative errno. sampler__free() in any case.
 */
int sampler__start(struct sampler *s, const struct bpf_program *prog,
		   const struct scope_config *scope);

/* From here on samples are due: to be called when the programs begin to record. */
int sampler__arm(struct sampler *s);

/* No more samples come, nor are due. */
void sampler__disarm(struct sampler *s);

/*
 * How many samples did not come since the last call, by what has been seen on each possible CPU.
 * A CPU that sleeps deeply may not be woken by the timer; nothing is missed there. So no more are
 * missed than the time in which the CPU was not idle accounts for (/proc/stat), nor are they where
 * the difference is as small as chance makes it. *due: before what has been seen was read, see
 * sampler__due(). Returns 0 or a negative errno.
 */
u64 sampler__due(const struct sampler *s);
int sampler__missed(struct sampler *s, u64 due, const struct sampler_seen *seen, u64 *missed);

/*
 * The samples missed on a CPU on which due were due, some were seen, and which was idle for
 * idle_ns of elapsed_ns.
 */
u64 samples_missed(u64 hz, u64 due, const struct sampler_seen *seen, u64 elapsed_ns, u64 idle_ns);

void sampler__free(struct sampler *s);

#endif /* TALLY_STACK_SAMPLER_H */
