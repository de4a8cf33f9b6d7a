// SPDX-License-Identifier: BSD-2-Clause
/* Turns records of context switches into steps that can be replayed. */
#include "unit.h"

#include "sched/schedule.h"

#define A 1
#define B 2
#define C 3

static struct switches_task task(u32 tid)
{
	struct switches_task t = { .pid = tid, .tid = tid };

	t.comm[0] = 'A' + tid - 1;
	return t;
}

/* The CPU switches from one task to another, after these times of the first; -1 is UNKNOWN. */
static void leaves_cpu(struct schedule *s, u32 cpu, u64 at, u32 from, u32 to, s64 off, s64 wait, s64 run)
{
	const struct switches_record r = {
		.time_ns = at, .kind = SWITCHES_SWITCH, .cpu = cpu, .task = task(from),
		.other = to ? task(to) : (struct switches_task){},
		.off_ns = off, .wait_ns = wait, .run_ns = run,
	};

	assert_int_equal(schedule__take(s, &r), 0);
}

static void leaves(struct schedule *s, u64 at, u32 from, u32 to, s64 off, s64 wait, s64 run)
{
	leaves_cpu(s, 0, at, from, to, off, wait, run);
}

static void comes_to_cpu(struct schedule *s, u32 cpu, u64 at, u32 tid)
{
	const struct switches_record r = {
		.time_ns = at, .kind = SWITCHES_ARRIVAL, .cpu = cpu, .other = task(tid), .off_ns = -1,
		.wait_ns = -1, .run_ns = -1,
	};

	assert_int_equal(schedule__take(s, &r), 0);
}

static void comes(struct schedule *s, u64 at, u32 tid)
{
	comes_to_cpu(s, 0, at, tid);
}

static void wakes(struct schedule *s, u64 at, u32 waker, u32 woken)
{
	const struct switches_record r = {
		.time_ns = at, .kind = SWITCHES_WAKEUP, .task = task(woken), .other = task(waker),
		.off_ns = -1, .wait_ns = -1, .run_ns = -1,
	};

	assert_int_equal(schedule__take(s, &r), 0);
}

/* Formats steps as "run 50, wake, wait 10, sleep 7", with only the wakeups that count. */
static const char *steps(const struct schedule *s, u32 tid)
{
	static const char *const names[] = { "run", "sleep", "wake", "wait" };
	static char text[2048];
	size_t i, k, n = 0;
	u64 ns = 0;

	text[0] = 0;
	for (i = 0; i < s->ids.n && s->ids.task[i].tid != tid; i++)
		;
	assert_true(i < s->ids.n);
	for (k = 0; k < s->task[i].n; k++) {
		const struct step *step = &s->task[i].step[k];

		if (step->kind == STEP_WAKE && !s->wake[step->wake].counts)
			continue;
		/* Adds up the time on both sides of a wakeup that does not count. */
		ns += step->ns;
		if (step->kind == STEP_RUN && k + 1 < s->task[i].n && s->task[i].step[k + 1].kind ==
		    STEP_WAKE && !s->wake[s->task[i].step[k + 1].wake].counts)
			continue;
		n += snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
			      names[step->kind]);
		if (step->kind != STEP_WAKE)
			n += snprintf(text + n, sizeof(text) - n, " %llu", ns);
		assert_true(n < sizeof(text));
		ns = 0;
	}
	return text;
}

/* The task runs, sleeps, waits for a CPU and runs: the wait is not replayed. */
static void runs_and_sleeps(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 1000, A);
	leaves(&s, 1500, A, 0, -1, -1, 500);
	comes(&s, 3500, A);
	leaves(&s, 4000, A, 0, 2000, 300, 500);
	/* The task was preempted: all of its time off the CPU is a wait. */
	comes(&s, 4700, A);
	leaves(&s, 5000, A, 0, 700, 700, 300);
	assert_int_equal(schedule__finish(&s), 0);
	assert_string_equal(steps(&s, A), "run 500, sleep 1700, run 800");
	assert_int_equal(s.task[0].switches, 3);
	assert_int_equal(s.task[0].run_ns, 1300);
	assert_int_equal(s.task[0].end_ns, 4000);
	schedule__free(&s);
}

/* A arrives on a CPU, and B leaves it: A left unseen, and did not run until the end of the recording. */
static void leaves_unseen(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 1000, A);
	leaves(&s, 1500, A, B, -1, -1, 500);
	leaves(&s, 2000, B, A, -1, -1, 500);
	leaves(&s, 9000, B, 0, 100, 0, 300);
	comes(&s, 12000, B);
	leaves(&s, 12500, B, 0, 3000, 0, 500);
	assert_int_equal(schedule__finish(&s), 0);
	assert_int_equal(s.hidden, 1);
	assert_int_equal(s.task[0].run_ns, 500);
	assert_int_equal(s.task[1].run_ns, 1300);
	schedule__free(&s);
}

/* The kernel's accounting has A's run time, even if the records miss that A left and came back. */
static void leaves_unseen_and_is_seen_again(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 1000, A);
	leaves(&s, 5000, B, A, -1, -1, 700);
	leaves(&s, 9000, A, 0, -1, -1, 1200);
	assert_int_equal(schedule__finish(&s), 0);
	assert_int_equal(s.hidden, 1);
	assert_int_equal(s.task[0].run_ns, 1200);
	schedule__free(&s);
}

