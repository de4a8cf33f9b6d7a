// SPDX-License-Identifier: BSD-2-Clause
/* The critical path of made-up records: which threads it leads to, and that no time is lost or counted twice. */
#include "unit.h"

#include "calls/why/path.h"

#include "bpf/calls/why.h"

/* Takes a record of a thread. Further arguments initialize other members by name. */
#define TAKE(p, its_kind, its_tid, its_number, from, wakeup, to, ...)                                                  \
	assert_int_equal(0, path__take(p, &(struct whypath_record){ .kind = its_kind,                                  \
								    .tid = its_tid,                                    \
								    .number = its_number,                              \
								    .since = from,                                     \
								    .woken = wakeup,                                   \
								    .until = to,                                       \
								    ##__VA_ARGS__ }))

#define BY_THREAD .code = WHYPATH_CODE(KIND_PIPE, WHYPATH_BY_THREAD)
#define BY_INTERRUPT .code = WHYPATH_CODE(0, WHYPATH_BY_INTERRUPT)

struct expected {
	u64 from, until;
	enum path_what what;
	u32 tid;
	const char *name;
};

/* Links are kept with the last one first. */
static void assert_links(const struct path *p, const struct expected *e, size_t n)
{
	const struct path_link *l;
	size_t i;

	assert_int_equal(p->nlinks, n);
	for (i = 0; i < n; i++) {
		l = &p->link[i];
		assert_int_equal(l->from, e[i].from);
		assert_int_equal(l->until, e[i].until);
		assert_int_equal(l->what, e[i].what);
		assert_int_equal(l->tid, e[i].tid);
		if (e[i].name)
			assert_string_equal(path__name(p, l->name), e[i].name);
	}
}

/* Thread 1 creates thread 2 and waits for it. Thread 2 gets a name, sleeps, is preempted and ends. */
static void take_family(struct path *p)
{
	TAKE(p, WHYPATH_NAME, 1, 0, 1, 1, 1, .comm = "sh");
	TAKE(p, WHYPATH_BIRTH, 2, 0, 190, 200, 205, .waker = 1, .phase = WHY_STARTING, BY_THREAD, .comm = "sh");
	TAKE(p, WHYPATH_NAME, 2, 1, 210, 210, 210, .comm = "cc");
	TAKE(p, WHYPATH_WAIT, 2, 2, 230, 280, 283, .phase = WHY_SLEEP, BY_INTERRUPT);
	TAKE(p, WHYPATH_WAIT, 2, 3, 300, 0, 320, .phase = WHY_PREEMPTED);
	TAKE(p, WHYPATH_END, 2, 4, 352, 352, 352, .waker = 2, .comm = "cc");
	TAKE(p, WHYPATH_WAIT, 1, 1, 215, 350, 355, .phase = WHY_SLEEP, .waker = 2, BY_THREAD);
	TAKE(p, WHYPATH_END, 1, 2, 400, 400, 400, .waker = 1, .comm = "sh");
}

static void leads_to_the_waker(void **state)
{
	static const struct expected links[] = {
		{ 355, 400, PATH_ON_CPU, 1, "sh" }, { 350, 355, PATH_FOR_CPU, 1, "sh" },
		{ 320, 350, PATH_ON_CPU, 2, "cc" }, { 300, 320, PATH_FOR_CPU, 2, "cc" },
		{ 283, 300, PATH_ON_CPU, 2, "cc" }, { 280, 283, PATH_FOR_CPU, 2, "cc" },
		{ 230, 280, PATH_WAIT, 2, "cc" },   { 210, 230, PATH_ON_CPU, 2, "cc" },
		{ 205, 210, PATH_ON_CPU, 2, "sh" }, { 200, 205, PATH_FOR_CPU, 2, "sh" },
		{ 100, 200, PATH_ON_CPU, 1, "sh" },
	};
	struct path p = { .end_pid = 1 };

	(void)state;
	take_family(&p);
	assert_int_equal(p.end_tid, 1);
	assert_int_equal(p.end_ns, 400);
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk(&p, 1, 100, 400), 0);
	assert_links(&p, links, ARRAY_SIZE(links));
	assert_int_equal(p.nthreads_linked, 2);
	path__free(&p);
}

/* Record 2 of thread 2 is missing: from 210 to 300 nobody knows what it did. */
static void lost_record(void **state)
{
	static const struct expected links[] = {
		{ 320, 352, PATH_ON_CPU, 2, "cc" },  { 300, 320, PATH_FOR_CPU, 2, "cc" },
		{ 210, 300, PATH_HOLE, 2, "cc" },    { 205, 210, PATH_ON_CPU, 2, "sh" },
		{ 200, 205, PATH_FOR_CPU, 2, "sh" }, { 100, 200, PATH_HOLE, 2, "sh" },
	};
	struct path p = {};

	(void)state;
	TAKE(&p, WHYPATH_BIRTH, 2, 0, 190, 200, 205, .waker = 1, .phase = WHY_STARTING, BY_THREAD, .comm = "sh");
	TAKE(&p, WHYPATH_NAME, 2, 1, 210, 210, 210, .comm = "cc");
	TAKE(&p, WHYPATH_WAIT, 2, 3, 300, 0, 320, .phase = WHY_PREEMPTED);
	TAKE(&p, WHYPATH_END, 2, 4, 352, 352, 352, .comm = "cc");
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk(&p, 2, 100, 352), 0);
	assert_links(&p, links, ARRAY_SIZE(links));
	path__free(&p);
}

/* If the waker has no records, the wait is a hole, and the path continues before it. */
static void unknown_waker(void **state)
{
	static const struct expected links[] = {
		{ 250, 300, PATH_ON_CPU, 1, "sh" },
		{ 240, 250, PATH_FOR_CPU, 1, "sh" },
		{ 200, 240, PATH_HOLE, 1, "sh" },
		{ 100, 200, PATH_ON_CPU, 1, "sh" },
	};
	struct path p = {};

	(void)state;
	TAKE(&p, WHYPATH_NAME, 1, 0, 1, 1, 1, .comm = "sh");
	TAKE(&p, WHYPATH_WAIT, 1, 1, 200, 240, 250, .phase = WHY_SLEEP, .waker = 9, BY_THREAD);
	TAKE(&p, WHYPATH_OPEN, 1, 2, 250, 0, 0, .phase = WHY_ON_CPU);
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk(&p, 1, 100, 300), 0);
	assert_links(&p, links, ARRAY_SIZE(links));
	path__free(&p);
}

