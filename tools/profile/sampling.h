/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of samples: the clock, with a timer of its own on each CPU, or a named event; and the samples that were
 * due and did not come. A run may sample several (profile/events.h).
 *
 *   sampling__check()      do the options fit together?
 *   sampling__find()       resolves the event on this machine
 *   sampling__start()      once the programs are loaded
 *   sampling__arm()        with the gate
 *   sampling__settle()     just before the stacks of a report are read,
 *   sampling__count()      and after that
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

#define SAMPLING_SOURCE 160             /* room for a description */
#define SAMPLING_DEFAULT_HZ 99          /* does not coincide with the scheduler's tick */

struct sampling {
	/* Set by options. */
	const char *typed;              /* -e; NULL: the clock, after sampling__check() */
	u64 hz, every;                  /* -F, -c; 0: not said */
	bool with_idle;                 /* samples of idle CPUs are due like others */
	u32 slot;                       /* of the event in the programs: 0, or its number of several */

	struct sampler sampler;         /* for the clock */
	struct sampled_event event;
	struct throttled throttled;
	int samples_fd;                 /* the programs' map of struct profile_samples; -1: none */
	int prog_fd;                    /* the program, for CPUs that come online, plus 1; 0: none */
	u64 missed;                     /* samples by the clock, since the last report */
	struct profile_samples seen;    /* of all CPUs, as of the last report */
	u64 counted;                    /* events the kernel itself has counted, likewise */
	s64 behind;                     /* how many of these the programs have not been told of */
	u64 lost;                       /* events and samples missed in the current report; after sampling__count() */
	char source[SAMPLING_SOURCE];               /* of the report; after sampling__find() */
};

int sampling__check(struct sampling *s);
int sampling__find(struct sampling *s);

/* Whether a sample stands for a number of events instead of a length of time. */
bool sampling__is_weighted(const struct sampling *s);

/* Whether that is more than the one event of the sample. */
bool sampling__is_estimate(const struct sampling *s);

/* The event as perf names it: "cpu-clock", "page-faults". After sampling__find(). */
const char *sampling__name(const struct sampling *s);

/* How much a sample stands for, in ns or, if it is weighted, in events; 0: not known, each for another number. */
u64 sampling__period(const struct sampling *s);

/* Explains how the instruction of a sample relates to the event. Static text. */
const char *sampling__describe_place(const struct sampling *s);

/* prog_fd: the program that fits, with the slot in it; may be closed afterwards. Throttling wakes the run. */
int sampling__start(struct sampling *s, struct measurement *m, int prog_fd, int samples_fd);

/*
 * Follows a CPU that has gone offline or come online since: host/hotplug.h. Reports nothing. Returns 0 or a negative
 * errno.
 */
int sampling__change_cpu(struct sampling *s, const struct measurement *m, int cpu, bool online);

/* Call when the gate opens and when it closes: samples are due in between. */
int sampling__arm(struct sampling *s, const struct measurement *m);
void sampling__disarm(struct sampling *s);

/* Finds what was missed. Called before names are resolved, which takes long while samples go on. */
int sampling__settle(struct sampling *s, const struct measurement *m);

/*
 * Adds what was missed. If samples are weighted, or others are sampled too, also adds what was filtered, to zero.
 * alone: no other event is sampled, so losses of samples are turned into losses of events.
 */
int sampling__count(struct sampling *s, const struct measurement *m, struct report *r, bool alone);

void sampling__free(struct sampling *s);

#endif /* TALLY_PROFILE_SAMPLING_H */
