/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of samples: the clock, with a timer of its own on each CPU, or a named event; and the number of samples
 * that were due but missing. A run may sample several events (profile/events.h).
 *
 *   sampling__check()      checks that the options fit together
 *   sampling__find()       resolves the event on this machine
 *   sampling__start()      after the programs are loaded
 *   sampling__arm()        with the gate
 *   sampling__settle()     just before the stacks of a report are read,
 *   sampling__count()      and after they are read
 *   sampling__free()       in any case
 *
 * All but settle() and count() report errors. They return 0 or a negative errno.
 */
#ifndef TALLY_PROFILE_SAMPLING_H
#define TALLY_PROFILE_SAMPLING_H

#include "event/sampled.h"
#include "report/report.h"
#include "run/measurement.h"
#include "stack/sampler.h"
#include "stack/throttled.h"

#include "bpf/profile/profile.h"

#define SAMPLING_SOURCE 160             /* size of the buffer for a description */
#define SAMPLING_DEFAULT_HZ 99          /* does not coincide with the scheduler's tick */

struct sampling {
	/* Set by options. */
	const char *typed;              /* -e; NULL: the clock, after sampling__check() */
	u64 hz, every;                  /* -F, -c; 0 if not given */
	bool with_idle;                 /* samples of idle CPUs are due, too */
	u32 slot;                       /* number of the event in the programs; 0 if it is the only one */

	struct sampler sampler;         /* for the clock */
	struct sampled_event event;
	struct throttled throttled;
	int samples_fd;                 /* the programs' map of struct profile_samples, or -1 */
	int prog_fd;                    /* 1 + the program, for CPUs that come online; 0 if there is none */
	u64 missed;                     /* samples by the clock that were missed since the last report */
	struct profile_samples seen;    /* samples of all CPUs, as of the last report */
	u64 counted;                    /* events that the kernel itself has counted, as of the last report */
	s64 behind;                     /* how many of these events have not reached the programs yet */
	u64 lost;                       /* events and samples missed in this report; after sampling__count() */
	char source[SAMPLING_SOURCE];               /* source of the report; valid after sampling__find() */
};

int sampling__check(struct sampling *s);
int sampling__find(struct sampling *s);

/* Whether a sample stands for a number of events instead of a length of time. */
bool sampling__is_weighted(const struct sampling *s);

/* Whether a sample stands for more than its own event. */
bool sampling__is_estimate(const struct sampling *s);

/* The event under perf's name: "cpu-clock", "page-faults". Valid after sampling__find(). */
const char *sampling__name(const struct sampling *s);

/*
 * How much a sample stands for, in ns or, if it is weighted, in events. Returns 0 if this is unknown, because each
 * sample stands for another number.
 */
u64 sampling__period(const struct sampling *s);

/* Explains how the instruction of a sample relates to the event. Returns static text. */
const char *sampling__describe_place(const struct sampling *s);

/* prog_fd: a program with this slot; may be closed afterwards. Throttling wakes the run. */
int sampling__start(struct sampling *s, struct measurement *m, int prog_fd, int samples_fd);

/*
 * Adapts to a CPU that has gone offline or come online (host/hotplug.h). Does not report errors. Returns 0 or a
 * negative errno.
 */
int sampling__change_cpu(struct sampling *s, const struct measurement *m, int cpu, bool online);

/* To be called when the gate opens and when it closes: samples are due in between. */
int sampling__arm(struct sampling *s, const struct measurement *m);
void sampling__disarm(struct sampling *s);

/*
 * Determines how many samples were missed. Must be called before names are resolved: this takes long, and sampling
 * continues.
 */
int sampling__settle(struct sampling *s, const struct measurement *m);

/*
 * Adds the number of missed events. If samples are weighted, or other events are sampled too, also adds the number of
 * filtered events to r->counters.filtered, which must be 0 before the first call. alone: no other event is sampled, so
 * losses of samples are converted to losses of events.
 */
int sampling__count(struct sampling *s, const struct measurement *m, struct report *r, bool alone);

void sampling__free(struct sampling *s);

#endif /* TALLY_PROFILE_SAMPLING_H */
