// SPDX-License-Identifier: BSD-2-Clause
#include "run/slices.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/measurement.h"

#define SLICE_NS (100 * NSEC_PER_MSEC)
#define STATISTICS_NS (25 * NSEC_PER_MSEC)      /* of a slice; statistics cost two clock readings per run */
#define REST_NS (900 * NSEC_PER_MSEC)
#define CALL_NS 200             /* the slow path of a system call */
#define CHEAP_SHARE 0.01        /* of the machine */

/* A thread begins and ends slices. It releases the lock only while it waits. */
struct slices {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool end, joined;
	int cpus;
	u32 every;              /* BPF statistics are on in every Nth slice */
	u64 begun;              /* number of slices so far */
	bool cheap;             /* result of the last slice with statistics */
	bool busier;            /* CPUs have become busier since that slice */
	size_t measured;        /* number of members in that slice */
	bool on;                /* statistics are on */
	u64 on_ns;              /* time with statistics on, in windows that have ended */
	u64 since_ns;           /* start of the last window */
	slices_look *look;
	void *context;
	struct measurement *member[RUN_MOST];
	size_t n;
};

static void rest(struct slices *s, u64 ns)
{
	u64 until = monotonic_ns() + ns;
	const struct timespec at = own_monotonic(until);

	while (!s->end && monotonic_ns() < until)
		pthread_cond_timedwait(&s->ended, &s->lock, &at);
}

/*
 * --- windows -----------------------------------------------------------------------------------
 */

/*
 * Reading the programs takes equally long at both ends of a window, so each program is observed for the length of the
 * window.
 */
static void begin_window(struct slices *s)
{
	s->since_ns = monotonic_ns();
	if (s->look)
		s->look(s->context, true);
}

static void end_window(struct slices *s)
{
	s->on_ns += monotonic_ns() - s->since_ns;
	if (s->look)
		s->look(s->context, false);
}

/*
 * --- programs ----------------------------------------------------------------------------------
 */

/* Returns the skeleton's link of a program. */
static struct bpf_link **link_of(const struct measurement *m, const struct bpf_program *program)
{
	int i;

	for (i = 0; i < m->skeleton->prog_cnt; i++)
		if (*m->skeleton->progs[i].prog == program)
			return m->skeleton->progs[i].link;
	return NULL;
}

/* Attaches the programs. A program that cannot be attached is retried in the next slice. */
static void attach(struct measurement *m)
{
	struct sliced *p = &m->sliced;
	struct bpf_link **link;
	bool all = true;
	size_t i;

	if (!p->detached_ns)
		return;
	if (p->since_ns)
		*p->since_ns = monotonic_ns();
	for (i = 0; i < p->n && !p->gated; i++) {
		link = link_of(m, p->program[i]);
		if (!*link)
			*link = bpf_program__attach(p->program[i]);
		all &= *link != NULL;
	}
	if (!all)
		return;
	p->rest_ns += monotonic_ns() - p->detached_ns;
	p->detached_ns = 0;
}

static void detach(struct measurement *m)
{
	struct sliced *p = &m->sliced;
	struct bpf_link **link;
	size_t i;

	if (p->detached_ns)
		return;
	p->detached_ns = monotonic_ns();
	if (p->since_ns)
		*p->since_ns = UINT64_MAX;
	for (i = 0; i < p->n && !p->gated; i++) {
		link = link_of(m, p->program[i]);
		bpf_link__destroy(*link);
		*link = NULL;
	}
}

struct cost {
	u64 ns;                 /* of all programs */
	u64 calls;              /* system calls: run count of the program on system calls that ran most often */
};

static struct cost cost_of(const struct slices *s)
{
	struct cost cost = {};
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->member[i]->sliced.n; k++) {
			struct bpf_prog_info info = {};
			u32 size = sizeof(info);

			if (bpf_obj_get_info_by_fd(bpf_program__fd(s->member[i]->sliced.program[k]), &info, &size))
				continue;
			cost.ns += info.run_time_ns;
			if (s->member[i]->sliced.at_calls && info.run_cnt > cost.calls)
				cost.calls = info.run_cnt;
		}
	return cost;
}

static bool is_cheap(const struct slices *s, const struct cost *before, u64 slice_ns)
{
	struct cost now = cost_of(s);
	double ns = (double)now.ns - before->ns + CALL_NS * ((double)now.calls - before->calls);

	return ns <= CHEAP_SHARE * slice_ns * s->cpus;
}

/*
 * --- the thread --------------------------------------------------------------------------------
 */

static bool is_due(const struct slices *s)
{
	return s->begun % s->every == 0 || s->busier || s->n != s->measured;
}

/* True if the attached programs cost little, by the kernel's statistics. */
static bool measure(struct slices *s)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct cost before = cost_of(s);
	u64 began_ns = monotonic_ns();
	size_t members = s->n;
	bool cheap;

	s->measured = members;
	if (fd < 0)
		return false;
	s->on = true;
	begin_window(s);
	rest(s, STATISTICS_NS);
	end_window(s);
	s->on = false;
	/* The counts of new members include earlier runs. */
	cheap = s->n != members || is_cheap(s, &before, monotonic_ns() - began_ns);
	close(fd);
	return cheap;
}

