// SPDX-License-Identifier: BSD-2-Clause
/* Reports of the values that probe's programs count in the running kernel, interval by interval. */
#include "probe_rig.h"

#include <sys/prctl.h>

#include "events/probe/results.h"
#include "events/probe/starts.h"

#define SIGN (1ULL << 63)

static struct layout_field key_field[] = {
	{ .name = "who", .kind = LAYOUT_SIGNED, .offset = 0, .size = 4 },
	{ .name = "pid", .kind = LAYOUT_ID, .offset = 4, .size = 4 },
	{ .name = "text", .kind = LAYOUT_TEXT, .offset = 8, .size = 8 },
};
static const char *const events[] = { "zero", "one", "two", "three" };

static struct results_plan plan_of(const struct rig *r)
{
	struct results_plan plan = {
		.what = r->set.what, .keyed = r->set.keyed, .bias = r->set.bias,
		.is_signed = r->set.bias, .event = events, .nevents = ARRAY_SIZE(events),
		.figures = RESULT_SUM | RESULT_AVG | RESULT_MIN | RESULT_MAX,
	};

	if (r->set.keyed)
		plan.layout = (struct layout){
			.field = key_field, .n = ARRAY_SIZE(key_field), .size = r->set.key_size,
			.has_name = r->set.named,
		};
	return plan;
}

static struct report take(struct results *results, const struct cli *cli, const char *sort)
{
	struct report report = { .tool = "t", .value = "v" };

	assert_int_equal(results__report(results, cli, sort, &report), 0);
	return report;
}

static const struct field *cell(const struct report_row *row, const char *name)
{
	size_t i;

	for (i = 0; i < row->ncells; i++)
		if (!strcmp(row->cell[i].name, name))
			return &row->cell[i];
	fail_msg("no cell %s", name);
	return NULL;
}

static void assert_signed(const struct report_row *row, const char *name, s64 want)
{
	assert_int_equal(cell(row, name)->kind, FIELD_SIGNED);
	assert_int_equal((s64)cell(row, name)->number, want);
}

/* Clears the last byte of a key. */
static void drop_last(void *context, void *key)
{
	(void)context;
	((u8 *)key)[7] = 0;
}

/* When keys become equal, sums and counts of their entries add up; the extremes are over all of them, and signed. */
static void entries_of_one_name_are_added_up(void **state)
{
	static const struct {
		const char key[9];
		u64 count;
		s64 sum, min, max;
	} from[] = {
		{ "aaaaaaa1", 2, -3, -2, -1 }, { "aaaaaaa2", 3, 30, 5, 20 }, { "bbbbbbb1", 1, 4, 4, 4 },
		{ "aaaaaaa3", 1, -9, -9, -9 },
	};
	struct probe_sums set = {
		.key_size = 8, .n = ARRAY_SIZE(from), .entry = calloc(ARRAY_SIZE(from), sizeof(struct sum_entry)),
		.keys = calloc(ARRAY_SIZE(from), 8),
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(from); i++)
		set.entry[i] = (struct sum_entry){
			.key = memcpy(set.keys + 8 * i, from[i].key, 8), .count = from[i].count, .sum = from[i].sum,
			.min = from[i].min, .max = from[i].max, .counter = { i },
		};
	probe_sums__regroup(&set, drop_last, NULL, SIGN);
	assert_int_equal(set.n, 2);
	assert_memory_equal(set.entry[0].key, "aaaaaaa", 8);
	assert_int_equal(set.entry[0].count, 6);
	assert_int_equal((s64)set.entry[0].sum, 18);
	assert_int_equal((s64)set.entry[0].min, -9);
	assert_int_equal((s64)set.entry[0].max, 20);
	assert_int_equal(set.entry[0].counter[0], 0 + 1 + 3);
	assert_memory_equal(set.entry[1].key, "bbbbbbb", 8);
	assert_int_equal(set.entry[1].count, 1);
	probe_sums__free(&set);
}

static void counts_by_event(void **state)
{
	const struct setting s = { .what = PROBE_COUNT };
	struct results_plan plan;
	const struct cli cli = {};
	struct results results;
	struct report report;
	struct rig r;
	int i, round;

	(void)state;
	start(&r, &s);
	plan = plan_of(&r);
	assert_int_equal(results__begin(&results, &plan, r.bpf->obj), 0);
	for (round = 1; round < 4; round++) {
		for (i = 0; i < 10 * round; i++)
			event(1, 1);
		event(13, 1);
		report = take(&results, &cli, NULL);
		assert_true(report.table);
		assert_true(report.has_events);
		assert_int_equal(report.events, 10 * round);
		assert_int_equal(report.counters.filtered, 1);
		assert_int_equal(report.nrows, 1);
		assert_int_equal(report.row[0].ncells, 2);
		assert_string_equal(cell(&report.row[0], "event")->text, "two");
		assert_int_equal(cell(&report.row[0], "count")->number, 10 * round);
		report__free(&report);
	}
	report = take(&results, &cli, NULL);
	assert_int_equal(report.nrows, 0);
	report__free(&report);
	results__free(&results);
	stop(&r);
}

