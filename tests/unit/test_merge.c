// SPDX-License-Identifier: BSD-2-Clause
/* Merges the reports of several intervals into one. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/merge.h"
#include "record/when.h"

static void add_cell(struct report_row *row, const struct field *f)
{
	assert_int_equal(report_row__add_field(row, f), 0);
}

/* Adds the row of one task, as in the table of a histogram. */
static void add_waits(struct report *r, u64 tid, const char *comm, u64 count, u64 total, u64 p99, u64 max)
{
	const struct field cells[] = {
		{ .name = "tid", .number = tid, .kind = FIELD_ID },
		{ .name = "count", .number = count, .role = ROLE_COUNTER },
		{ .name = "total", .number = total, .kind = FIELD_DURATION, .role = ROLE_COUNTER },
		{ .name = "avg", .number = total / count, .kind = FIELD_DURATION, .role = ROLE_MEAN, .of = "total",
		  .per = "count" },
		{ .name = "p99", .number = p99, .kind = FIELD_DURATION },
		{ .name = "max", .number = max, .kind = FIELD_DURATION, .role = ROLE_MAXIMUM },
		{ .name = "of_cpu_percent", .real = total / 1e7, .kind = FIELD_REAL, .decimals = 2,
		  .role = ROLE_PERCENT, .of = "total" },
	};
	struct field label = { .name = "comm", .text = strdup(comm), .role = ROLE_LABEL };
	struct report_row row = {};
	size_t i;

	add_cell(&row, &cells[0]);
	add_cell(&row, &label);
	for (i = 1; i < ARRAY_SIZE(cells); i++)
		add_cell(&row, &cells[i]);
	assert_int_equal(report__add_row(r, &row), 0);
}

static struct report interval(u64 start_ns)
{
	return (struct report){
		.tool = "waits",
		.command = "waits --by tid",
		.start_ns = start_ns,
		.duration_ns = NSEC_PER_SEC,
		.table = true,
		.has_events = true,
	};
}

static void add(struct merge *m, struct report *r)
{
	assert_int_equal(merge__add(m, r), 0);
	report__free(r);
}

static const struct field *cell(const struct report_row *row, const char *name)
{
	size_t i;

	for (i = 0; i < row->ncells; i++)
		if (!strcmp(row->cell[i].name, name))
			return &row->cell[i];
	fail();
	return NULL;
}

