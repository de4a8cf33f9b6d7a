// SPDX-License-Identifier: BSD-2-Clause
#include "event/sampled.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/typed.h"
#include "host/scope.h"
#include "host/topology.h"
#include "host/host.h"
#include "report/diag.h"

const char *sampled_event__name(const struct sampled_event *s)
{
	return s->sites.site[0].name;
}

/*
 * --- the event ---------------------------------------------------------------------------------
 */

static int refuse_other(const struct event *e)
{
	diag_error("-e: '%s' is neither a counter nor a tracepoint", e->name);
	diag_hint("`list` shows events; stackcount counts function calls by stack, every Nth with -c N");
	return -EINVAL;
}

static int check_site(struct sampled_event *s)
{
	const struct event_site *site = &s->sites.site[0];

	s->is_tracepoint = site->tracepoint_id;
	s->is_time = site->is_time;
	if (site->is_duration) {
		diag_error("-e: %s cannot be used for sampling", site->name);
		return -EINVAL;
	}
	/* MODULE:FUNCTION is spelled like a tracepoint. */
	if (!s->is_tracepoint)
		return site->event->type == EVENT_TRACEPOINT ? refuse_other(site->event) : 0;
	if (s->sites.n > 1) {
		diag_error("-e: '%s' matches %zu tracepoints; name one", s->text[0], s->sites.n);
		return -EINVAL;
	}
	if (s->hz) {
		diag_error("-F: tracepoints have no frequency; -c N takes every Nth");
		return -EINVAL;
	}
	return 0;
}

int sampled_event__find(struct sampled_event *s, const char *text, u64 default_hz)
{
	const struct event_context ctx = {};
	struct complaint c = {};
	size_t which = 0;
	int err = events__take(&s->events, &s->text, &ctx, text);

	if (err)
		return err;
	if (s->events.n != 1) {
		diag_error("-e: '%s' names %zu events; expected one", text, s->events.n);
		return -EINVAL;
	}
	if (s->events.event[0].type > EVENT_TRACEPOINT)
		return refuse_other(&s->events.event[0]);
	err = events__resolve(&s->sites, &s->events, &ctx, &c, &which);
	if (err)
		diag_complaint("-e", text, &c);
	else
		err = check_site(s);
	if (!err && !s->every && !s->hz)
		*(s->is_tracepoint ? &s->every : &s->hz) = s->is_tracepoint ? 1 : default_hz;
	return err;
}

void sampled_event__describe(const struct sampled_event *s, char *text, size_t size)
{
	const char *name = sampled_event__name(s), *unit = s->is_time ? "ns" : "events";

	if (s->hz)
		snprintf(text, size,
			 "%s, about %llu samples a second on each CPU, each weighted by the count since the last",
			 name, s->hz);
	else if (s->every == 1)
		snprintf(text, size, "%s, every one", name);
	else
		snprintf(text, size, "%s, one sample per %llu %s on each CPU", name, s->every,
			 unit);
}

/*
 * --- sampling ----------------------------------------------------------------------------------
 */

static int open_counters(struct sampled_event *s, const int *cpus, size_t ncpus)
{
	const struct counter_targets targets = {
		.cpus = cpus, .ncpus = ncpus,
		.period = s->every ?: s->hz, .by_frequency = !s->every,
	};
	struct complaint c = {};
	size_t which = 0;
	int err = counters__open(&s->counters, &s->sites, &targets, &c, &which);

	if (err) {
		diag_complaint("-e", s->text[0], &c);
	} else if (!s->counters.n) {
		diag_error("-e: %s is not counted on any of these CPUs", sampled_event__name(s));
		err = -EOPNOTSUPP;
	}
	return err;
}

static int open_on_cpus(struct sampled_event *s, const struct scope_config *scope)
{
	struct topology t;
	int *cpus, err = topology__read(&t);
	size_t n = 0, i;

	if (err)
		return err;
	cpus = calloc(t.n ?: 1, sizeof(*cpus));
	for (i = 0; cpus && i < t.n; i++)
		if (scope__has_cpu(scope, t.cpu[i].cpu))
			cpus[n++] = t.cpu[i].cpu;
	topology__free(&t);
	if (!cpus)
		return -ENOMEM;
	if (n) {
		err = open_counters(s, cpus, n);
	} else {
		diag_error("-C: none of these CPUs is online");
		err = -ENOENT;
	}
	free(cpus);
	return err;
}

static int refuse(const struct sampled_event *s, const struct counter *counter)
{
	const struct event_site *site = &s->sites.site[counter->site];
	struct counter_refusal r;

	counter__refusal(&r, site, counter->err);
	if (site->cpus)
		diag_error("-e: %s cannot be sampled: it counts whole sockets, not tasks",
			   site->name);
	else
		diag_error("-e: %s cannot be sampled: %s", site->name, r.why);
	diag_hint("`list` shows the events; without -e the clock is sampled, which works anywhere");
	return -EOPNOTSUPP;
}

static int attach(const struct sampled_event *s, int prog_fd, int fd)
{
	int err = perf_event__run(fd, prog_fd);

	if (err)
		diag_error("-e: cannot attach a program to %s: %s", sampled_event__name(s), strerror(-err));
	return err;
}

/*
 * A program on a tracepoint's perf event runs on all CPUs, regardless of the CPU that the event is
 * opened on (perf_event_attach_bpf_prog()).
 */
static int start_tracepoint(struct sampled_event *s, int prog_fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1,
		.config = s->sites.site[0].tracepoint_id, .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err = -errno;

	if (fd >= 0) {
		s->tracepoint_fd = fd + 1;
		return attach(s, prog_fd, fd);
	}
	if (err == -EMFILE || err == -ENFILE)
		return host__complain_of_files();
	diag_error("-e: cannot open %s: %s", sampled_event__name(s), strerror(-err));
	return err;
}

int sampled_event__start(struct sampled_event *s, int prog_fd, const struct scope_config *scope)
{
	size_t i;
	int err;

	if (s->is_tracepoint)
		return start_tracepoint(s, prog_fd);
	err = open_on_cpus(s, scope);
	for (i = 0; i < s->counters.n && !err; i++) {
		const struct counter *counter = &s->counters.counter[i];

		err = counter->err ? refuse(s, counter) : attach(s, prog_fd, counter->fd);
	}
	return err;
}

int sampled_event__add_cpu(struct sampled_event *s, int prog_fd, int cpu)
{
	const struct counter_targets targets = {
		.cpus = &cpu, .ncpus = 1, .period = s->every ?: s->hz, .by_frequency = !s->every,
	};
	int err = s->is_tracepoint ? 0 : counters__add_cpu(&s->counters, &s->sites, &targets);
	size_t i;

	for (i = s->counters.from; i < s->counters.n && !s->is_tracepoint && !err; i++)
		err = s->counters.counter[i].err ?: perf_event__run(s->counters.counter[i].fd, prog_fd);
	return err;
}

int sampled_event__count(const struct sampled_event *s, u64 *events)
{
	struct counter_value value;
	int err = 0;
	size_t i;

	*events = 0;
	for (i = 0; i < s->counters.n && !err; i++) {
		err = counter__read(&s->counters.counter[i], &value);
		*events += value.value;
	}
	return err;
}

void sampled_event__free(struct sampled_event *s)
{
	if (s->tracepoint_fd)
		close(s->tracepoint_fd - 1);
	counters__close(&s->counters);
	event_sites__free(&s->sites);
	events__free(&s->events);
	free(s->text);
	*s = (struct sampled_event){};
}
