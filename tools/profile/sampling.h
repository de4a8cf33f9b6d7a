/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `profile` takes its samples of: the clock, which has a timer of its own on each CPU, or an
 * event that was named; and the samples that should have come and did not.
 *
 *   sampling__check()      is what was asked for one thing?
 *   sampling__find()       what it is here
 *   sampling__start()      once bpf/profile/profile.bpf.c is loaded
 *   sampling__arm()        with the gate
 *   sampling__settle()     just before the stacks of a report are read,
 *   sampling__count()      and after that
 *   sampling__free()       in any case
 *
 * All but the two of a report say what is wrong. They return 0 or a negative errno.
 */
#ifndef TALLY_PROFILE_SAMPLING_H
#define TALLY_PROFILE_SAMPLING_H

#include "event/sampled.h"
#include "report/report.h"
#include "run/measurement.h"
#include "stack/sampler.h"
#include "stack/throttled.h"

#include "bpf/profile/profile.h"

#define SAMPLING_DEFAULT_HZ 99          /* not in step with the scheduler's tick */

struct sampling {
	/* What was asked for. */
	const char *typed;              /* -e; NULL: the clock, after sampling__check() */
	u64 hz, every;                  /* -F, -c; 0: not said */
	bool with_idle;                 /* samples of idle CPUs are due like others */

	struct sampler sampler;         /* by the clock */
	struct sampled_event event;
	struct throttled throttled;
	int samples_fd;                 /* the programs' map of struct profile_samples */
	u64 missed;                     /* samples by the clock, since the last report */
	struct profile_samples seen;    /* of all CPUs, as of the last report */
	u64 counted;                    /* events the kernel itself has counted, likewise */
	s64 behind;                     /* how many of these the programs have not been told of */
	char source[160];               /* of the report; after sampling__find() */
};

int sampling__check(struct sampling *s);
int sampling__find(struct sampling *s);

/* Does a sample stand for a number of events, and not for a piece of time? */
bool sampling__is_weighted(const struct sampling *s);

/* How much a sample stands for, in ns or, if it is weighted, in events; 0: not known, each for another number. */
u64 sampling__period(const struct sampling *s);

/* What the instruction that a sample is at has to do with what was counted. Static. */
const char *sampling__describe_place(const struct sampling *s);

/* prog: the one that fits, which nothing else attaches. Throttling wakes the run. */
int sampling__start(struct sampling *s, struct measurement *m, const struct bpf_program *prog,
		    int samples_fd);

/* The programs' gate is open from here on, and closed now: what is due begins and ends. */
int sampling__arm(struct sampling *s, const struct measurement *m);
void sampling__disarm(struct sampling *s);

/* Finding names takes long, and samples go on: so what is missed is found before. */
int sampling__settle(struct sampling *s, const struct measurement *m);

/* Adds what was missed, and turns losses of samples into those of events. */
int sampling__count(struct sampling *s, const struct measurement *m, struct report *r);

void sampling__free(struct sampling *s);

#endif /* TALLY_PROFILE_SAMPLING_H */
