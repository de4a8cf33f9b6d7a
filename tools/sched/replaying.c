// SPDX-License-Identifier: BSD-2-Clause
#include "sched/replaying.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

#define STACK_BYTES (64 << 10)
#define CALIBRATE_ROUNDS (1 << 20)
/* Interval between reads of the clock while a task computes. */
#define LOOK_NS 20000

struct replay {
	const struct schedule *schedule;
	struct player *player;  /* one for each task */
	double rounds_per_ns;
	pthread_mutex_t gate;   /* held while threads are created */
	u64 begin_ns;
	bool give_up;
};

struct player {
	struct replay *replay;
	u32 task;
	sem_t wakeups;
	pthread_t thread;
	struct replayed done;
};

/*
 * --- steps -------------------------------------------------------------------------------------
 */

static void compute(u64 rounds)
{
	volatile u64 i;

	for (i = 0; i < rounds; i++)
		;
}

static double calibrate(void)
{
	u64 best = UINT64_MAX, began, took;
	int i;

	/* Takes the fastest of several runs, which was not interrupted. */
	for (i = 0; i < 5; i++) {
		began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		compute(CALIBRATE_ROUNDS);
		took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
		if (took < best)
			best = took;
	}
	return (double)CALIBRATE_ROUNDS / (best ?: 1);
}

/* Computes until the CPU time of this thread, including its other work, reaches cpu_ns. */
static void run_until(const struct replay *r, u64 cpu_ns)
{
	u64 now, left;

	while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) < cpu_ns) {
		left = cpu_ns - now;
		compute((left < LOOK_NS ? left : LOOK_NS) * r->rounds_per_ns);
	}
}

static void sleep_until(u64 moment_ns)
{
	const struct timespec ts = own_monotonic(moment_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* If one of the two tasks is left out, a wait becomes a sleep, and a wakeup is skipped. */
static bool is_played(const struct schedule *s, const struct step *step)
{
	const struct wake *w = &s->wake[step->wake];

	return w->counts && !s->task[w->from].left_out && !s->task[w->to].left_out;
}

static void wait_for_wakeup(struct player *p)
{
	while (sem_wait(&p->wakeups) && errno == EINTR)
		;
}

static void play(struct player *p, u64 base_ns)
{
	const struct schedule *s = p->replay->schedule;
	const struct schedule_task *t = &s->task[p->task];
	u64 cpu_ns = base_ns;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct step *step = &t->step[i];
		bool played = step->kind >= STEP_WAKE && is_played(s, step);

		if (step->kind == STEP_RUN) {
			cpu_ns += step->ns;
			run_until(p->replay, cpu_ns);
		} else if (step->kind == STEP_WAIT && played) {
			wait_for_wakeup(p);
		} else if (step->kind == STEP_WAKE && played) {
			sem_post(&p->replay->player[s->wake[step->wake].to].wakeups);
			p->done.wakeups++;
		} else if (step->kind != STEP_WAKE) {
			/* The first sleep starts at the common start. */
			sleep_until((i ? monotonic_ns() : p->replay->begin_ns) + step->ns);
		}
	}
}

/*
 * --- threads -----------------------------------------------------------------------------------
 */

static u64 switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *thread(void *arg)
{
	struct player *p = arg;
	struct replay *r = p->replay;
	u64 cpu, before;

	/* By default, the kernel may extend sleeps by 50 us. */
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_NAME, r->schedule->ids.task[p->task].comm);
	pthread_mutex_lock(&r->gate);
	pthread_mutex_unlock(&r->gate);
	if (r->give_up)
		return NULL;
	sleep_until(r->begin_ns);
	before = switches();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	play(p, cpu);
	p->done.run_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	p->done.end_ns = monotonic_ns() - r->begin_ns;
	p->done.switches = switches() - before;
	return NULL;
}

static int start(struct player *p, const pthread_attr_t *attr)
{
	if (sem_init(&p->wakeups, 0, 0))
		return -errno;
	return -pthread_create(&p->thread, attr, thread, p);
}

static int start_all(struct replay *r, size_t *started)
{
	const struct schedule *s = r->schedule;
	pthread_attr_t attr;
	int err = 0;
	size_t i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < s->ids.n && !err; i++) {
		r->player[i].replay = r;
		r->player[i].task = i;
		if (!s->task[i].left_out)
			err = start(&r->player[i], &attr);
		*started += !err;
	}
	pthread_attr_destroy(&attr);
	return err;
}

int replay__run(const struct schedule *s, struct replayed *out)
{
	struct replay r = {
		.schedule = s, .rounds_per_ns = calibrate(), .gate = PTHREAD_MUTEX_INITIALIZER,
	};
	size_t started = 0, i;
	int err;

	r.player = calloc(s->ids.n ?: 1, sizeof(*r.player));
	if (!r.player)
		return -ENOMEM;
	pthread_mutex_lock(&r.gate);
	err = start_all(&r, &started);
	r.give_up = err;
	/* All threads must have passed the gate before begin_ns. */
	r.begin_ns = monotonic_ns() + REPLAY_AHEAD_NS + started * REPLAY_AHEAD_EACH_NS;
	pthread_mutex_unlock(&r.gate);
	for (i = 0; i < started; i++) {
		if (s->task[i].left_out)
			continue;
		pthread_join(r.player[i].thread, NULL);
		sem_destroy(&r.player[i].wakeups);
		out[i] = r.player[i].done;
	}
	free(r.player);
	return err;
}

u64 replay__wakeups(const struct schedule *s, size_t task)
{
	const struct schedule_task *t = &s->task[task];
	u64 n = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		n += t->step[i].kind == STEP_WAKE && is_played(s, &t->step[i]);
	return n;
}
