// SPDX-License-Identifier: BSD-2-Clause
#include "stack/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "event/counter.h"
#include "host/host.h"
#include "host/scope.h"
#include "host/topology.h"
#include "report/diag.h"

#define SHORTEST_PERIOD_NS 10000        /* the kernel's minimum (perf_swevent_hrtimer()) */
#define USER_TICK_NS 10000000           /* unit of /proc/stat, USER_HZ */

/* The kernel would also refuse the rate, but without saying why. */
int sampler__choose_rate(u64 *hz, u64 usual)
{
	bool is_typed = *hz;
	char line[32];
	u64 limit;

	*hz = *hz ?: usual;
	if (read_line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line)) ||
	    parse_u64(line, &limit) || *hz <= limit)
		return 0;
	if (is_typed) {
		diag_error("-F: %llu samples per second exceed kernel.perf_event_max_sample_rate, which is %llu", *hz,
			   limit);
		return -EINVAL;
	}
	diag_warn("taking %llu samples per second, not %llu: limited by kernel.perf_event_max_sample_rate",
		  limit, *hz);
	*hz = limit;
	return 0;
}

static int list_cpus(struct sampler *s, const struct scope_config *scope)
{
	struct topology t;
	int err = topology__read(&t);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < t.n && !err; i++)
		if (scope__has_cpu(scope, t.cpu[i].cpu))
			err = ARRAY_APPEND(s->cpu, s->n, (struct sampler_cpu){ .cpu = t.cpu[i].cpu, .fd = -1 });
	topology__free(&t);
	if (err)
		return err;
	if (!s->n) {
		diag_error("-C: none of these CPUs is online");
		return -ENOENT;
	}
	return 0;
}

static int start_cpu(struct sampler_cpu *c, const struct sampler *s, int prog_fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = !s->period_ns,
		.sample_period = s->period_ns ?: s->hz, /* in a union with sample_freq */
		.disabled = 1,
	};

	c->fd = syscall(SYS_perf_event_open, &attr, -1, c->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return c->fd < 0 ? -errno : perf_event__run(c->fd, prog_fd);
}

int sampler__start(struct sampler *s, int prog_fd, const struct scope_config *scope)
{
	int err = list_cpus(s, scope);
	size_t i;

	if (err == -ENOENT)
		return err;
	host__allow_files(s->n);
	for (i = 0; i < s->n && !err; i++)
		err = start_cpu(&s->cpu[i], s, prog_fd);
	if (!err)
		return 0;
	if (err == -EMFILE || err == -ENFILE)
		return host__complain_of_files();
	diag_error("cannot sample (cpu-clock, perf_event_open): %s", strerror(-err));
	return err == -EACCES ? -EPERM : err;
}

/*
 * --- missed samples ----------------------------------------------------------------------------
 */

static struct sampler_cpu *find_cpu(struct sampler *s, u64 cpu)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if ((u64)s->cpu[i].cpu == cpu && s->cpu[i].fd >= 0)
			return &s->cpu[i];
	return NULL;
}

/* Sums the last two fields of "cpu3 USER NICE SYSTEM IDLE IOWAIT ...". Returns false for other lines. */
static bool parse_idle(const char *line, u64 *cpu, u64 *idle_ns)
{
	u64 field[5];
	size_t i;
	char *end;

	if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
		return false;
	*cpu = strtoull(line + 3, &end, 10);
	for (i = 0; i < ARRAY_SIZE(field); i++) {
		if (*end != ' ')
			return false;
		field[i] = strtoull(end + 1, &end, 10);
	}
	*idle_ns = (field[3] + field[4]) * USER_TICK_NS;
	return true;
}

/* Calls fn for each sampled CPU. */
static int each_idle(struct sampler *s, void (*fn)(struct sampler_cpu *c, u64 idle_ns, void *ctx),
		     void *ctx)
{
	FILE *f = fopen("/proc/stat", "re");
	struct sampler_cpu *c;
	size_t room = 0;
	char *line = NULL;
	u64 cpu, idle_ns;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0) {
		c = parse_idle(line, &cpu, &idle_ns) ? find_cpu(s, cpu) : NULL;
		if (c)
			fn(c, idle_ns, ctx);
	}
	free(line);
	fclose(f);
	return 0;
}

/* only: the CPU to set, or NULL for all */
static void set_before(struct sampler_cpu *c, u64 idle_ns, void *only)
{
	if (!only || c == only)
		c->idle_before_ns = idle_ns;
}

int sampler__arm(struct sampler *s)
{
	int err = each_idle(s, set_before, NULL);
	size_t i;

	s->armed_ns = monotonic_ns();
	for (i = 0; i < s->n; i++)
		s->cpu[i].armed_ns = s->armed_ns;
	if (err == -EMFILE || err == -ENFILE)
		return host__complain_of_files();
	if (err)
		diag_error("/proc/stat: %s", strerror(-err));
	return err;
}