/* Minimum and maximum are those of the interval, whatever came before. */
static void sums_by_key_in_intervals(void **state)
{
	const struct setting s = {
		.what = PROBE_SUM, .keyed = true, .key_size = 16, .bias = SIGN,
		.named = PROBE_NAME_THREAD,
	};
	const struct cli cli = { .top = 4 };
	struct results_plan plan;
	struct results results;
	struct report report;
	char comm[16];
	struct rig r;
	int round, k;

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	start(&r, &s);
	plan = plan_of(&r);
	assert_int_equal(results__begin(&results, &plan, r.bpf->obj), 0);
	for (round = 0; round < 5; round++) {
		for (k = 0; k < 5; k++) {
			event(-1000 / (round + 1) - k, k - 2);
			event(700 / (round + 1), k - 2);
		}
		report = take(&results, &cli, round % 2 ? "who" : NULL);
		assert_int_equal(report.events, 10);
		assert_int_equal(report.nrows, 4);
		assert_int_equal(report.hidden, 1);
		for (k = 0; k < 4; k++) {
			const struct report_row *row = &report.row[k];
			int who = round % 2 ? 2 - k : k - 2, n = who + 2;

			assert_signed(row, "who", who);
			assert_int_equal(cell(row, "pid")->kind, FIELD_ID);
			assert_string_equal(row->cell[2].name, "comm");
			assert_string_equal(row->cell[2].text, comm);
			assert_int_equal(row->cell[2].role, ROLE_LABEL);
			assert_string_equal(cell(row, "text")->text, "");
			assert_int_equal(cell(row, "count")->number, 2);
			assert_signed(row, "min", -1000 / (round + 1) - n);
			assert_signed(row, "max", 700 / (round + 1));
			assert_signed(row, "sum", 700 / (round + 1) - 1000 / (round + 1) - n);
		}
		report__free(&report);
	}
	assert_true(results__has_column(&plan, "avg"));
	assert_true(results__has_column(&plan, "who"));
	assert_false(results__has_column(&plan, "event"));
	results__free(&results);
	stop(&r);
}

static void assert_bounds(const struct histogram *h, u64 even, u64 odd, s64 sum, s64 min, s64 max)
{
	size_t n = !!even + !!odd;

	assert_non_null(h->bound);
	assert_int_equal(h->nbuckets, n);
	if (even)
		assert_int_equal(h->bucket[0].count, even);
	if (odd)
		assert_int_equal(h->bucket[n - 1].count, odd);
	assert_int_equal((s64)h->sum, sum);
	assert_int_equal((s64)h->min, min);
	assert_int_equal((s64)h->max, max);
}

/* The body selects bucket 0 or 1 by the value's lowest bit, for values below and above the bound alike. */
static void histograms_with_bounds(void **state)
{
	static const s64 bounds[] = { 1 };
	struct setting s = { .what = PROBE_BOUNDS, .key_size = 8, .bias = SIGN };
	const struct cli cli = { .sort = -1 };
	struct results_plan plan;
	struct results results;
	struct report report;
	struct writer w = { .format = FORMAT_JSON };
	struct rig r;
	size_t len;
	char *text;

	(void)state;
	for (; !s.keyed; s.keyed = true) {
		start(&r, &s);
		plan = plan_of(&r);
		plan.layout.n = 1;
		plan.bound = bounds;
		plan.nbounds = ARRAY_SIZE(bounds);
		assert_int_equal(results__begin(&results, &plan, r.bpf->obj), 0);
		event(-10, 1);
		event(-20, 1);
		event(7, 1);
		report = take(&results, &cli, NULL);
		assert_int_equal(report.ngroups, 1);
		assert_int_equal(report.events, 3);
		assert_bounds(&report.group[0].hist, 2, 1, -23, -20, 7);
		text = written(&w, &report, &len);
		assert_non_null(strstr(text, "\"sum\":-23,\"min\":-20,\"avg\":-7,\"max\":7,"
					     "\"buckets\":[[null,0,2],[1,null,1]]"));
		free(text);
		report__free(&report);
		event(-30, 1);
		event(9, 1);
		report = take(&results, &cli, NULL);
		assert_bounds(&report.group[0].hist, 1, 1, -21, -30, 9);
		assert_true(report.group[0].hist.min_exact);
		report__free(&report);
		event(3, 1);
		report = take(&results, &cli, NULL);
		assert_bounds(&report.group[0].hist, 0, 1, 3, 1, 9);
		assert_false(report.group[0].hist.min_exact);
		assert_false(report.group[0].hist.max_exact);
		report__free(&report);
		results__free(&results);
		stop(&r);
	}
}

