// SPDX-License-Identifier: BSD-2-Clause
#include "event/counter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "host/features.h"
#include "host/host.h"

/* True for sites counted with perf_event_open(): counters and filtered tracepoints. */
static bool is_counted(const struct event_site *s)
{
	return s->event->type < EVENT_TRACEPOINT || s->attr.type == PERF_TYPE_TRACEPOINT;
}

static bool on_cpu(const struct event_site *s, int cpu)
{
	return !s->cpus || cpu < 0 || s->cpus[cpu / 64] & (1ULL << (cpu % 64));
}

static int add(struct counters *counters, const struct counter *each)
{
	return ARRAY_APPEND(counters->counter, counters->n, *each);
}

/* Returns the group leader's descriptor for a site on the same target, or -1 if this counter leads. */
static int leader_of(const struct counters *counters, const struct event_sites *sites,
		     const struct counter *each)
{
	int group = sites->site[each->site].event->group;
	size_t i;

	if (group < 0)
		return -1;
	for (i = counters->from; i < counters->n; i++) {
		const struct counter *other = &counters->counter[i];

		if (other->fd >= 0 && other->cpu == each->cpu && other->tid == each->tid &&
		    sites->site[other->site].event->group == group)
			return other->fd;
	}
	return -1;
}

static int open_counter(struct counter *each, const struct event_site *site,
			const struct counter_targets *targets, int leader)
{
	struct perf_event_attr attr = site->attr;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = targets->inherit;
	attr.inherit_thread = targets->inherit_thread;
	/* Group members follow their leader. */
	attr.disabled = leader < 0;
	attr.enable_on_exec = targets->on_exec && leader < 0;
	/* Counting needs no samples; a period would cause interrupts. */
	attr.sample_period = targets->period;
	attr.freq = targets->by_frequency;
	each->fd = syscall(SYS_perf_event_open, &attr, each->tid ? (int)each->tid : -1, each->cpu,
			   leader, PERF_FLAG_FD_CLOEXEC);
	each->err = each->fd < 0 ? -errno : 0;
	return each->err;
}

/* True for errors that concern the whole machine, not only this event. */
static bool is_fatal(const struct event_site *site, int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EPERM || err == -EACCES ||
	       (err == -ENOSPC && site->event->type == EVENT_BREAKPOINT);
}

static int complain_about(const struct event_site *site, int err, struct complaint *c)
{
	const struct event *e = site->event;

	switch (err) {
	case -ENOSPC:
		complain(c, 0, e->at, e->len, "no free breakpoint for %s: the CPU has four, shared by all users",
			 site->name);
		return complain_hint(c, err, "name at most four; a debugger may hold some");
	case -EMFILE:
	case -ENFILE:
		complain(c, 0, e->at, e->len, "too many open files: an event needs one per thread or CPU");
		return complain_hint(c, -EMFILE, "name fewer events, or raise ulimit -n");
	case -EPERM:
	case -EACCES:
		complain(c, 0, e->at, e->len, "no permission to count %s", site->name);
		return complain_hint(c, -EPERM, "run as root or with CAP_PERFMON; kernel.perf_event_paranoid limits "
						"other users");
	default:
		return complain(c, err, e->at, e->len, "cannot count %s: %s", site->name,
				strerror(-err));
	}
}

static int open_site(struct counters *counters, const struct event_sites *sites, size_t i,
		     const struct counter_targets *t, struct complaint *c)
{
	size_t ntids = t->ntids ?: 1, ncpus = t->ncpus ?: 1, k, m, gone = 0;
	const struct event_site *site = &sites->site[i];
	struct counter each = { .site = i };
	int err;

	for (k = 0; k < ntids; k++) {
		for (m = 0; m < ncpus; m++) {
			each.tid = t->ntids ? t->tids[k] : 0;
			each.cpu = t->ncpus ? t->cpus[m] : -1;
			if (!on_cpu(site, each.cpu))
				continue;
			err = open_counter(&each, site, t, leader_of(counters, sites, &each));
			if (err == -ESRCH) {    /* the thread has exited */
				gone++;
				continue;
			}
			if (err && is_fatal(site, err))
				return complain_about(site, err, c);
			err = add(counters, &each);
			if (err) {
				if (each.fd >= 0)
					close(each.fd);
				return err;
			}
		}
	}
	if (gone && gone == ntids * ncpus)
		return complain(c, -ESRCH, site->event->at, site->event->len,
				"the threads to count have exited");
	return 0;
}

