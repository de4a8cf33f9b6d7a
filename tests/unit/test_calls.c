// SPDX-License-Identifier: BSD-2-Clause
/* Sets of system calls: keys, and the times of calls that last over several reports. */
#include "unit.h"

#include <unistd.h>

#include "calls/counts.h"

#define READ OUTCOME(0, 0)
#define READ_FAILED OUTCOME(0, 1)
#define WRITE OUTCOME(1, 0)

/* Adds a group of one value, as hist_set__difference() makes it, with the call alone as key. */
static void add_time(struct calls *set, u64 outcome, u64 value)
{
	u64 counts[HIST_BUCKETS] = {};
	struct histogram_totals totals = { .sum = value, .max = value, .min_inv = ~value };
	struct hist_group g = { .key = &outcome };
	struct hist_set times = { .key_size = sizeof(outcome), .ngroups = 1, .group = &g };

	counts[hist_index(value)] = 1;
	assert_int_equal(histogram__init(&g.hist, counts, 0, HIST_BUCKETS, &totals), 0);
	assert_int_equal(calls__add_times(set, &times), 0);
}

static void add_running(struct calls *set, u64 outcome, u64 elapsed_ns)
{
	struct syscount_running r = { .outcome = outcome, .elapsed_ns = elapsed_ns };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], &r, sizeof(r)), sizeof(r));
	close(ends[1]);
	assert_int_equal(calls__add_running(set, ends[0]), 0);
	close(ends[0]);
}

static void counts_of_a_key_are_added_up(void **state)
{
	struct {
		struct syscount_key key;
		struct syscount_count value;
	} each[] = {
		{ { .outcome = WRITE }, { .count = 5 } },
		{ { .outcome = READ }, { .count = 7 } },
		{ { .outcome = READ_FAILED }, { .count = 2 } },
	};
	struct sum_set counts = { .layout = &calls_layout, .n = ARRAY_SIZE(each), .element = (char *)each };
	struct calls set = {}, before = {};

	(void)state;
	assert_int_equal(calls__add_counts(&set, &counts), 0);
	assert_int_equal(calls__add_up(&set, &before), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.call[0].calls, 9);
	assert_int_equal(set.call[0].errors, 2);
	assert_int_equal(set.call[1].calls, 5);
	assert_int_equal(set.call[1].errors, 0);
	calls__free(&set);

	set.tell_errors = true;
	assert_int_equal(calls__add_counts(&set, &counts), 0);
	assert_int_equal(calls__add_up(&set, &before), 0);
	assert_int_equal(set.n, 3);
	assert_int_equal(set.call[1].outcome, READ_FAILED);
	assert_int_equal(set.call[1].errors, 2);
	calls__free(&set);
	calls__free(&before);
}

static void times_of_a_key_are_added_up(void **state)
{
	struct calls set = {}, before = {};

	(void)state;
	add_time(&set, READ_FAILED, 100);
	add_time(&set, READ, 20);
	add_running(&set, READ, 7);
	add_running(&set, READ, 9);
	assert_int_equal(calls__add_up(&set, &before), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.call[0].calls, 2);
	assert_int_equal(set.call[0].errors, 1);
	assert_int_equal(set.call[0].hist.max, 100);
	assert_int_equal(set.call[0].running, 2);
	assert_int_equal(set.call[0].longest_ns, 9);
	assert_int_equal(set.call[0].time_ns, 136);
	calls__free(&set);
	calls__free(&before);
}

/* Returns the time of READ in a report. ended, running: 0 for none. */
static u64 spent(struct calls *before, u64 ended, u64 running)
{
	struct calls set = {};
	u64 time = 0;
	size_t i;

	if (ended)
		add_time(&set, READ, ended);
	if (running)
		add_running(&set, READ, running);
	assert_int_equal(calls__add_up(&set, before), 0);
	for (i = 0; i < set.n; i++)
		time += set.call[i].time_ns;
	calls__free(&set);
	return time;
}

