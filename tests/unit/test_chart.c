// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slots of time charts, from tasks that change states, and from records of this as
 * bpf/sched/timechart.bpf.c makes them.
 */
#include "unit.h"

#include "sched/chart.h"

#define BEGIN 1000000007ULL
#define CPUS 3
#define MOST_CHANGES 400

/* The states of a task in two forms: as they were, and as records. */
struct actor {
	u32 tid;
	u64 at[MOST_CHANGES + 1];       /* since the begin; the last one is the end */
	u32 state[MOST_CHANGES], cpu[MOST_CHANGES];
	u32 n;
	bool ends;              /* ends before the run does */
	u64 run_ns;
	struct timechart_record open;
	u32 told;
};

static struct random randoms = { 1 };

static u64 next_random(void)
{
	return random__next(&randoms);
}

static void act(struct actor *a, u32 tid, u64 from, u64 until, u64 most_step)
{
	u32 cpu = next_random() % CPUS;

	*a = (struct actor){ .tid = tid };
	a->at[0] = from;
	while (a->n < MOST_CHANGES && a->at[a->n] < until) {
		u64 step = 1 + next_random() % (next_random() % 4 ? most_step : 40 * most_step);

		a->state[a->n] = next_random() % TIMECHART_STATES;
		if (!(next_random() % 8))
			cpu = next_random() % CPUS;
		a->cpu[a->n] = cpu;
		a->at[a->n + 1] = a->at[a->n] + step < until ? a->at[a->n] + step : until;
		if (a->state[a->n] == TIMECHART_RUN)
			a->run_ns += a->at[a->n + 1] - a->at[a->n];
		a->n++;
	}
	a->ends = a->at[a->n] < until;
}

static void send(struct chart *c, struct actor *a, u64 since, u64 until, u32 state)
{
	struct timechart_record r = a->open;

	r.tid = r.pid = a->tid;
	r.since = since;
	r.until = until;
	r.state = state;
	assert_int_equal(chart__take(c, &r), 0);
	memset(a->open.ns, 0, sizeof(a->open.ns));
}

static u64 end_of_slot(const struct chart *c, u64 at)
{
	return c->begin_ns + ((at - c->begin_ns) / c->width_ns + 1) * c->width_ns;
}

/* Reports one change of state as the kernel side does. */
static void tell(struct chart *c, struct actor *a)
{
	u64 since = BEGIN + a->at[a->told], until = BEGIN + a->at[a->told + 1];
	u32 state = a->state[a->told];

	if (state == TIMECHART_RUN && a->open.cpu != a->cpu[a->told]) {
		if (a->open.ns[TIMECHART_RUN])
			send(c, a, since, since, TIMECHART_NONE);
		a->open.cpu = a->cpu[a->told];
	}
	if (!a->open.slot_end)
		a->open.slot_end = end_of_slot(c, since);
	if (until <= a->open.slot_end) {
		a->open.ns[state] += until - since;
	} else {
		send(c, a, since, until, state);
		a->open.slot_end = end_of_slot(c, until);
	}
	if (++a->told == a->n)
		send(c, a, until, until, a->ends ? TIMECHART_GONE : TIMECHART_NONE);
}

/* Reports all changes in the order of time. */
static void tell_all(struct chart *c, struct actor *a, size_t n)
{
	size_t i, next;

	for (;;) {
		next = n;
		for (i = 0; i < n; i++)
			if (a[i].told < a[i].n &&
			    (next == n || a[i].at[a[i].told + 1] < a[next].at[a[next].told + 1]))
				next = i;
		if (next == n)
			return;
		tell(c, &a[next]);
	}
}

static u64 overlap(u64 a, u64 b, u64 c, u64 d)
{
	u64 from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

static u64 had(const struct actor *a, u32 state, u32 cpu, u64 from, u64 to)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < a->n; i++)
		if (a->state[i] == state && (cpu == CPUS || a->cpu[i] == cpu))
			ns += overlap(a->at[i], a->at[i + 1], from, to);
	return ns;
}

static const struct actor *actor_of(const struct actor *a, size_t n, u32 tid)
{
	while (n--)
		if (a[n].tid == tid)
			return &a[n];
	fail();
	return NULL;
}

static void check_slot(const struct timechart *t, const struct actor *a, size_t n, u32 slot)
{
	u64 from = slot * t->slot_ns, to = from + t->slot_ns, sum[TIMECHART_STATES] = { 0 };
	size_t i;
	u32 k;

	for (i = 0; i < t->n; i++) {
		const struct timechart_row *row = &t->row[i];
		const struct timechart_slot *s = &row->slot[slot];
		u64 busy = 0;
		size_t m;

		for (m = 0; m < n && row->kind == TIMECHART_CPU; m++)
			busy += had(&a[m], TIMECHART_RUN, row->cpu, from, to);
		for (k = 0; k < TIMECHART_STATES; k++) {
			if (row->kind == TIMECHART_CPU)
				assert_int_equal(s->ns[k], k == TIMECHART_RUN ? busy : 0);
			else
				sum[k] += s->ns[k];
			if (row->kind == TIMECHART_TASK)
				assert_int_equal(s->ns[k], had(actor_of(a, n, row->tid), k, CPUS,
							       from, to));
		}
	}
	/* The rows of others contain the rest, and nothing is lost. */
	for (k = 0; k < TIMECHART_STATES; k++)
		for (i = 0; i < n; i++)
			sum[k] -= had(&a[i], k, CPUS, from, to);
	for (k = 0; k < TIMECHART_STATES; k++)
		assert_int_equal(sum[k], 0);
}