/* A wait that has not ended, and a thread id that belonged to another thread before. */
static void used_again(void **state)
{
	static const struct expected links[] = {
		{ 320, 400, PATH_WAIT, 2, "new" },    { 310, 320, PATH_ON_CPU, 2, "new" },
		{ 300, 310, PATH_FOR_CPU, 2, "new" }, { 260, 300, PATH_ON_CPU, 1, "sh" },
		{ 250, 260, PATH_FOR_CPU, 1, "sh" },  { 105, 250, PATH_ON_CPU, 2, "old" },
		{ 100, 105, PATH_FOR_CPU, 2, "old" },
	};
	struct path p = {};

	(void)state;
	TAKE(&p, WHYPATH_NAME, 1, 0, 1, 1, 1, .comm = "sh");
	TAKE(&p, WHYPATH_BIRTH, 2, 0, 80, 90, 105, .waker = 1, .phase = WHY_STARTING, BY_THREAD, .comm = "old");
	TAKE(&p, WHYPATH_END, 2, 1, 255, 255, 255, .comm = "old");
	TAKE(&p, WHYPATH_WAIT, 1, 1, 110, 250, 260, .phase = WHY_SLEEP, .waker = 2, BY_THREAD);
	TAKE(&p, WHYPATH_BIRTH, 2, 0, 290, 300, 310, .waker = 1, .phase = WHY_STARTING, BY_THREAD, .comm = "new");
	TAKE(&p, WHYPATH_OPEN, 2, 1, 320, 0, 0, .phase = WHY_SLEEP);
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk(&p, 2, 100, 400), 0);
	assert_links(&p, links, ARRAY_SIZE(links));
	path__free(&p);
}