int counters__open(struct counters *counters, const struct event_sites *sites,
		   const struct counter_targets *targets, struct complaint *c, size_t *which)
{
	size_t each = (targets->ntids ?: 1) * (targets->ncpus ?: 1), i;
	int err = 0;

	*counters = (struct counters){};
	for (i = 0; i < sites->n && !err; i++) {
		if (!is_counted(&sites->site[i]))
			continue;
		if (!counters->n)
			host__allow_files(sites->n * each + 64);
		*which = i;
		err = open_site(counters, sites, i, targets, c);
	}
	if (err)
		counters__close(counters);
	return err;
}

int counters__add_cpu(struct counters *counters, const struct event_sites *sites,
		      const struct counter_targets *targets)
{
	struct complaint unused = {};
	int err = 0;
	size_t i;

	counters->from = counters->n;
	for (i = 0; i < sites->n && !err; i++)
		if (is_counted(&sites->site[i]))
			err = open_site(counters, sites, i, targets, &unused);
	while (err && counters->n > counters->from)
		if (counters->counter[--counters->n].fd >= 0)
			close(counters->counter[counters->n].fd);
	return err;
}

int counters__enable(struct counters *counters)
{
	size_t i;

	for (i = counters->from; i < counters->n; i++)
		if (counters->counter[i].fd >= 0 &&
		    ioctl(counters->counter[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	return 0;
}

int counter__read(const struct counter *counter, struct counter_value *value)
{
	ssize_t n;

	*value = (struct counter_value){};
	if (counter->fd < 0)
		return 0;
	n = read(counter->fd, value, sizeof(*value));
	if (n < 0)
		return -errno;
	return n == sizeof(*value) ? 0 : -EIO;
}

void counter__refusal(struct counter_refusal *r, const struct event_site *site, int err)
{
	enum event_type type = site->event->type;
	bool pmu = feature__probe("hardware counters") == FEATURE_OK;

	*r = (struct counter_refusal){ .err = err };
	if (err == -EINVAL && site->cpus) {
		snprintf(r->why, sizeof(r->why), "counts whole sockets or CPUs, not tasks");
		snprintf(r->instead, sizeof(r->instead), "the same with -a");
	} else if (type == EVENT_HARDWARE && !pmu) {
		snprintf(r->why, sizeof(r->why), "no hardware counters on this machine "
			 "(virtual machines need a virtual PMU)");
		snprintf(r->instead, sizeof(r->instead), "task-clock");
	} else if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL) {
		snprintf(r->why, sizeof(r->why), "not supported by this machine: %s", strerror(-err));
	} else {
		snprintf(r->why, sizeof(r->why), "%s", strerror(-err));
	}
}

void counters__disable(struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->n; i++)
		if (counters->counter[i].fd >= 0)
			ioctl(counters->counter[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

int counters__filter(struct counters *counters, char *const *filter, size_t *which)
{
	size_t i;

	for (i = counters->from; i < counters->n; i++) {
		struct counter *each = &counters->counter[i];

		if (each->fd < 0 || !filter[each->site])
			continue;
		*which = each->site;
		if (ioctl(each->fd, PERF_EVENT_IOC_SET_FILTER, filter[each->site]))
			return -errno;
	}
	return 0;
}

void counters__close(struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->n; i++)
		if (counters->counter[i].fd >= 0)
			close(counters->counter[i].fd);
	free(counters->counter);
	*counters = (struct counters){};
}

/* PERF_EVENT_IOC_SET_BPF works on all kernels; perf event links need 5.15, and would take over the event. */
int perf_event__run(int event_fd, int prog_fd)
{
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) || ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}