static int by_run(const void *a, const void *b)
{
	const struct actor *x = a, *y = b;

	return x->run_ns > y->run_ns ? -1 : x->run_ns < y->run_ns;
}

static void check(struct actor *a, size_t n, u64 width_ns, size_t top, u64 end_ns)
{
	struct timechart t;
	struct chart c;
	size_t i;
	u32 slot;

	assert_int_equal(chart__init(&c, BEGIN, width_ns, 1, top), 0);
	tell_all(&c, a, n);
	assert_int_equal(chart__draw(&c, BEGIN + end_ns, &t), 0);
	assert_true(t.nslots <= CHART_SLOTS && t.nslots * t.slot_ns >= end_ns);
	assert_int_equal(t.ncpus, CPUS);
	assert_true((t.slot_ns / width_ns & (t.slot_ns / width_ns - 1)) == 0);
	for (slot = 0; slot < t.nslots; slot++)
		check_slot(&t, a, n, slot);
	/* The tasks with rows of their own ran longest. */
	qsort(a, n, sizeof(*a), by_run);
	for (i = 0; i < top && i < n; i++)
		assert_int_equal(t.row[t.ncpus + i].total[TIMECHART_RUN], a[i].run_ns);
	timechart__free(&t);
	chart__free(&c);
}

static void slots_are_what_happened(void **state)
{
	const u64 end_ns = 2000000;
	struct actor *a = calloc(40, sizeof(*a));
	u32 i;

	(void)state;
	for (i = 0; i < 40; i++)
		act(&a[i], 100 + i, next_random() % (end_ns / 2), end_ns, 1000 << i % 6);
	check(a, 40, 7, 5, end_ns);
	free(a);
}

/* Far more tasks than are considered at once. Most have ended long before the end. */
static void those_that_ended(void **state)
{
	const u32 n = 3000;
	const u64 end_ns = 3000000;
	struct actor *a = calloc(n, sizeof(*a));
	u32 i;

	(void)state;
	for (i = 0; i < n; i++) {
		u64 from = i * (end_ns / n);

		act(&a[i], 100 + i, from, from + 1 + next_random() % 9000, 500);
		a[i].ends = true;
	}
	check(a, n, 100, 10, end_ns + 10000);
	free(a);
}

/* A record that was begun in a narrow slot and arrives when slots are wide. */
static void a_late_record(void **state)
{
	struct timechart_record r = {
		.slot_end = BEGIN + 30, .ns = { 4, 3, 2, 1 }, .since = BEGIN + 30,
		.until = BEGIN + 30 + 600000, .state = TIMECHART_SLEEP, .pid = 1, .tid = 1,
	};
	struct timechart t;
	struct chart c;

	(void)state;
	assert_int_equal(chart__init(&c, BEGIN, 10, 1, 1), 0);
	assert_int_equal(chart__take(&c, &r), 0);
	assert_int_equal(c.width_ns, 10 << 7);
	assert_int_equal(chart__draw(&c, BEGIN + 600030, &t), 0);
	assert_int_equal(t.row[1].slot[0].ns[PART_RUN], 4);
	assert_int_equal(t.row[1].slot[0].ns[PART_SLEEP], 1280 - 30 + 2);
	assert_int_equal(t.row[1].slot[1].ns[PART_SLEEP], 1280);
	assert_int_equal(t.row[1].total[PART_SLEEP], 600002);
	timechart__free(&t);
	chart__free(&c);
}

/* Two tasks have the same id, one after the other. */
static void an_id_that_comes_again(void **state)
{
	struct timechart_record r = {
		.slot_end = BEGIN + 10, .ns = { 5 }, .state = TIMECHART_GONE, .pid = 7, .tid = 7,
	};
	struct timechart t;
	struct chart c;

	(void)state;
	assert_int_equal(chart__init(&c, BEGIN, 10, 1, 5), 0);
	assert_int_equal(chart__take(&c, &r), 0);
	r.ns[0] = 6;
	r.slot_end = BEGIN + 40;
	assert_int_equal(chart__take(&c, &r), 0);
	assert_int_equal(chart__draw(&c, BEGIN + 100, &t), 0);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.row[1].total[PART_RUN], 6);
	assert_int_equal(t.row[2].total[PART_RUN], 5);
	timechart__free(&t);
	chart__free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_what_happened),
		cmocka_unit_test(those_that_ended),
		cmocka_unit_test(a_late_record),
		cmocka_unit_test(an_id_that_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
