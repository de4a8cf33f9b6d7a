/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples CPUs by time: a timer (perf event cpu-clock) on each CPU runs a program at a fixed rate, whatever the CPU is
 * doing. Missed samples are counted.
 */
#ifndef TALLY_STACK_SAMPLER_H
#define TALLY_STACK_SAMPLER_H

#include "base/types.h"

#include "bpf/lib/scope.h"

struct sampler_cpu {
	int cpu;
	int fd;                 /* of the event; -1: none, or the CPU and its timer went offline */
	u64 armed_ns;           /* when sampling began: later than elsewhere on a CPU that came online */
	u64 taken_before, idle_taken_before;    /* samples already taken by an earlier timer of this CPU */
	u64 idle_before_ns;     /* idle time in /proc/stat at that time */
	u64 missed;             /* missed samples since the start */
	u64 missed_idle;        /* with idle_counts: of these, due while the CPU was idle */
	u64 gained_idle;        /* of these, found by the last sampler__missed() */
};

struct sampler {
	u64 hz;                 /* samples per second, */
	u64 period_ns;          /* or, if not 0, one sample per period */
	bool idle_counts;       /* samples of an idle CPU can be missed too */
	struct sampler_cpu *cpu;
	size_t n;
	u64 armed_ns;           /* CLOCK_MONOTONIC, the timers' clock */
	u64 disarmed_ns;        /* CLOCK_MONOTONIC; 0: still sampling */
	u64 missed;             /* all CPUs, at the last sampler__missed() */
};

/* Samples that the program took on one CPU since the start. */
struct sampler_seen {
	u64 taken;
	u64 idle;               /* of these, while the CPU was idle */
};

/*
 * Checks the rate given by the user: if the kernel does not allow it, reports that and returns -EINVAL. If no rate was
 * given (*hz is 0), sets the usual rate, or with a warning the highest allowed rate.
 */
int sampler__choose_rate(u64 *hz, u64 usual);

/*
 * Starts a timer on each online CPU in scope. prog_fd may be closed afterwards. Reports errors. Returns 0 or a negative
 * errno. Always call sampler__free().
 */
int sampler__start(struct sampler *s, int prog_fd, const struct scope_config *scope);

/* Call when the programs begin to record: samples are due from here on. */
int sampler__arm(struct sampler *s);

/*
 * For CPUs that come online after sampler__arm(), or go offline (host/hotplug.h). sampler__add() starts a timer on the
 * CPU, as another struct sampler_cpu, given the samples already seen there; it does not report errors.
 * sampler__remove() removes the timer, which has already ended with its CPU; samples missed after the last
 * sampler__missed() are unknown.
 */
int sampler__add(struct sampler *s, int prog_fd, int cpu, const struct sampler_seen *seen);
void sampler__remove(struct sampler *s, int cpu);

/* Stops sampling; no more samples are due. */
void sampler__disarm(struct sampler *s);

/*
 * Computes the number of samples missed since the last call, given the samples seen on each possible CPU. The timer may
 * not wake a CPU in a deep idle state; such samples are not missed. So a CPU's missed samples are limited to its
 * non-idle time (/proc/stat), and differences within the statistical error are not counted. With idle_counts, all such
 * samples count as missed, and cpu[] holds how many were due while the CPU was idle. *due: taken before reading the
 * seen counts, see sampler__due(). Returns 0 or a negative errno.
 */
u64 sampler__due(const struct sampler *s);
int sampler__missed(struct sampler *s, u64 due, const struct sampler_seen *seen, u64 *missed);

/*
 * Samples missed on a CPU: due samples were due, the program has seen some, and the CPU was idle
 * for idle_ns of elapsed_ns.
 */
u64 samples_missed(u64 hz, u64 due, const struct sampler_seen *seen, u64 elapsed_ns, u64 idle_ns);

/*
 * Divides the samples that a CPU has missed since the start into samples due while it was busy and while it was idle.
 * The result is an estimate, because the idle time is an estimate. A missed sample counted as one kind never becomes
 * the other.
 */
void sampler_cpu__divide(struct sampler_cpu *c, u64 all_missed, u64 busy_missed);

void sampler__free(struct sampler *s);

#endif /* TALLY_STACK_SAMPLER_H */