/* A process ends with its last thread, but not while its first one still exists. */
static void ends(void **state)
{
	struct path p = { .end_pid = 1 }, of_thread = { .end_tid = 4 };

	(void)state;
	TAKE(&p, WHYPATH_END, 3, 0, 200, 200, 200, .waker = 1);
	TAKE(&p, WHYPATH_END, 7, 0, 210, 210, 210, .waker = 6);
	assert_int_equal(p.end_tid, 3);
	assert_int_equal(p.end_ns, 200);
	TAKE(&p, WHYPATH_OPEN, 1, 0, 150, 0, 0, .phase = WHY_SLEEP);
	assert_int_equal(p.end_tid, 0);
	assert_int_equal(p.end_ns, 0);
	path__free(&p);

	TAKE(&of_thread, WHYPATH_END, 1, 0, 200, 200, 200, .waker = 1);
	assert_int_equal(of_thread.end_ns, 0);
	TAKE(&of_thread, WHYPATH_END, 4, 0, 220, 220, 220, .waker = 1);
	assert_int_equal(of_thread.end_ns, 220);
	path__free(&of_thread);
}

/* Beyond the limit, the oldest records are dropped, and the path begins with a hole. */
static void no_room(void **state)
{
	struct path p = { .most = 4 };

	(void)state;
	take_family(&p);
	assert_int_equal(p.dropped, 4);
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk(&p, 1, 100, 400), 0);
	assert_int_equal(p.link[0].what, PATH_ON_CPU);
	assert_int_equal(p.link[p.nlinks - 1].what, PATH_HOLE);
	assert_int_equal(p.link[p.nlinks - 1].from, 100);
	assert_int_equal(p.link[p.nlinks - 1].until, 300);
	path__free(&p);
}

/* Asks thread 2, which asks thread 3. Both were busy before, and thread 3 sleeps. */
static void take_questions(struct path *p)
{
	TAKE(p, WHYPATH_NAME, 1, 0, 1, 1, 1, .comm = "asks");
	TAKE(p, WHYPATH_NAME, 2, 0, 1, 1, 1, .comm = "middle");
	TAKE(p, WHYPATH_NAME, 3, 0, 1, 1, 1, .comm = "last");
	TAKE(p, WHYPATH_WAIT, 3, 1, 50, 60, 61, .phase = WHY_SLEEP, BY_INTERRUPT);
	TAKE(p, WHYPATH_WAIT, 3, 2, 230, 280, 285, .phase = WHY_SLEEP, BY_INTERRUPT);
	TAKE(p, WHYPATH_WAIT, 2, 1, 210, 300, 302, .phase = WHY_SLEEP, .waker = 3, BY_THREAD);
	TAKE(p, WHYPATH_WAIT, 1, 1, 200, 320, 325, .phase = WHY_SLEEP, .waker = 2, BY_THREAD);
	TAKE(p, WHYPATH_SPAN, 1, 0, 150, 150, 340);
	TAKE(p, WHYPATH_OPEN, 1, 2, 325, 0, 0, .phase = WHY_ON_CPU);
	TAKE(p, WHYPATH_OPEN, 2, 2, 302, 0, 0, .phase = WHY_ON_CPU);
	TAKE(p, WHYPATH_OPEN, 3, 3, 285, 0, 0, .phase = WHY_ON_CPU);
	assert_int_equal(path__index(p), 0);
}

/* The waits are explained, and each thread goes on where its wait began. */
static void spans_stay_in_their_thread(void **state)
{
	static const struct expected links[] = {
		{ 325, 340, PATH_ON_CPU, 1, "asks" },	{ 320, 325, PATH_FOR_CPU, 1, "asks" },
		{ 302, 320, PATH_ON_CPU, 2, "middle" }, { 300, 302, PATH_FOR_CPU, 2, "middle" },
		{ 285, 300, PATH_ON_CPU, 3, "last" },	{ 280, 285, PATH_FOR_CPU, 3, "last" },
		{ 230, 280, PATH_WAIT, 3, "last" },	{ 210, 230, PATH_ON_CPU, 3, "last" },
		{ 200, 210, PATH_ON_CPU, 2, "middle" }, { 150, 200, PATH_ON_CPU, 1, "asks" },
	};
	struct path p = {};
	size_t i, round;

	(void)state;
	take_questions(&p);
	assert_int_equal(p.nspans, 1);
	/* Any number of walks give the same. */
	for (round = 0; round < 2; round++) {
		assert_int_equal(path__walk_span(&p, &p.span[0]), 0);
		assert_links(&p, links, ARRAY_SIZE(links));
		for (i = 0; i < p.nlinks; i++)
			assert_int_equal(p.link[i].is_other, p.link[i].tid != 1);
	}
	/* The critical path of the same time leaves the first thread for the one that was busy all the while. */
	assert_int_equal(path__walk(&p, 1, 150, 340), 0);
	assert_int_equal(p.link[p.nlinks - 1].tid, 3);
	assert_int_equal(p.link[p.nlinks - 1].from, 150);
	path__free(&p);
}