int sampler__add(struct sampler *s, int prog_fd, int cpu, const struct sampler_seen *seen)
{
	struct sampler_cpu *c;
	int err;

	if (ARRAY_ROOM(s->cpu, s->n))
		return -ENOMEM;
	c = &s->cpu[s->n];
	*c = (struct sampler_cpu){ .cpu = cpu, .taken_before = seen->taken, .idle_taken_before = seen->idle };
	err = start_cpu(c, s, prog_fd);
	c->armed_ns = monotonic_ns();
	s->n++;
	if (!err)
		err = each_idle(s, set_before, c);
	if (!err)
		return 0;
	if (c->fd >= 0)
		close(c->fd);
	s->n--;
	return err;
}

void sampler__remove(struct sampler *s, int cpu)
{
	struct sampler_cpu *c = find_cpu(s, cpu);

	if (!c)
		return;
	close(c->fd);
	c->fd = -1;
}

void sampler__disarm(struct sampler *s)
{
	size_t i;

	s->disarmed_ns = monotonic_ns();
	for (i = 0; i < s->n; i++)
		if (s->cpu[i].fd >= 0)
			ioctl(s->cpu[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static u64 period_of(const struct sampler *s)
{
	u64 period = s->period_ns ?: NSEC_PER_SEC / s->hz;

	return period < SHORTEST_PERIOD_NS ? SHORTEST_PERIOD_NS : period;
}

/* Does not count the latest sample, which may still be pending. */
u64 sampler__due(const struct sampler *s)
{
	u64 period = period_of(s), due;

	due = ((s->disarmed_ns ?: monotonic_ns()) - s->armed_ns) / period;
	return due ? due - 1 : 0;
}

u64 samples_missed(u64 hz, u64 due, const struct sampler_seen *seen, u64 elapsed_ns, u64 idle_ns)
{
	double busy, share, busy_due, busy_seen = seen->taken - seen->idle, chance;

	if (due <= seen->taken || !elapsed_ns)
		return 0;
	if (idle_ns > elapsed_ns)
		idle_ns = elapsed_ns;
	busy = (double)(elapsed_ns - idle_ns);
	share = busy / elapsed_ns;
	busy_due = due * share;
	/* Three standard deviations, plus the resolution of the idle time at the start and at the end. */
	chance = idle_ns ? 3 * sqrt(due * share * (1 - share)) +
				   2.0 * hz * USER_TICK_NS / NSEC_PER_SEC + 1
			 : 0;
	if (busy_due - busy_seen <= chance)
		return 0;
	return busy_due - busy_seen < due - seen->taken ? busy_due - busy_seen : due - seen->taken;
}

struct missing {
	const struct sampler *sampler;
	const struct sampler_seen *seen;
	u64 due, elapsed_ns;
};

void sampler_cpu__divide(struct sampler_cpu *c, u64 all_missed, u64 busy_missed)
{
	u64 idle_before = c->missed_idle, busy_before = c->missed - idle_before, idle;

	if (all_missed > c->missed)
		c->missed = all_missed;
	if (busy_missed < busy_before)
		busy_missed = busy_before;
	idle = c->missed > busy_missed ? c->missed - busy_missed : 0;
	if (idle > c->missed_idle)
		c->missed_idle = idle;
	c->gained_idle = c->missed_idle - idle_before;
}

static void count_missing(struct sampler_cpu *c, u64 idle_ns, void *ctx)
{
	const struct missing *m = ctx;
	u64 idle = idle_ns > c->idle_before_ns ? idle_ns - c->idle_before_ns : 0, busy_missed, all_missed;
	u64 period = period_of(m->sampler), late_ns = c->armed_ns - m->sampler->armed_ns;
	u64 late = (late_ns + period - 1) / period, due = m->due > late ? m->due - late : 0;
	struct sampler_seen seen = m->seen[c->cpu];

	if (!due || m->elapsed_ns <= late_ns)
		return;
	seen.taken -= c->taken_before;
	seen.idle -= c->idle_taken_before;
	busy_missed = samples_missed(NSEC_PER_SEC / period, due, &seen, m->elapsed_ns - late_ns, idle);
	all_missed = due > seen.taken ? due - seen.taken : 0;
	if (m->sampler->idle_counts)
		sampler_cpu__divide(c, all_missed, busy_missed);
	else if (busy_missed > c->missed)
		c->missed = busy_missed;
}

int sampler__missed(struct sampler *s, u64 due, const struct sampler_seen *seen, u64 *missed)
{
	struct missing m = { s, seen, due, monotonic_ns() - s->armed_ns };
	u64 sum = 0;
	size_t i;
	int err;

	for (i = 0; i < s->n; i++)
		s->cpu[i].gained_idle = 0;
	err = each_idle(s, count_missing, &m);
	if (err)
		return err;
	for (i = 0; i < s->n; i++)
		sum += s->cpu[i].missed;
	*missed = sum - s->missed;
	s->missed = sum;
	return 0;
}

void sampler__free(struct sampler *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->cpu[i].fd >= 0)
			close(s->cpu[i].fd);
	free(s->cpu);
	s->cpu = NULL;
	s->n = 0;
}
