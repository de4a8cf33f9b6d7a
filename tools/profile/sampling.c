// SPDX-License-Identifier: BSD-2-Clause
#include "profile/sampling.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/diag.h"

int sampling__check(struct sampling *s)
{
	if (s->every && s->hz) {
		diag_error("-c and -F cannot be combined");
		return -EINVAL;
	}
	if (s->every && !s->typed) {
		diag_error("-c needs -e");
		return -EINVAL;
	}
	/* The clock has its own timer, so that the times at which samples are due are known. */
	if (s->typed && !strcmp(s->typed, "cpu-clock"))
		s->typed = NULL;
	s->sampler.hz = s->hz;
	s->sampler.period_ns = s->typed ? 0 : s->every;
	s->sampler.idle_counts = s->with_idle;
	s->event.hz = s->hz;
	s->event.every = s->every;
	/* Events need not have a rate: see sampling__find(). */
	if (s->every || (s->typed && !s->hz))
		return 0;
	return sampler__choose_rate(&s->sampler.hz, SAMPLING_DEFAULT_HZ);
}

static void describe_clock(struct sampling *s)
{
	static const char how[] = "on each CPU (a timer; no hardware counter is used)";

	if (s->sampler.period_ns)
		snprintf(s->source, sizeof(s->source), "cpu-clock, every %llu ns %s",
			 s->sampler.period_ns, how);
	else
		snprintf(s->source, sizeof(s->source), "cpu-clock, %llu times a second %s",
			 s->sampler.hz, how);
}

int sampling__find(struct sampling *s)
{
	int err;

	if (!s->typed) {
		describe_clock(s);
		return 0;
	}
	err = sampled_event__find(&s->event, s->typed, SAMPLING_DEFAULT_HZ);
	if (!err && !s->hz && s->event.hz == SAMPLING_DEFAULT_HZ) {
		s->event.hz = 0;
		err = sampler__choose_rate(&s->event.hz, SAMPLING_DEFAULT_HZ);
	}
	if (!err)
		sampled_event__describe(&s->event, s->source, sizeof(s->source));
	return err;
}

bool sampling__is_weighted(const struct sampling *s)
{
	return s->typed && !s->event.is_time;
}

bool sampling__is_estimate(const struct sampling *s)
{
	return sampling__is_weighted(s) && s->event.every != 1;
}

const char *sampling__name(const struct sampling *s)
{
	return s->typed ? sampled_event__name(&s->event) : "cpu-clock";
}

u64 sampling__period(const struct sampling *s)
{
	u64 every = s->typed ? s->event.every : s->sampler.period_ns;
	u64 hz = s->typed ? s->event.hz : s->sampler.hz;

	if (every || sampling__is_weighted(s))
		return every;
	return hz ? NSEC_PER_SEC / hz : 0;      /* the kernel's own conversion, for clocks */
}

static bool is_page_fault(u64 software)
{
	return software == PERF_COUNT_SW_PAGE_FAULTS || software == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       software == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
}

const char *sampling__describe_place(const struct sampling *s)
{
	const struct event *e = s->typed ? &s->event.events.event[0] : NULL;

	if (!sampling__is_weighted(s))
		return "a sample shows the next instruction when the timer fired: the time of a slow instruction "
		       "shows at the following instruction, and that of code with interrupts off where it enables "
		       "them again";
	if (e->type == EVENT_SOFTWARE && is_page_fault(e->attr.config))
		return "a sample shows the instruction that faulted";
	if (e->type == EVENT_SOFTWARE)
		return "a sample shows where the kernel counts the event";
	if (e->type == EVENT_BREAKPOINT)
		return "a sample shows the instruction after the access to the address";
	if (e->modifiers.precise > 1)
		return "a sample shows the instruction that caused the event (:pp)";
	return "a sample shows an instruction some way after the cause of the event, as the CPU runs on (skid); :pp "
	       "asks for the instruction itself";
}

static struct profile_samples *read_samples(const struct sampling *s, const struct measurement *m)
{
	struct profile_samples *samples = calloc(m->run->host.cpus_possible, sizeof(*samples));

	if (samples && bpf_map_lookup_elem(s->samples_fd, &s->slot, samples)) {
		free(samples);
		samples = NULL;
	}
	return samples;
}

/* Reads how many samples the programs have taken on all CPUs since the last call. */
static int take_seen(struct sampling *s, const struct measurement *m,
		     struct profile_samples *gained)
{
	struct profile_samples *samples = read_samples(s, m), now = {};
	int i;

	if (!samples)
		return -ENOMEM;
	for (i = 0; i < m->run->host.cpus_possible; i++) {
		now.taken += samples[i].taken;
		now.events += samples[i].events;
		now.filtered += samples[i].filtered;
	}
	*gained = (struct profile_samples){
		.taken = now.taken - s->seen.taken,
		.events = now.events - s->seen.events,
		.filtered = now.filtered - s->seen.filtered,
	};
	s->seen = now;
	free(samples);
	return 0;
}

static int start_clock(struct sampling *s, struct measurement *m, int prog_fd)
{
	int err = sampler__start(&s->sampler, prog_fd, &m->scope);
	size_t i;

	for (i = 0; i < s->sampler.n && !err; i++)
		err = throttled__watch(&s->throttled, s->sampler.cpu[i].fd, s->sampler.cpu[i].cpu,
				       m->watch_fd);
	return err;
}

static int start_event(struct sampling *s, struct measurement *m, int prog_fd)
{
	const struct counters *c = &s->event.counters;
	int err = sampled_event__start(&s->event, prog_fd, &m->scope);
	size_t i;

	for (i = 0; i < c->n && !err; i++)
		err = throttled__watch(&s->throttled, c->counter[i].fd, c->counter[i].cpu,
				       m->watch_fd);
	return err;
}