static void test_rows(void **state)
{
	struct merge *m = merge__new();
	struct report first = interval(5), second = interval(9), *all;

	(void)state;
	assert_null(merge__report(m));
	add_waits(&first, 7, "sh", 10, 1000, 300, 400);
	add_waits(&first, 8, "cc1", 1, 50, 50, 50);
	first.events = 11;
	first.counters.lost[LOSS_MAP_FULL] = 2;
	add(m, &first);
	add_waits(&second, 7, "ls", 30, 5000, 200, 900);        /* the task has become another program */
	second.events = 30;
	second.counters.lost[LOSS_MAP_FULL] = 3;
	add(m, &second);
	all = merge__report(m);
	assert_int_equal(merge__count(m), 2);
	assert_string_equal(all->command, "waits --by tid");
	assert_int_equal(all->start_ns, 5);
	assert_int_equal(all->duration_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(all->events, 41);
	assert_int_equal(all->counters.lost[LOSS_MAP_FULL], 5);
	assert_int_equal(all->nrows, 2);
	assert_string_equal(cell(&all->row[0], "comm")->text, "ls");
	assert_int_equal(cell(&all->row[0], "count")->number, 40);
	assert_int_equal(cell(&all->row[0], "total")->number, 6000);
	assert_int_equal(cell(&all->row[0], "avg")->number, 150);
	assert_int_equal(cell(&all->row[0], "max")->number, 900);
	assert_int_equal(cell(&all->row[0], "p99")->kind, FIELD_NONE);
	assert_float_equal(cell(&all->row[0], "of_cpu_percent")->real, 100.0 * 6000 / (2 * NSEC_PER_SEC), 1e-9);
	/* The share of a task that occurs in only one interval refers to the whole time. */
	assert_float_equal(cell(&all->row[1], "of_cpu_percent")->real, 100.0 * 50 / (2 * NSEC_PER_SEC), 1e-9);
	assert_int_equal(cell(&all->row[1], "p99")->number, 50);
	merge__free(m);
}

static void add_sum(struct merge *m, s64 sum, enum field_kind kind)
{
	const struct field f = { .name = "sum", .number = sum, .kind = kind, .role = ROLE_COUNTER };
	struct report r = interval(merge__count(m));
	struct report_row row = {};

	add_cell(&row, &f);
	assert_int_equal(report__add_row(&r, &row), 0);
	add(m, &r);
}

/* The sum of two intervals. */
static struct field sum_of(s64 one, s64 other, enum field_kind kind)
{
	struct merge *m = merge__new();
	struct field f;

	add_sum(m, one, kind);
	add_sum(m, other, kind);
	f = *cell(&merge__report(m)->row[0], "sum");
	merge__free(m);
	return f;
}

static void test_sums_with_a_sign(void **state)
{
	struct field f = sum_of(-5, 3, FIELD_SIGNED);

	(void)state;
	assert_int_equal(f.kind, FIELD_SIGNED);
	assert_int_equal((s64)f.number, -2);
	f = sum_of(INT64_MIN + 1, -1, FIELD_SIGNED);
	assert_int_equal(f.kind, FIELD_SIGNED);
	assert_int_equal((s64)f.number, INT64_MIN);
	/* Sums that do not fit into 64 bits are real and keep their sign. */
	f = sum_of(INT64_MIN, INT64_MIN, FIELD_SIGNED);
	assert_int_equal(f.kind, FIELD_REAL);
	assert_true(f.real == -0x1p64 && f.role == ROLE_COUNTER);
	assert_true(field_is_wide(&f) && f.exact == -((__int128)1 << 64));
	f = sum_of(INT64_MAX, 1, FIELD_SIGNED);
	assert_int_equal(f.kind, FIELD_REAL);
	assert_true(f.real == 0x1p63);
	f = sum_of(INT64_MAX, 1, FIELD_NUMBER);
	assert_int_equal(f.kind, FIELD_NUMBER);
	assert_true(f.number == 1ULL << 63);
	f = sum_of(-1, 1, FIELD_NUMBER);
	assert_int_equal(f.kind, FIELD_REAL);
	assert_true(f.real == 0x1p64);
}

static void test_what_stands_is_the_last(void **state)
{
	struct merge *m = merge__new();
	struct report first = interval(1), second = interval(2);

	(void)state;
	first.standing = second.standing = true;
	first.events = 7;
	first.hidden = 2;
	first.counters.filtered = 5;
	add_waits(&first, 7, "sh", 10, 1000, 300, 400);
	add_waits(&first, 8, "sh", 10, 1000, 300, 400);
	add(m, &first);
	add_waits(&second, 8, "sh", 20, 1000, 300, 400);
	second.events = 3;
	second.counters.filtered = 5;
	add(m, &second);
	assert_int_equal(merge__report(m)->nrows, 1);
	assert_int_equal(cell(&merge__report(m)->row[0], "count")->number, 20);
	assert_int_equal(merge__report(m)->events, 3);
	assert_int_equal(merge__report(m)->hidden, 0);
	assert_int_equal(merge__report(m)->counters.filtered, 10);
	merge__free(m);
}

static void add_stack(struct report *r, const struct report_frame *frames, u64 value)
{
	struct report_stacks *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*s = (struct report_stacks){ .frame = frames, .nframes = 1, .n = 1, .nkeys = 1, .total = value };
	s->key = calloc(1, sizeof(*s->key));
	s->stack = calloc(1, sizeof(*s->stack));
	assert_true(s->key && s->stack);
	s->stack->frame = calloc(1, sizeof(*s->stack->frame));
	s->stack->place = calloc(1, sizeof(*s->stack->place));
	s->stack->nframes = 1;
	s->stack->value = value;
	r->stacks = s;
}

static void test_stacks_that_stand(void **state)
{
	static const struct report_frame frames[] = { { .name = "do_wait" } };
	struct merge *m = merge__new();
	struct report r[] = { interval(1), interval(2), interval(3) };
	const u64 values[] = { 12, 5, 7 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		r[i].standing = true;
		add_stack(&r[i], frames, values[i]);
		add(m, &r[i]);
		assert_int_equal(merge__report(m)->stacks->n, 1);
		assert_int_equal(merge__report(m)->stacks->stack[0].value, values[i]);
		assert_int_equal(merge__report(m)->stacks->total, values[i]);
	}
	merge__free(m);
}

/* An interval that is not an estimate was measured all the time. */
static void test_estimates(void **state)
{
	struct merge *m = merge__new();
	struct report r[] = { interval(1), interval(2), interval(3) };
	char room[REPORT_NOTE_SPACE];
	size_t i;

	(void)state;
	r[1].measured_ns = NSEC_PER_SEC / 10;
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		add_waits(&r[i], 7, "sh", 10, 1000, 300, 400);
		add(m, &r[i]);
		assert_int_equal(merge__report(m)->measured_ns, i ? i * NSEC_PER_SEC + NSEC_PER_SEC / 10 : 0);
	}
	assert_string_equal(report__note(merge__report(m), room),
			    "estimated: events were observed for 2.10 s of 3.00 s");
	merge__free(m);
}

