/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples CPUs by time: a timer (perf event cpu-clock) on each CPU runs a program at a fixed rate,
 * whatever runs there, and missed samples are counted.
 */
#ifndef TALLY_STACK_SAMPLER_H
#define TALLY_STACK_SAMPLER_H

#include "base/types.h"

#include "bpf/lib/scope.h"

struct sampler_cpu {
	int cpu;
	int fd;                 /* of the event; -1: none, or the CPU went offline, with its timer */
	u64 idle_before_ns;     /* idle time in /proc/stat when sampling began */
	u64 missed;             /* missed samples since the start */
};

struct sampler {
	u64 hz;                 /* samples a second, */
	u64 period_ns;          /* or, if not 0, one sample per period */
	bool idle_counts;       /* samples of an idle CPU can be missed too */
	struct sampler_cpu *cpu;
	size_t n;
	u64 armed_ns;           /* CLOCK_MONOTONIC, the timers' clock */
	u64 disarmed_ns;        /* likewise; 0: still sampling */
	u64 missed;             /* all CPUs, at the last sampler__missed() */
};

/* Samples that the program took on one CPU since the start. */
struct sampler_seen {
	u64 taken;
	u64 idle;               /* of these, while the CPU was idle */
};

/*
 * Checks a rate that was typed: if the kernel does not allow it, reports that and returns -EINVAL. If none was typed
 * (*hz is 0), sets the usual one, or as much as is allowed, with a warning.
 */
int sampler__choose_rate(u64 *hz, u64 usual);

/*
 * Starts a timer on each online CPU in scope. prog_fd may be closed afterwards. Reports errors. Returns 0 or a negative
 * errno. Always call sampler__free().
 */
int sampler__start(struct sampler *s, int prog_fd, const struct scope_config *scope);

/* Call when the programs begin to record: samples are due from here on. */
int sampler__arm(struct sampler *s);

/* Stops sampling; no more samples are due. */
void sampler__disarm(struct sampler *s);

/*
 * Number of samples missed since the last call, given those seen on each possible CPU. The timer
 * may not wake a CPU in a deep idle state; such samples are not missed. So a CPU's missed samples
 * are limited to its non-idle time (/proc/stat), and differences within the statistical error are
 * not counted. *due: taken before reading the seen counts, see sampler__due(). Returns 0 or a
 * negative errno.
 */
u64 sampler__due(const struct sampler *s);
int sampler__missed(struct sampler *s, u64 due, const struct sampler_seen *seen, u64 *missed);

/*
 * Samples missed on a CPU: due samples were due, the program has seen some, and the CPU was idle
 * for idle_ns of elapsed_ns.
 */
u64 samples_missed(u64 hz, u64 due, const struct sampler_seen *seen, u64 elapsed_ns, u64 idle_ns);

void sampler__free(struct sampler *s);

#endif /* TALLY_STACK_SAMPLER_H */