/* Two threads that wake each other at the same time, as clocks of two CPUs may say: the walk ends. */
static void wakers_of_each_other(void **state)
{
	struct path p = {};
	u64 sum = 0;
	size_t i;

	(void)state;
	TAKE(&p, WHYPATH_NAME, 1, 0, 1, 1, 1, .comm = "one");
	TAKE(&p, WHYPATH_NAME, 2, 0, 1, 1, 1, .comm = "two");
	TAKE(&p, WHYPATH_WAIT, 1, 1, 200, 300, 300, .phase = WHY_SLEEP, .waker = 2, BY_THREAD);
	TAKE(&p, WHYPATH_WAIT, 2, 1, 200, 300, 300, .phase = WHY_SLEEP, .waker = 1, BY_THREAD);
	TAKE(&p, WHYPATH_SPAN, 1, 0, 100, 100, 300);
	assert_int_equal(path__index(&p), 0);
	assert_int_equal(path__walk_span(&p, &p.span[0]), 0);
	for (i = 0; i < p.nlinks; i++)
		sum += p.link[i].until - p.link[i].from;
	assert_int_equal(sum, 200);
	path__free(&p);
}

static void take_any(struct path *p, struct random *random)
{
	struct whypath_record r = {
		.since = random__below(random, 1000),
		.woken = random__below(random, 1000),
		.until = random__below(random, 1000),
		.tid = random__below(random, 5),
		.waker = random__below(random, 5),
		.number = random__below(random, 8),
		.phase = random__below(random, WHY_PHASES),
		.code = random__below(random, 16 * WHYPATH_BYS),
		.kind = random__below(random, WHYPATH_SPAN + 1),
	};

	assert_int_equal(path__take(p, &r), 0);
}

static void assert_no_gaps(const struct path *p, u64 began, u64 ended)
{
	size_t i;

	if (began >= ended) {
		assert_int_equal(p->nlinks, 0);
		return;
	}
	assert_int_equal(p->link[0].until, ended);
	assert_int_equal(p->link[p->nlinks - 1].from, began);
	for (i = 1; i < p->nlinks; i++)
		assert_int_equal(p->link[i].until, p->link[i - 1].from);
}

/* For any records, links follow each other without gaps from begin to end, of the run and of each span. */
static void any_records(void **state)
{
	struct random random = { 1 };
	struct path p;
	size_t i, round;

	(void)state;
	for (round = 0; round < 2000; round++) {
		p = (struct path){ .most = 1 + random__below(&random, 40) };
		for (i = random__below(&random, 60); i; i--)
			take_any(&p, &random);
		assert_int_equal(path__index(&p), 0);
		assert_int_equal(path__walk(&p, random__below(&random, 6), 100, 900), 0);
		assert_no_gaps(&p, 100, 900);
		for (i = 0; i < p.nspans; i++) {
			assert_int_equal(path__walk_span(&p, &p.span[i]), 0);
			assert_no_gaps(&p, p.span[i].began, p.span[i].ended);
		}
		path__free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leads_to_the_waker),
		cmocka_unit_test(lost_record),
		cmocka_unit_test(unknown_waker),
		cmocka_unit_test(used_again),
		cmocka_unit_test(ends),
		cmocka_unit_test(no_room),
		cmocka_unit_test(any_records),
		cmocka_unit_test(spans_stay_in_their_thread),
		cmocka_unit_test(wakers_of_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