/* Reads the programs' counts first, so that the number of missed events is never too high. */
int sampling__arm(struct sampling *s, const struct measurement *m)
{
	struct profile_samples gained;
	int err;

	if (!s->typed)
		return sampler__arm(&s->sampler);
	err = take_seen(s, m, &gained);
	return err ?: sampled_event__count(&s->event, &s->counted);
}

void sampling__disarm(struct sampling *s)
{
	if (s->typed)
		counters__disable(&s->event.counters);
	else
		sampler__disarm(&s->sampler);
}

int sampling__start(struct sampling *s, struct measurement *m, int prog_fd, int samples_fd)
{
	s->samples_fd = samples_fd;
	s->prog_fd = fcntl(prog_fd, F_DUPFD_CLOEXEC, 0) + 1;
	throttled__begin(&s->throttled);
	return s->typed ? start_event(s, m, prog_fd) : start_clock(s, m, prog_fd);
}

static int add_to_clock(struct sampling *s, const struct measurement *m, int cpu)
{
	struct profile_samples *samples = s->samples_fd < 0 ? NULL : read_samples(s, m);
	struct sampler_seen seen = {};
	int err = s->samples_fd < 0 || samples ? 0 : -ENOMEM;

	if (samples)
		seen = (struct sampler_seen){ samples[cpu].taken, samples[cpu].idle };
	free(samples);
	err = err ?: sampler__add(&s->sampler, s->prog_fd - 1, cpu, &seen);
	return err ?: throttled__watch(&s->throttled, s->sampler.cpu[s->sampler.n - 1].fd, cpu, m->watch_fd);
}

static int add_to_event(struct sampling *s, const struct measurement *m, int cpu)
{
	const struct counters *c = &s->event.counters;
	int err = sampled_event__add_cpu(&s->event, s->prog_fd - 1, cpu);
	size_t i;

	for (i = c->from; i < c->n && !err; i++)
		err = throttled__watch(&s->throttled, c->counter[i].fd, cpu, m->watch_fd);
	return err;
}

int sampling__change_cpu(struct sampling *s, const struct measurement *m, int cpu, bool online)
{
	if (online)
		return s->typed ? add_to_event(s, m, cpu) : add_to_clock(s, m, cpu);
	if (!s->typed)
		sampler__remove(&s->sampler, cpu);
	return 0;
}

/* A CPU skips samples if it is stopped (by its hypervisor, with interrupts off) or throttled. */
static int find_missed(struct sampling *s, const struct measurement *m)
{
	struct sampler_seen *seen = calloc(m->run->host.cpus_possible, sizeof(*seen));
	/* Reads the time first: all samples due by then have been taken when the map is read. */
	u64 due = sampler__due(&s->sampler);
	struct profile_samples *samples = read_samples(s, m);
	int err = seen && samples ? 0 : -ENOMEM, i;

	for (i = 0; i < m->run->host.cpus_possible && !err; i++)
		seen[i] = (struct sampler_seen){ samples[i].taken, samples[i].idle };
	if (!err)
		err = sampler__missed(&s->sampler, due, seen, &s->missed);
	free(samples);
	free(seen);
	return err;
}

int sampling__settle(struct sampling *s, const struct measurement *m)
{
	return s->typed ? 0 : find_missed(s, m);
}

/*
 * The kernel's own count includes events without a sample, because the program was already running,
 * or sampling was throttled. With a frequency, the length of the unfinished period is unknown, so
 * nothing is reported.
 */
static u64 missed_events(struct sampling *s, u64 counted, u64 seen)
{
	s64 begun = s->event.every ? (s->event.every - 1) * s->event.counters.n : 0, missed;

	s->behind += (s64)(counted - s->counted) - (s64)seen;
	s->counted = counted;
	missed = s->event.every && s->behind > begun ? s->behind - begun : 0;
	s->behind -= missed;
	return missed;
}

/* All figures are events. Losses are known as samples, and each sample stands for a period. */
static int count_events(struct sampling *s, const struct measurement *m, struct report *r, bool alone)
{
	struct profile_samples gained;
	u64 counted, period;
	/*
	 * Reads the kernel's count first: all its events will have reached the programs when the
	 * samples are read.
	 */
	int err = sampled_event__count(&s->event, &counted), i;

	if (!err)
		err = take_seen(s, m, &gained);
	if (err)
		return err;
	period = s->event.every ?: gained.taken ? gained.events / gained.taken : 1;
	for (i = 0; i < LOSS_REASONS && alone; i++)
		r->counters.lost[i] *= period;
	r->counters.filtered += gained.filtered;
	s->lost = s->event.is_tracepoint ? 0 : missed_events(s, counted, gained.events);
	r->counters.lost[LOSS_MISSED] += s->lost;
	return 0;
}

int sampling__count(struct sampling *s, const struct measurement *m, struct report *r, bool alone)
{
	struct profile_samples gained;
	int err;

	r->is_sampled = true;
	r->throttled += throttled__since(&s->throttled);
	if (sampling__is_weighted(s))
		return count_events(s, m, r, alone);
	s->lost = s->typed ? 0 : s->missed;
	r->counters.lost[LOSS_MISSED] += s->lost;
	if (alone)
		return 0;
	err = take_seen(s, m, &gained);
	r->counters.filtered += err ? 0 : gained.filtered;
	return err;
}

void sampling__free(struct sampling *s)
{
	if (s->prog_fd)
		close(s->prog_fd - 1);
	throttled__close(&s->throttled);
	sampler__free(&s->sampler);
	sampled_event__free(&s->event);
}
