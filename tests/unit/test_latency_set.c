// SPDX-License-Identifier: BSD-2-Clause
/* Snapshots of run times and waits: adding up, differences, what an iterator gives. */
#include "unit.h"

#include <unistd.h>

#include "agg/latency_set.h"

static void add(struct latency_set *set, u32 tid, u64 run, u64 switches, u64 wait, u64 longest, u64 at)
{
	struct latency l = {
		.key.tid = tid, .run_ns = run, .switches = switches, .wait_ns = wait,
		.has_longest = at, .longest_ns = longest, .longest_at_ns = at,
		.name_stamp = at, .name = "task",
	};

	assert_int_equal(latency_set__add(set, &l), 0);
}

static void cpus_of_a_key_add_up(void **state)
{
	struct latency_set set = {};

	(void)state;
	add(&set, 2, 10, 1, 100, 70, 5);
	add(&set, 1, 1, 1, 1, 1, 1);
	add(&set, 2, 20, 2, 200, 70, 4);        /* as long, and before */
	add(&set, 2, 5, 0, 0, 999, 0);          /* not of this interval */
	latency_set__settle(&set);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.latency[0].key.tid, 1);
	assert_int_equal(set.latency[1].run_ns, 35);
	assert_int_equal(set.latency[1].switches, 3);
	assert_int_equal(set.latency[1].wait_ns, 300);
	assert_int_equal(set.latency[1].longest_ns, 70);
	assert_int_equal(set.latency[1].longest_at_ns, 4);
	latency_set__free(&set);
	latency_set__settle(&set);
	assert_int_equal(set.n, 0);
}

static void differences(void **state)
{
	struct latency_set earlier = {}, later = {}, out;

	(void)state;
	add(&earlier, 1, 10, 1, 100, 9, 1);
	add(&earlier, 2, 10, 1, 100, 9, 1);
	add(&earlier, 4, 10, 1, 100, 9, 1);
	add(&later, 1, 10, 1, 100, 9, 2);       /* did nothing */
	add(&later, 2, 15, 3, 107, 6, 3);
	add(&later, 3, 5, 1, 2, 2, 3);          /* is new */
	add(&later, 4, 12, 1, 100, 9, 3);       /* ran on */
	assert_int_equal(latency_set__difference(&out, &later, &earlier), 0);
	assert_int_equal(out.n, 3);
	assert_int_equal(out.latency[0].key.tid, 2);
	assert_int_equal(out.latency[0].run_ns, 5);
	assert_int_equal(out.latency[0].switches, 2);
	assert_int_equal(out.latency[0].wait_ns, 7);
	assert_int_equal(out.latency[0].longest_ns, 6);
	assert_int_equal(out.latency[1].key.tid, 3);
	assert_int_equal(out.latency[1].run_ns, 5);
	assert_int_equal(out.latency[2].run_ns, 2);
	assert_false(out.latency[2].has_longest);
	latency_set__free(&out);
	latency_set__free(&earlier);
	latency_set__free(&later);
}

/* A slice that was shown while it went on, and ended while the next snapshot was read. */
static void run_time_never_falls(void **state)
{
	struct latency_set first = {}, second = {}, third = {}, out;

	(void)state;
	add(&first, 1, 100, 1, 0, 0, 0);
	add(&second, 1, 60, 2, 0, 0, 0);
	add(&third, 1, 130, 2, 0, 0, 0);
	assert_int_equal(latency_set__difference(&out, &second, &first), 0);
	assert_int_equal(out.latency[0].run_ns, 0);
	assert_int_equal(second.latency[0].run_ns, 100);
	latency_set__free(&out);
	assert_int_equal(latency_set__difference(&out, &third, &second), 0);
	assert_int_equal(out.latency[0].run_ns, 30);
	latency_set__free(&out);
	latency_set__free(&first);
	latency_set__free(&second);
	latency_set__free(&third);
}

/* Reads end anywhere. */
static void slices_that_go_on(void **state)
{
	enum { TASKS = 300 };
	static const struct schedlat_running none;
	struct schedlat_running r = none;
	struct latency_set set = {};
	int fd[2];
	size_t i;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	for (i = 0; i < TASKS; i++) {
		r.task.tid = i;
		r.run_ns = 1000 + i;
		memcpy(r.name, "0123456789abcdef", sizeof(r.name));
		assert_int_equal(write(fd[1], &r, sizeof(r)), sizeof(r));
	}
	assert_int_equal(write(fd[1], &r, 7), 7);       /* less than one at the end */
	close(fd[1]);
	assert_int_equal(latency_set__read_running(&set, fd[0]), 0);
	close(fd[0]);
	assert_int_equal(set.n, TASKS);
	for (i = 0; i < TASKS; i++) {
		assert_int_equal(set.latency[i].key.tid, i);
		assert_int_equal(set.latency[i].run_ns, 1000 + i);
		assert_memory_equal(set.latency[i].name, r.name, sizeof(r.name));
	}
	assert_int_equal(latency_set__read_running(&set, -1), -EBADF);
	latency_set__free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_of_a_key_add_up),
		cmocka_unit_test(differences),
		cmocka_unit_test(run_time_never_falls),
		cmocka_unit_test(slices_that_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