static void add_times(struct report *r, const char *disk, const char *model, u32 bucket, u64 n, u64 sum)
{
	const struct histogram_totals totals = { .sum = sum, .max = ~0ULL, .min_inv = ~0ULL };
	u64 counts[64] = {};
	struct report_group g = {};
	struct report_row key = {};

	counts[bucket] = n;
	assert_int_equal(report_row__add_text(&key, "disk", disk), 0);
	assert_int_equal(report_row__add_text(&key, "model", model), 0);
	key.cell[1].role = ROLE_LABEL;
	g.key = key.cell;
	g.nkey = key.ncells;
	assert_int_equal(histogram__init(&g.hist, counts, 0, 64, &totals), 0);
	assert_int_equal(report__add_group(r, &g), 0);
}

static void test_histograms(void **state)
{
	struct merge *m = merge__new();
	struct report first = interval(1), second = interval(2), *all;

	(void)state;
	add_times(&first, "sda", "old", 10, 3, 33);
	add_times(&first, "sdb", "old", 11, 1, 11);
	add(m, &first);
	add_times(&second, "sda", "new", 10, 4, 44);
	add_times(&second, "sda2", "new", 40, 5, 900);
	add(m, &second);
	all = merge__report(m);
	assert_int_equal(all->ngroups, 3);
	assert_int_equal(all->group[0].hist.count, 7);
	assert_int_equal(all->group[0].hist.sum, 77);
	assert_int_equal(all->group[0].hist.nbuckets, 1);
	assert_string_equal(all->group[2].key[0].text, "sda2");
	assert_string_equal(all->group[0].key[1].text, "new");
	assert_string_equal(all->group[1].key[1].text, "old");
	merge__free(m);
}

/* Adds n equal values of one bucket. The value is also p99 and the maximum. */
static void add_waits_of(struct report *r, u64 tid, u32 bucket, u64 n)
{
	u64 value = histogram_bucket_first(bucket), counts[HIST_BUCKETS] = {};
	const struct histogram_totals totals = { .sum = n * value, .max = value, .min_inv = ~value };
	struct histogram *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	counts[bucket] = n;
	assert_int_equal(histogram__init(h, counts, 0, HIST_BUCKETS, &totals), 0);
	add_waits(r, tid, "sh", n, n * value, value, value);
	r->row[r->nrows - 1].hist = h;
}