static void histograms_by_key(void **state)
{
	const struct setting s = { .what = PROBE_HIST, .keyed = true, .key_size = 16, };
	const struct cli cli = { .sort = -1 };
	struct results_plan plan;
	struct results results;
	struct report report;
	struct dense d = {};
	struct rig r;
	int i;

	(void)state;
	start(&r, &s);
	plan = plan_of(&r);
	assert_int_equal(results__begin(&results, &plan, r.bpf->obj), 0);
	for (i = 0; i < 1000; i++) {
		event(20 + 7 * i, 3);
		dense__add(&d, 20 + 7 * i);
	}
	event(5, 4);
	report = take(&results, &cli, NULL);
	assert_int_equal(report.ngroups, 2);
	assert_int_equal(report.group[0].nkey, 3);
	assert_int_equal(report.group[0].key[0].number, 3);
	assert_histogram(&report.group[0].hist, &d);
	report__free(&report);
	results__free(&results);
	stop(&r);
}

/* --- begins that are left behind ---------------------------------------------------------------- */

/* Creates a map of begins, keyed by call (struct call_key of starts.c): holder, position, event and process. */
static int create_starts(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "unit", 24, sizeof(struct probe_begin), 100, NULL);

	if (fd == -EPERM || fd == -EACCES)
		skip();
	assert_true(fd >= 0);
	return fd;
}

static void put_start(int fd, u64 holder, u64 position, u32 process, struct probe_begin begin)
{
	const u64 key[3] = { holder, position, (u64)process << 32 };

	assert_int_equal(bpf_map_update_elem(fd, key, &begin, BPF_ANY), 0);
}

/* The number of begins in the map. */
static int count_starts(int fd)
{
	u64 key[3];
	int n = 0, err = bpf_map_get_next_key(fd, NULL, key);

	for (; !err; n++)
		err = bpf_map_get_next_key(fd, key, key);
	return n;
}

static struct starts_plan starts_in(int fd)
{
	return (struct starts_plan){
		.fd = fd, .key_size = 24, .value_size = sizeof(struct probe_begin), .max_entries = 10, .calls = true,
	};
}

/* Half of the begins are of a gone thread, or of a goroutine of a gone process: goroutines ignore the thread. */
static void sweep_ended(u32 process_of_living, u32 process_of_gone)
{
	const u32 nobody = 1 << 30;     /* above any pid_max */
	struct starts_plan plan = starts_in(create_starts());
	struct probe_begin begin = {};
	size_t deleted;
	u32 i;

	plan.max_entries = 1000;
	for (i = 0; i < 60; i++) {
		const u32 process = i % 2 ? process_of_gone : process_of_living;

		begin.tid = (i % 2) == !process ? nobody : (u32)getpid();
		put_start(plan.fd, 0x1000 + i, 16, process, begin);
	}
	assert_int_equal(starts__sweep(&plan, &deleted), 0);
	if (deleted) {                  /* 0 where this process is in another pid namespace */
		assert_int_equal(deleted, 30);
		assert_int_equal(count_starts(plan.fd), 30);
	}
	assert_int_equal(starts__sweep(&plan, &deleted), 0);
	assert_int_equal(deleted, 0);
	plan.calls = false;
	assert_int_equal(starts__sweep(&plan, NULL), 0);
	close(plan.fd);
}

static void sweeping_threads(void **state)
{
	(void)state;
	sweep_ended(0, 0);
}

static void sweeping_goroutines(void **state)
{
	(void)state;
	sweep_ended(getpid(), 1 << 30);
}

/* One holder makes calls, each later and in a higher frame than the one before: it has left the earlier calls. */
static void sweep_left(u32 process)
{
	struct starts_plan plan = starts_in(create_starts());
	struct probe_begin begin = { .tid = getpid() };
	size_t deleted;
	u64 n;

	for (n = 1; n <= 8; n++) {
		if (n == 6) {           /* at most half full: the calls may go on */
			assert_int_equal(starts__sweep(&plan, &deleted), 0);
			assert_int_equal(deleted, 0);
		}
		begin.time_ns = n;
		begin.lost = n == 1;
		put_start(plan.fd, 1, process ? 0x10000 - 4096 * n : 4096 * n, process, begin);
	}
	/* A call of another holder in a lower frame, and a callee of the last call. */
	begin.time_ns = 9;
	put_start(plan.fd, 2, process ? 0x20000 : 8, process, begin);
	put_start(plan.fd, 1, process ? 0x10000 : 8, process, begin);
	assert_int_equal(starts__sweep(&plan, &deleted), 0);
	if (deleted) {                  /* as above */
		assert_int_equal(deleted, 6);   /* the first one was counted earlier */
		assert_int_equal(count_starts(plan.fd), 3);
	}
	close(plan.fd);
}

static void sweeping_what_threads_left(void **state)
{
	(void)state;
	sweep_left(0);
}

/* Positions on goroutine stacks are distances from the upper end, so a higher frame has a lower position. */
static void sweeping_what_goroutines_left(void **state)
{
	(void)state;
	sweep_left(getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_one_name_are_added_up),
		cmocka_unit_test(counts_by_event),
		cmocka_unit_test(sums_by_key_in_intervals),
		cmocka_unit_test(histograms_with_bounds),
		cmocka_unit_test(histograms_by_key),
		cmocka_unit_test(sweeping_threads),
		cmocka_unit_test(sweeping_goroutines),
		cmocka_unit_test(sweeping_what_threads_left),
		cmocka_unit_test(sweeping_what_goroutines_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