/* A wakes B in the middle of a run; B arrives later, as on another CPU. */
static void wakes_another(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 100, B);
	leaves(&s, 200, B, 0, -1, -1, 100);
	comes(&s, 1000, A);
	wakes(&s, 1400, A, B);
	comes(&s, 1450, B);
	leaves(&s, 1650, B, 0, 1250, 50, 200);
	leaves(&s, 2000, A, 0, -1, -1, 1000);
	assert_int_equal(schedule__finish(&s), 0);
	assert_string_equal(steps(&s, A), "sleep 900, run 400, wake, run 600");
	assert_string_equal(steps(&s, B), "run 100, wait 1200, run 200");
	schedule__free(&s);
}

/*
 * B is woken, but does not arrive before the recording ends: nobody would wait for the
 * wakeup.
 */
static void woken_in_vain(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 0, A);
	comes(&s, 100, B);
	leaves(&s, 200, B, 0, -1, -1, 100);
	wakes(&s, 400, A, B);
	leaves(&s, 1000, A, 0, -1, -1, 1000);
	assert_int_equal(schedule__finish(&s), 0);
	assert_string_equal(steps(&s, A), "run 1000");
	assert_string_equal(steps(&s, B), "sleep 100, run 100");
	schedule__free(&s);
}

/* A wakeup shortly before the task leaves counts; one long before it was another wakeup. */
static void woken_while_it_leaves(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 0, A);
	comes(&s, 0, B);
	wakes(&s, 99000, A, B);
	leaves(&s, 100000, B, 0, -1, -1, 100000);
	comes(&s, 102000, B);
	wakes(&s, 110000, A, B);
	leaves(&s, 202000, B, 0, 2000, 1500, 100000);
	comes(&s, 300000, B);
	leaves(&s, 300001, B, 0, 98000, 0, 1);
	leaves(&s, 400000, A, 0, -1, -1, 400000);
	assert_int_equal(schedule__finish(&s), 0);
	assert_string_equal(steps(&s, A), "run 99000, wake, run 301000");
	assert_string_equal(steps(&s, B), "run 100000, wait 500, run 100000, sleep 98000, run 1");
	schedule__free(&s);
}

/* A task that still runs when the recording ends has run up to then, and its wakeups count. */
static void runs_at_the_end(void **state)
{
	struct schedule s = {};

	(void)state;
	comes(&s, 0, A);
	leaves(&s, 100, A, B, -1, -1, 100);
	wakes(&s, 300, B, A);
	comes_to_cpu(&s, 1, 350, A);
	leaves_cpu(&s, 1, 1100, A, 0, 250, 50, 750);
	assert_int_equal(schedule__finish(&s), 0);
	assert_string_equal(steps(&s, A), "run 100, wait 200, run 750");
	assert_string_equal(steps(&s, B), "sleep 100, run 200, wake, run 800");
	schedule__free(&s);
}

/* All steps can be replayed, whatever a file contains: some task can always go on. */
static bool can_be_done(const struct schedule *s)
{
	size_t at[8] = { 0 }, left = 0, i;
	u32 woken[8] = { 0 };
	bool moved = true;

	assert_true(s->ids.n <= ARRAY_SIZE(at));
	while (moved) {
		moved = false;
		for (i = 0; i < s->ids.n; i++) {
			const struct schedule_task *t = &s->task[i];

			for (; at[i] < t->n; at[i]++) {
				const struct step *step = &t->step[at[i]];

				if (step->kind == STEP_WAIT && !woken[i])
					break;
				woken[i] -= step->kind == STEP_WAIT;
				if (step->kind == STEP_WAKE && s->wake[step->wake].counts)
					woken[s->wake[step->wake].to]++;
				moved = true;
			}
		}
	}
	for (i = 0; i < s->ids.n; i++)
		left += s->task[i].n - at[i] + woken[i];
	return !left;
}

static void always_ends(void **state)
{
	struct random randoms = { 7 };
	u64 at = 1000;
	int run, i;

	(void)state;
	for (run = 0; run < 2000; run++) {
		struct schedule s = {};

		for (i = 0; i < 300; i++) {
			u32 one = 1 + random__below(&randoms, 5), two = random__below(&randoms, 6);
			s64 ns = random__below(&randoms, 4) ? (s64)random__below(&randoms, 5000) : -1;

			at += random__below(&randoms, 3) * 5000 - random__below(&randoms, 2) * 2500;
			switch (random__below(&randoms, 4)) {
			case 0:
				comes(&s, at, one);
				break;
			case 1:
				leaves(&s, at, one, two, ns, ns / 2, ns);
				break;
			default:
				if (two)
					wakes(&s, at, two, one);
			}
		}
		assert_int_equal(schedule__finish(&s), 0);
		assert_true(can_be_done(&s));
		schedule__free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_and_sleeps),
		cmocka_unit_test(leaves_unseen),
		cmocka_unit_test(leaves_unseen_and_is_seen_again),
		cmocka_unit_test(wakes_another),
		cmocka_unit_test(woken_in_vain),
		cmocka_unit_test(woken_while_it_leaves),
		cmocka_unit_test(runs_at_the_end),
		cmocka_unit_test(always_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