/* In a table of histograms, percentiles cover all values, and the share refers to the whole time. */
static void test_tables_of_histograms(void **state)
{
	struct merge *m = merge__new();
	struct report first = interval(1), second = interval(2), third = interval(3), *all;
	u64 high = histogram_bucket_first(400);

	(void)state;
	add_waits_of(&first, 7, 10, 95);
	add_waits_of(&first, 8, 20, 1);
	add(m, &first);
	add_waits_of(&second, 7, 400, 5);
	add(m, &second);
	all = merge__report(m);
	assert_int_equal(all->nrows, 2);
	assert_int_equal(all->row[0].hist->count, 100);
	assert_int_equal(cell(&all->row[0], "p99")->number, high);
	assert_int_equal(cell(&all->row[0], "p99")->kind, FIELD_DURATION);
	assert_int_equal(histogram__percentile(all->row[0].hist, 9500), 10);
	assert_float_equal(cell(&all->row[0], "of_cpu_percent")->real, 100.0 * (950 + 5 * high) / (2 * NSEC_PER_SEC),
			   1e-9);
	assert_int_equal(cell(&all->row[1], "p99")->number, 20);
	assert_float_equal(cell(&all->row[1], "of_cpu_percent")->real, 100.0 * 20 / (2 * NSEC_PER_SEC), 1e-9);
	/* If an interval has no histogram (as in older recordings), no percentile is made up. */
	add_waits(&third, 7, "sh", 1, 5, 5, 5);
	add(m, &third);
	all = merge__report(m);
	assert_null(all->row[0].hist);
	assert_int_equal(cell(&all->row[0], "p99")->kind, FIELD_NONE);
	assert_int_equal(cell(&all->row[0], "count")->number, 101);
	merge__free(m);
}

/* More keys than there is room for at first. */
static void test_many_keys(void **state)
{
	struct merge *m = merge__new();
	struct report *all;
	size_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct report r = interval(i);

		for (k = 0; k < 1000; k++)
			add_waits(&r, k, "x", 1 + k, 2, 3, 4);
		add(m, &r);
	}
	all = merge__report(m);
	assert_int_equal(all->nrows, 1000);
	for (k = 0; k < 1000; k++) {
		assert_int_equal(cell(&all->row[k], "tid")->number, k);
		assert_int_equal(cell(&all->row[k], "count")->number, 3 * (1 + k));
	}
	merge__free(m);
}

static void test_times(void **state)
{
	/* 2026-11-23 12:00:00 UTC */
	const u64 end = 1795435200 * NSEC_PER_SEC;
	static const struct { const char *text; u64 seconds; } good[] = {
		{ "end", 1795435200 }, { "-10m", 1795434600 }, { "-1.5h", 1795429800 }, { "@1795435000", 1795435000 },
		{ "11:59", 1795435140 }, { "11:59:30", 1795435170 }, { "12:00", 1795435200 },
		{ "12:01", 1795435260 - 86400 }, { "23:30:00", 1795476600 - 86400 },
		{ "2026-11-23 11:00", 1795431600 }, { "2026-11-22T11:00:01", 1795431601 - 86400 },
		{ "2026-11-23", 1795392000 },
	};
	static const char *const bad[] = {
		"",	      "yesterday",	     "25:00", "11:60", "11:00x", "-", "@", "-x", "-99999999h",
		"2026-13-01", "2026-11-23 11:00 pm", "1100",
	};
	u64 ns = 0;
	size_t i;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(when__parse(good[i].text, end, &ns), 0);
		assert_int_equal(ns, good[i].seconds * NSEC_PER_SEC);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(when__parse(bad[i], end, &ns), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_sums_with_a_sign),
		cmocka_unit_test(test_what_stands_is_the_last),
		cmocka_unit_test(test_stacks_that_stand),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_histograms), cmocka_unit_test(test_tables_of_histograms),
		cmocka_unit_test(test_many_keys), cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