/* Returns the idle time of all CPUs since boot; 0: unknown. */
static u64 idle_ns(void)
{
	FILE *f = fopen("/proc/uptime", "re");
	double seconds = 0;

	if (f) {
		if (fscanf(f, "%*f %lf", &seconds) != 1)
			seconds = 0;
		fclose(f);
	}
	return seconds * NSEC_PER_SEC;
}

struct instant {
	u64 ns, idle_ns;
};

static struct instant instant(void)
{
	return (struct instant){ .ns = monotonic_ns(), .idle_ns = idle_ns() };
}

/* Returns the busy time of all CPUs since then. */
static s64 busy_since(const struct slices *s, struct instant then)
{
	struct instant now = instant();

	return (s64)(s->cpus * (now.ns - then.ns)) - (s64)(now.idle_ns - then.idle_ns);
}

/*
 * Does one slice. The programs remain attached after it if they are cheap. *busy_ns: busy time of the CPUs in the
 * slice.
 */
static void do_slice(struct slices *s, s64 *busy_ns)
{
	struct instant began;
	size_t i;

	for (i = 0; i < s->n; i++)
		attach(s->member[i]);
	began = instant();
	if (is_due(s))
		s->cheap = measure(s);
	else
		rest(s, STATISTICS_NS);
	rest(s, SLICE_NS - STATISTICS_NS);
	s->begun++;
	*busy_ns = busy_since(s, began);
	for (i = 0; !s->cheap && !s->end && i < s->n; i++)
		detach(s->member[i]);
}

/* Ends early when the machine becomes busier, since the programs may no longer be cheap. */
static void rest_attached(struct slices *s, s64 before_ns)
{
	s64 much_ns = (before_ns > (s64)SLICE_NS ? before_ns : (s64)SLICE_NS) / 4;
	u64 until = monotonic_ns() + REST_NS;
	struct instant began;

	while (!s->busier && !s->end && monotonic_ns() < until) {
		began = instant();
		rest(s, SLICE_NS);
		s->busier = busy_since(s, began) - before_ns > much_ns;
	}
}

static void *do_slices(void *arg)
{
	struct slices *s = arg;
	s64 busy_ns;

	pthread_mutex_lock(&s->lock);
	while (!s->end) {
		do_slice(s, &busy_ns);
		s->busier = false;
		if (s->cheap)
			rest_attached(s, busy_ns);
		else
			rest(s, REST_NS);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void release(struct slices *s)
{
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct slices *slices__begin(int cpus, u32 every)
{
	struct slices *s = calloc(1, sizeof(*s));
	pthread_condattr_t clock;

	if (!s)
		return NULL;
	s->cpus = cpus;
	s->every = every;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->ended, &clock);
	pthread_condattr_destroy(&clock);
	if (!pthread_create(&s->thread, NULL, do_slices, s))
		return s;
	release(s);
	return NULL;
}

void slices__stop(struct slices *s)
{
	if (!s || s->joined)
		return;
	pthread_mutex_lock(&s->lock);
	s->end = true;
	pthread_cond_signal(&s->ended);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->joined = true;
}

void slices__free(struct slices *s)
{
	size_t i;

	if (!s)
		return;
	slices__stop(s);
	for (i = 0; i < s->n; i++)
		s->member[i]->sliced.slices = NULL;
	release(s);
}

/*
 * --- measurements ------------------------------------------------------------------------------
 */

/* Returns the program's id; 0: unknown. */
static u32 id_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) ? 0 : info.id;
}

void slices__add(struct slices *s, struct measurement *m)
{
	size_t i;

	if (!s || !m->sliced.n || !m->skeleton)
		return;
	for (i = 0; i < m->sliced.n; i++)
		m->sliced.id[i] = id_of(m->sliced.program[i]);
	pthread_mutex_lock(&s->lock);
	if (s->n < RUN_MOST) {
		m->sliced.slices = s;
		s->member[s->n++] = m;
	}
	pthread_mutex_unlock(&s->lock);
}

void slices__remove(struct measurement *m)
{
	struct slices *s = m->sliced.slices;
	size_t i;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->n; i++)
		if (s->member[i] == m)
			s->member[i--] = s->member[--s->n];
	m->sliced.slices = NULL;
	pthread_mutex_unlock(&s->lock);
}

u64 slices__rest_ns(struct measurement *m, u64 now_ns)
{
	struct slices *s = m->sliced.slices;
	struct sliced *p = &m->sliced;
	u64 ns;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	ns = p->rest_ns;
	p->rest_ns = 0;
	if (p->detached_ns && p->detached_ns < now_ns) {
		ns += now_ns - p->detached_ns;
		p->detached_ns = now_ns;
	}
	p->last_rest_ns = ns;
	pthread_mutex_unlock(&s->lock);
	return ns;
}

u64 slices__attached_ns(struct slices *s, u32 id, u64 duration_ns)
{
	u64 rest_ns = 0;
	size_t i, k;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->member[i]->sliced.n; k++)
			if (s->member[i]->sliced.id[k] == id)
				rest_ns = s->member[i]->sliced.last_rest_ns;
	pthread_mutex_unlock(&s->lock);
	return rest_ns < duration_ns ? duration_ns - rest_ns : 0;
}

void slices__watch(struct slices *s, slices_look *look, void *context)
{
	s->look = look;
	s->context = context;
}

u64 slices__hold(struct slices *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->on)
		end_window(s);
	return s->on_ns;
}

void slices__let_go(struct slices *s)
{
	if (s->on)
		begin_window(s);
	pthread_mutex_unlock(&s->lock);
}
