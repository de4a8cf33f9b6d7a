// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/with.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/typed.h"
#include "host/topology.h"
#include "report/diag.h"

#include "bpf/lib/probe.h"

static int complain_about(const struct with_counters *w, size_t event, const struct complaint *c)
{
	diag_complaint("--with", w->text[event], c);
	return -EINVAL;
}

static int check_event(const struct with_counters *w, size_t i)
{
	const struct event *e = &w->events.event[i];
	struct complaint c = {};
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(w->events.event[k].name, e->name)) {
			complain(&c, 0, e->at, e->len, "%s is given twice", e->name);
			return complain_about(w, i, &c);
		}
	if (e->type < EVENT_BREAKPOINT)
		return 0;
	complain(&c, 0, e->at, e->len, "%s is not a counter of the kernel or the CPU", e->name);
	complain_hint(&c, 0, "as in --with page-faults,instructions; a separate probe counts %s",
		      e->name);
	return complain_about(w, i, &c);
}

/*
 * Counters are pinned, because a counter that runs only part of the time could not be distinguished from one that
 * always runs.
 */
static int check_site(const struct with_counters *w, struct event_site *site)
{
	const struct event *e = site->event;
	struct complaint c = {};

	site->attr.pinned = 1;
	if (!site->is_duration)
		return 0;
	complain(&c, 0, e->at, e->len, "$elapsed already gives the time");
	return complain_about(w, e - w->events.event, &c);
}

/* Ignores -x, since names of counters are not functions of a program. */
int with_counters__parse(struct with_counters *w, const char *list)
{
	const struct event_context ctx = {};
	struct complaint c = {};
	size_t which = 0, i;
	int err = events__take(&w->events, &w->text, &ctx, list);

	for (i = 0; i < w->events.n && !err; i++)
		err = check_event(w, i);
	if (!err && w->events.n > PROBE_COUNTERS) {
		diag_error("--with: %d counters at most", PROBE_COUNTERS);
		err = -EINVAL;
	}
	if (err)
		return err;
	/* Each counter is pinned, which only group leaders can be. */
	for (i = 0; i < w->events.n; i++)
		w->events.event[i].group = -1;
	err = events__resolve(&w->sites, &w->events, &ctx, &c, &which);
	if (err)
		complain_about(w, which, &c);
	for (i = 0; i < w->sites.n && !err; i++)
		err = check_site(w, &w->sites.site[i]);
	return err;
}

static int refuse(const struct event_site *site, int err)
{
	struct counter_refusal refusal;

	counter__refusal(&refusal, site, err);
	diag_error("--with: cannot count %s: %s", site->event->name, refusal.why);
	if (refusal.instead[0])
		diag_hint("%s works here", refusal.instead);
	return -EOPNOTSUPP;
}

static size_t number_of(const struct with_counters *w, const struct counter *each)
{
	return w->sites.site[each->site].event - w->events.event;
}

/*
 * Tasks run on any CPU, so each CPU needs a counter. A counter that covers several CPUs, such as a
 * socket, cannot be attributed to tasks.
 */
static int check_opened(const struct with_counters *w, size_t ncpus)
{
	size_t on[PROBE_COUNTERS] = {}, i;

	for (i = 0; i < w->counters.n; i++) {
		const struct counter *each = &w->counters.counter[i];

		if (each->fd < 0)
			return refuse(&w->sites.site[each->site], each->err);
		on[number_of(w, each)]++;
	}
	for (i = 0; i < w->events.n; i++)
		if (on[i] != ncpus) {
			diag_error("--with: %s is not counted on each CPU",
				   w->events.event[i].name);
			diag_hint("`stat -e %s` counts it", w->events.event[i].name);
			return -EOPNOTSUPP;
		}
	return 0;
}

int with_counters__open(struct with_counters *w)
{
	struct topology topology;
	struct counter_targets targets = {};
	struct complaint c = {};
	size_t which = 0, i;
	int *cpus, err;

	err = topology__read(&topology);
	if (err)
		return err;
	cpus = calloc(topology.n ?: 1, sizeof(*cpus));
	for (i = 0; cpus && i < topology.n; i++)
		cpus[targets.ncpus++] = topology.cpu[i].cpu;
	topology__free(&topology);
	if (!cpus)
		return -ENOMEM;
	targets.cpus = cpus;
	err = counters__open(&w->counters, &w->sites, &targets, &c, &which);
	free(cpus);
	if (err)
		complain_about(w, w->sites.site[which].event - w->events.event, &c);
	return err ?: check_opened(w, targets.ncpus);
}

/* A pinned counter that does not fit on its CPU is disabled, and reads nothing. */
static int check_counting(const struct with_counters *w)
{
	struct counter_value value;
	size_t i;

	for (i = 0; i < w->counters.n; i++) {
		const struct counter *each = &w->counters.counter[i];

		if (!counter__read(each, &value) && value.enabled_ns == value.running_ns)
			continue;
		diag_error("--with %s: no counter left on CPU %d",
			   w->events.event[number_of(w, each)].name, each->cpu);
		diag_hint("use fewer counters; the NMI watchdog takes one (kernel.nmi_watchdog)");
		return -EBUSY;
	}
	return 0;
}

int with_counters__start(const struct with_counters *w, int map, int cpus_possible)
{
	struct counters counters = w->counters;
	size_t i;
	u32 index;
	int err = counters__enable(&counters);

	for (i = 0; i < counters.n && !err; i++) {
		index = number_of(w, &counters.counter[i]) * cpus_possible + counters.counter[i].cpu;
		if (bpf_map_update_elem(map, &index, &counters.counter[i].fd, BPF_ANY))
			err = -errno;
	}
	if (!err)
		return check_counting(w);
	diag_error("--with: the counters cannot be used: %s", strerror(-err));
	return err;
}

u32 with_counters__switches(const struct with_counters *w)
{
	u32 switches = 0;
	size_t i;

	for (i = 0; i < w->events.n; i++) {
		const struct perf_event_attr *attr = &w->events.event[i].attr;

		/* Excludes cs:u: switches happen in the kernel, so the counter itself reads 0. */
		if (attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES && !attr->exclude_kernel)
			switches |= 1U << i;
	}
	return switches;
}

bool with_counters__is_time(const struct with_counters *w, size_t i)
{
	size_t k;

	for (k = 0; k < w->sites.n; k++)
		if (w->sites.site[k].event == &w->events.event[i])
			return w->sites.site[k].is_time;
	return false;
}

void with_counters__free(struct with_counters *w)
{
	counters__close(&w->counters);
	event_sites__free(&w->sites);
	events__free(&w->events);
	free(w->text);
	*w = (struct with_counters){};
}