static void what_goes_on_counts_once(void **state)
{
	struct calls before = {};

	(void)state;
	assert_int_equal(spent(&before, 0, 10), 10);
	assert_int_equal(spent(&before, 0, 25), 15);
	assert_int_equal(spent(&before, 31, 0), 6);     /* its end */
	assert_int_equal(spent(&before, 4, 0), 4);      /* another */
	assert_int_equal(spent(&before, 0, 0), 0);
	calls__free(&before);
}

static void what_ends_between_the_readings_is_in_the_next_report(void **state)
{
	struct calls before = {};

	(void)state;
	assert_int_equal(spent(&before, 0, 25), 25);
	assert_int_equal(spent(&before, 0, 0), 0);      /* neither ended nor running */
	assert_int_equal(spent(&before, 31, 0), 6);
	/* The same, with another call beside it. */
	assert_int_equal(spent(&before, 0, 25), 25);
	assert_int_equal(spent(&before, 0, 3), 0);
	assert_int_equal(spent(&before, 31, 8), 31 + 8 - 25);
	assert_int_equal(spent(&before, 0, 9), 1);
	calls__free(&before);
}

/* If a call's end is never seen, its time is not subtracted from that of other calls forever. */
static void what_never_ends_is_forgotten(void **state)
{
	struct calls before = {};

	(void)state;
	assert_int_equal(spent(&before, 0, 25), 25);
	assert_int_equal(spent(&before, 0, 0), 0);
	assert_int_equal(spent(&before, 0, 0), 0);
	assert_int_equal(spent(&before, 31, 0), 31);
	calls__free(&before);
}

static void to_one_cgroup(void *cgroup, void *key)
{
	((struct task_key *)key)->cgroup = *(const u64 *)cgroup;
}

/* Keys that are merged after everything was added up have the time of all of them, and one histogram. */
static void keys_that_become_one(void **state)
{
	struct task_key_of_time {
		struct task_key task;
		u64 outcome;
	} keys[] = {
		{ { .cgroup = 1, .pid = 5 }, READ }, { { .cgroup = 2, .pid = 5 }, READ },
		{ { .cgroup = 2, .pid = 6 }, READ }, { { .cgroup = 3, .pid = 5 }, WRITE },
	};
	struct hist_group g[ARRAY_SIZE(keys)] = {};
	struct hist_set times = { .key_size = sizeof(keys[0]), .ngroups = ARRAY_SIZE(keys), .group = g };
	struct calls set = {}, before = {};
	u64 one = 9;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		struct dense d = {};

		dense__add(&d, 100 << i);
		g[i].key = &keys[i];
		g[i].hist = dense__histogram(&d);
	}
	assert_int_equal(calls__add_times(&set, &times), 0);
	assert_int_equal(calls__add_up(&set, &before), 0);
	assert_int_equal(set.n, 4);
	assert_int_equal(calls__regroup(&set, to_one_cgroup, &one), 0);
	assert_int_equal(set.n, 3);
	assert_int_equal(set.call[0].task.pid, 5);
	assert_int_equal(set.call[0].outcome, READ);
	assert_int_equal(set.call[0].calls, 2);
	assert_int_equal(set.call[0].time_ns, 300);
	assert_int_equal(set.call[0].hist.count, 2);
	assert_int_equal(set.call[0].hist.max, 200);
	assert_int_equal(set.call[1].outcome, WRITE);
	assert_int_equal(set.call[1].time_ns, 800);
	assert_int_equal(set.call[2].task.pid, 6);
	assert_int_equal(set.call[2].time_ns, 400);
	calls__free(&set);
	calls__free(&before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_a_key_are_added_up),
		cmocka_unit_test(times_of_a_key_are_added_up),
		cmocka_unit_test(what_goes_on_counts_once),
		cmocka_unit_test(what_ends_between_the_readings_is_in_the_next_report),
		cmocka_unit_test(what_never_ends_is_forgotten),
		cmocka_unit_test(keys_that_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
