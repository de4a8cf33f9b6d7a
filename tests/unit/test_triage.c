// SPDX-License-Identifier: BSD-2-Clause
/* Rules over reports: conditions, keys, limits, order, texts. */
#include "unit.h"

#include <unistd.h>

#include "report/stream.h"
#include "triage/page.h"
#include "triage/rule.h"

static const struct triage_rule rules[] = {
	{
		.name = "files",
		.tool = "count",
		.where = { { "errno", "ENOENT|ENOTDIR" } },
		.by = "comm",
		.figure = "calls",
		.per = TRIAGE_PER_SECOND,
		.notice = 10,
		.problem = 100,
		.weight = 5,
		.why = "because",
		.sentence = "{comm} fails, {value}, pid {pid}",
		.next = "trace --comm {comm} -p {pid}",
	},
	{
		.name = "others",
		.tool = "count",
		.where = { { "errno", .is_not = "ENOENT|success" }, { "calls", .least = 3 } },
		.by = "comm|errno",
		.figure = "calls",
		.per = TRIAGE_COUNT,
		.problem = 1,
		.weight = 9,
		.why = "because",
		.sentence = "{comm}: {errno} {nothing}",
	},
	{
		.name = "ends",
		.tool = "ends",
		.by = "comm",
		.per = TRIAGE_COUNT,
		.whole = true,
		.notice = 5,
		.weight = 1,
		.why = "because",
		.sentence = "{all} in all, {value} {comm}",
	},
	{
		.name = "longest",
		.tool = "times",
		.by = "disk",
		.figure = "p99",
		.per = TRIAGE_LONGEST,
		.notice = 1000,
		.why = "because",
		.sentence = "{disk}",
	},
	{
		.name = "beside",
		.tool = "count",
		.figure = "calls",
		.per = TRIAGE_COUNT,
		.notice = 1,
		.weight = 2,
		.beside = "ends",
		.at_most = 5,
		.why = "because",
		.one_at_least = 5,
		.sentence = "{value} beside {beside}, {beside2}, {beside.comm} {beside.value}",
	},
	{
		.name = "share",
		.tool = "shares",
		.by = "comm",
		.figure = "of_time_percent",
		.per = TRIAGE_PERCENT,
		.notice = 8,
		.why = "because",
		.sentence = "{comm} {value}",
	},
	{
		.name = "level",
		.tool = "levels",
		.by = "comm",
		.figure = "limit_percent",
		.per = TRIAGE_LEVEL,
		.notice = 95,
		.problem = 99.9,
		.why = "because",
		.sentence = "{comm} has {value} of {limit}",
	},
	{
		.name = "option",
		.tool = "options",
		.option = "--state disk",
		.by = "comm",
		.figure = "calls",
		.per = TRIAGE_PER_SECOND,
		.notice = 1,
		.why = "because",
		.sentence = "{comm} {value}",
	},
	{
		.name = "cause",
		.tool = "uses",
		.by = "comm",
		.figure = "calls",
		.per = TRIAGE_PER_SECOND,
		.notice = 10,
		.problem = 100,
		.each_cpu = true,
		.weight = 4,
		.cpu_use = true,
		.why = "because",
		.sentence = "{comm}",
	},
	{
		.name = "effect",
		.tool = "effects",
		.by = "comm",
		.figure = "calls",
		.per = TRIAGE_PER_SECOND,
		.notice = 10,
		.problem = 50,
		.weight = 3,
		.cpu_use = true,
		.why = "because",
		.sentence = "{comm}",
	},
};

enum { FILES, OTHERS, ENDS, LONGEST, BESIDE, SHARE, LEVEL, OPTION, CAUSE, EFFECT };

static void add_calls(struct report *r, const char *comm, u64 pid, const char *error, u64 calls)
{
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "comm", comm), 0);
	assert_int_equal(report_row__add_number(&row, "pid", pid, FIELD_ID), 0);
	if (error)
		assert_int_equal(report_row__add_text(&row, "errno", error), 0);
	assert_int_equal(report_row__add_number(&row, "calls", calls, FIELD_NUMBER), 0);
	assert_int_equal(report__add_row(r, &row), 0);
}

static void take(struct triage *t, struct report *r)
{
	assert_int_equal(triage__take(t, r), 0);
	report__free(r);
}

static struct report calls(void)
{
	return (struct report){ .tool = "count", .duration_ns = 2 * NSEC_PER_SEC };
}

static struct triage *new_triage(void)
{
	struct triage *t = triage__new(rules, ARRAY_SIZE(rules));

	assert_non_null(t);
	return t;
}

static const struct triage_finding *of(const struct triage_finding *f, size_t rule)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (f[i].rule == &rules[rule])
			return &f[i];
	fail();
	return NULL;
}

static struct triage_finding *findings(struct triage *t)
{
	struct triage_finding *f = triage__findings(t, 2);

	assert_non_null(f);
	return f;
}

static void assert_text(char *text, const char *wanted)
{
	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_rows_are_added_up_by_key(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls();
	struct triage_finding *f;

	(void)state;
	add_calls(&r, "ls", 7, "ENOENT", 10);
	add_calls(&r, "find", 8, "ENOTDIR", 30);
	add_calls(&r, "ls", 9, "ENOTDIR", 40);
	add_calls(&r, "ls", 7, "success", 1000);
	take(t, &r);
	f = findings(t);
	assert_true(of(f, FILES)->looked);
	assert_int_equal(of(f, FILES)->nkeys, 2);
	assert_float_equal(of(f, FILES)->value, 25, 1e-9);      /* 50 in 2 s */
	assert_float_equal(of(f, FILES)->key_value[1], 15, 1e-9);
	assert_float_equal(of(f, FILES)->all, 40, 1e-9);
	assert_int_equal(of(f, FILES)->level, TRIAGE_NOTICE);
	/* The words come from the row with the largest figure. */
	assert_text(triage_sentence(of(f, FILES)), "ls fails, 25 a second, pid 9");
	assert_text(triage_next(of(f, FILES)), "trace --comm ls -p 9");
	free(f);
	triage__free(t);
}

/* The evidence of a finding has only the keys that would be findings alone. */
static void test_small_keys_are_no_evidence(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls();
	struct triage_finding *f;

	(void)state;
	add_calls(&r, "ls", 7, "ENOENT", 100);
	add_calls(&r, "find", 8, "ENOENT", 20);
	add_calls(&r, "sh", 9, "ENOENT", 19);
	take(t, &r);
	f = findings(t);
	assert_int_equal(of(f, FILES)->nkeys, 2);
	assert_float_equal(of(f, FILES)->key_value[1], 10, 1e-9);
	assert_float_equal(of(f, FILES)->all, 69.5, 1e-9);
	assert_ptr_equal(of(f, OTHERS)->below, NULL);
	assert_float_equal(of(f, FILES)->below_value, 9.5, 1e-9);
	assert_int_equal(of(f, FILES)->below->figure, 19);
	free(f);
	triage__free(t);
}

static void test_limits(void **state)
{
	static const struct { u64 calls; enum triage_level level; } cases[] = {
		{ 19, TRIAGE_FINE }, { 20, TRIAGE_NOTICE }, { 199, TRIAGE_NOTICE }, { 200, TRIAGE_PROBLEM },
	};
	struct triage *t = new_triage();
	struct triage_finding *f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct report r = calls();

		add_calls(&r, "ls", 7, "ENOENT", cases[i].calls);
		take(t, &r);
		f = findings(t);
		assert_int_equal(of(f, FILES)->level, cases[i].level);
		free(f);
		triage__reset(t);
	}
	triage__free(t);
}

static void test_a_count_as_text(void **state)
{
	static const struct triage_rule rule = {
		.name = "deaths", .tool = "count", .by = "pid", .figure = "calls", .per = TRIAGE_COUNT, .problem = 1,
		.why = "because", .sentence = "{comm} dies, {times}",
	};
	static const struct { u64 calls; const char *sentence;
	} cases[] = {
		{ 1, "ls dies, once" },
		{ 2, "ls dies, 2 times" },
		{ 11, "ls dies, 11 times" },
		{ 1234, "ls dies, 1,234 times" },
	};
	struct triage *t = triage__new(&rule, 1);
	size_t i;

	(void)state;
	assert_non_null(t);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct report r = calls();
		struct triage_finding *f;

		add_calls(&r, "ls", 7, "ENOENT", cases[i].calls);
		take(t, &r);
		f = triage__findings(t, 2);
		assert_non_null(f);
		assert_text(triage_sentence(f), cases[i].sentence);
		free(f);
		triage__reset(t);
	}
	triage__free(t);
}

static void take_level(struct triage *t, const char *comm, double percent, u64 limit, u64 seconds)
{
	struct report r = { .tool = "levels", .duration_ns = seconds * NSEC_PER_SEC };
	struct field level = { .name = "limit_percent", .kind = FIELD_REAL, .real = percent };
	struct report_row row = {};

	assert_int_equal(report_row__add_text(&row, "comm", comm), 0);
	assert_int_equal(report_row__add_number(&row, "limit", limit, FIELD_SIZE), 0);
	assert_int_equal(report_row__add_field(&row, &level), 0);
	assert_int_equal(report__add_row(&r, &row), 0);
	take(t, &r);
}

/* A level is the largest one, whatever the duration of its report, and not a sum. */
static void test_a_level(void **state)
{
	static const struct { double percent; enum triage_level level; } cases[] = {
		{ 0, TRIAGE_FINE }, { 94.9, TRIAGE_FINE }, { 95, TRIAGE_NOTICE }, { 99.8, TRIAGE_NOTICE },
		{ 99.9, TRIAGE_PROBLEM }, { 100, TRIAGE_PROBLEM },
	};
	struct triage *t = new_triage();
	struct triage_finding *f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		take_level(t, "root", cases[i].percent, 1 << 20, 7);
		f = findings(t);
		assert_int_equal(of(f, LEVEL)->level, cases[i].level);
		free(f);
		triage__reset(t);
	}
	take_level(t, "root", 60, 1 << 20, 1);
	take_level(t, "root", 96, 2 << 20, 1);
	take_level(t, "root", 50, 3 << 20, 60);
	take_level(t, "boot", 97, 4 << 20, 3);
	f = findings(t);
	assert_int_equal(of(f, LEVEL)->nkeys, 2);
	assert_float_equal(of(f, LEVEL)->value, 97, 0);
	assert_float_equal(of(f, LEVEL)->all, 97, 0);
	assert_float_equal(of(f, LEVEL)->key_value[1], 96, 0);
	assert_text(triage_sentence(of(f, LEVEL)), "boot has 97 % of 4.00 MiB");
	free(f);
	triage__free(t);
}

/* A pid alone does not identify a program. */
static void test_cells_of_evidence(void **state)
{
	const struct triage_rule by_pid = { .by = "pid|cpu" }, by_disk = { .by = "disk" };

	(void)state;
	assert_true(triage_shows_cell(&by_pid, "pid") && triage_shows_cell(&by_pid, "cpu") &&
		    triage_shows_cell(&by_pid, "comm"));
	assert_false(triage_shows_cell(&by_pid, "calls") || triage_shows_cell(&by_disk, "comm"));
}

static void test_conditions(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls();
	struct triage_finding *f;

	(void)state;
	add_calls(&r, "a", 1, "ENOENT", 9);             /* is_not */
	add_calls(&r, "d", 1, NULL, 9);                 /* not known */
	add_calls(&r, "b", 1, "EIO", 2);                /* too few */
	add_calls(&r, "c", 1, "ENOENT2", 3);            /* a longer word is another one */
	add_calls(&r, "c", 1, "ENO", 4);                /* and so is a shorter one */
	take(t, &r);
	f = findings(t);
	assert_int_equal(of(f, OTHERS)->nkeys, 2);
	assert_int_equal(of(f, OTHERS)->level, TRIAGE_PROBLEM);
	assert_text(triage_sentence(of(f, OTHERS)), "c: ENO an unknown nothing");
	assert_null(triage_next(of(f, OTHERS)));
	free(f);
	triage__free(t);
}

static void test_own_rows_are_left_out(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls();
	struct triage_finding *f;

	(void)state;
	triage__leave_out(t, 42);
	add_calls(&r, "tally", 42, "ENOENT", 5000);
	take(t, &r);
	f = findings(t);
	assert_true(of(f, FILES)->looked);
	assert_int_equal(of(f, FILES)->nkeys, 0);
	assert_int_equal(of(f, FILES)->level, TRIAGE_FINE);
	assert_null(triage_sentence(of(f, FILES)));
	free(f);
	triage__free(t);
}

/* There are more single events than there was room for at first, with many keys. */
static void test_single_events(void **state)
{
	static const char *const comms[] = { "sh", "true", "sh", "sed" };
	struct triage *t = new_triage();
	struct report end = { .tool = "ends", .duration_ns = NSEC_PER_SEC };
	struct triage_finding *f;
	size_t i;

	(void)state;
	for (i = 0; i < 4000; i++) {
		struct stream_line line = { .comm = comms[i % 4], .pid = i };

		assert_int_equal(triage__take_line(t, "ends", &line), 0);
		assert_int_equal(triage__take_line(t, "elsewhere", &line), 0);
	}
	f = findings(t);
	assert_false(of(f, ENDS)->looked);      /* its report comes at the end */
	free(f);
	take(t, &end);
	f = findings(t);
	assert_int_equal(of(f, ENDS)->nkeys, 3);
	assert_text(triage_sentence(of(f, ENDS)), "4,000 in all, 2,000 sh");
	assert_int_equal(of(f, ENDS)->level, TRIAGE_NOTICE);
	free(f);
	triage__free(t);
}

/* An attacker's names do not make the table grow: large keys stay, and the sum loses nothing. */
static void test_keys_without_end(void **state)
{
	struct triage *t = new_triage();
	struct report end = { .tool = "ends", .duration_ns = NSEC_PER_SEC };
	struct stream_line line = { .comm = "large" };
	struct triage_finding *f;
	size_t i, names = 5 * TRIAGE_KEYS;
	char name[16];

	(void)state;
	for (i = 0; i < names; i++) {
		line.comm = name;
		snprintf(name, sizeof(name), "x%zu", i);
		assert_int_equal(triage__take_line(t, "ends", &line), 0);
		line.comm = "large";
		if (i % 4 == 0)
			assert_int_equal(triage__take_line(t, "ends", &line), 0);
	}
	take(t, &end);
	f = findings(t);
	assert_float_equal(of(f, ENDS)->all, names + names / 4, 1e-9);
	assert_float_equal(of(f, ENDS)->value, names / 4, 1e-9);
	assert_true(of(f, ENDS)->nothers >= names - TRIAGE_KEYS && of(f, ENDS)->nothers < names);
	assert_float_equal(of(f, ENDS)->others, of(f, ENDS)->nothers, 1e-9);
	free(f);
	triage__reset(t);
	end = (struct report){ .tool = "ends", .duration_ns = NSEC_PER_SEC };
	take(t, &end);
	f = findings(t);
	assert_int_equal(of(f, ENDS)->nothers, 0);
	free(f);
	triage__free(t);
}

/* Two lines run one tool: neither the rows nor the time of the other line count. */
static void test_lines_with_an_option(void **state)
{
	struct triage *t = new_triage();
	struct report disk = { .tool = "options",
			       .command = "options --state disk -K",
			       .duration_ns = 2 * NSEC_PER_SEC };
	struct report sleep = { .tool = "options",
				.command = "options --state sleep",
				.duration_ns = 2 * NSEC_PER_SEC };
	struct triage_finding *f;

	(void)state;
	add_calls(&disk, "sh", 1, NULL, 20);
	add_calls(&sleep, "sh", 1, NULL, 500);
	take(t, &sleep);
	f = findings(t);
	assert_false(of(f, OPTION)->looked);
	free(f);
	take(t, &disk);
	f = findings(t);
	assert_float_equal(of(f, OPTION)->value, 10, 1e-9);
	free(f);
	triage__free(t);
}

static void add_times(struct report *r, const char *disk, const u64 *counts, u32 n)
{
	const struct histogram_totals totals = { .sum = 1, .max = ~0ULL, .min_inv = ~0ULL };
	struct report_group g = {};
	struct report_row key = {};

	assert_int_equal(report_row__add_text(&key, "disk", disk), 0);
	g.key = key.cell;
	g.nkey = key.ncells;
	assert_int_equal(histogram__init(&g.hist, counts, 0, n, &totals), 0);
	assert_int_equal(report__add_group(r, &g), 0);
}

static void test_order(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls(), end = { .tool = "ends", .duration_ns = NSEC_PER_SEC };
	struct stream_line line = { .comm = "sh" };
	struct triage_finding *f;
	size_t i;

	(void)state;
	add_calls(&r, "ls", 7, "ENOENT", 300);
	add_calls(&r, "db", 8, "EIO", 3);
	take(t, &r);
	for (i = 0; i < 5; i++)
		assert_int_equal(triage__take_line(t, "ends", &line), 0);
	take(t, &end);
	f = findings(t);
	/* Problems by weight come first, then notices by weight, and last the rules that were not looked at. */
	assert_ptr_equal(f[0].rule, &rules[OTHERS]);
	assert_ptr_equal(f[1].rule, &rules[FILES]);
	assert_ptr_equal(f[2].rule, &rules[BESIDE]);
	assert_ptr_equal(f[3].rule, &rules[ENDS]);
	assert_ptr_equal(f[4].rule, &rules[LONGEST]);
	assert_false(f[4].looked);
	assert_text(triage_sentence(of(f, BESIDE)), "303 beside 5, an unknown beside2, sh 5");
	free(f);
	/* With one more end, the rule beside them finds nothing. */
	assert_int_equal(triage__take_line(t, "ends", &line), 0);
	f = findings(t);
	assert_int_equal(of(f, BESIDE)->level, TRIAGE_FINE);
	free(f);
	triage__free(t);
}

static void take_calls(struct triage *t, const char *tool, const char *comm, u64 calls)
{
	struct report r = { .tool = tool, .duration_ns = NSEC_PER_SEC };

	add_calls(&r, comm, 7, NULL, calls);
	take(t, &r);
}

/* A problem on a machine with 2 CPUs is none on a machine with 4. */
static void test_limits_of_each_cpu(void **state)
{
	static const struct { int cpus; enum triage_level level; double problem;
	} cases[] = {
		{ 0, TRIAGE_PROBLEM, 100 },
		{ 1, TRIAGE_PROBLEM, 100 },
		{ 2, TRIAGE_PROBLEM, 200 },
		{ 4, TRIAGE_NOTICE, 400 },
	};
	struct triage *t = new_triage();
	struct triage_finding *f;
	size_t i;

	(void)state;
	take_calls(t, "uses", "sh", 200);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		f = triage__findings(t, cases[i].cpus);
		assert_non_null(f);
		assert_int_equal(of(f, CAUSE)->level, cases[i].level);
		assert_float_equal(of(f, CAUSE)->problem, cases[i].problem, 1e-9);
		free(f);
	}
	triage__free(t);
}

/* A cause in the same program comes first, whichever limit it has reached; another program is no cause. */
static void test_a_cause_is_before_its_effect(void **state)
{
	static const struct { const char *comm; u64 calls, effects; int first; } cases[] = {
		{ "sh", 20, 60, CAUSE }, { "sh", 300, 60, CAUSE }, { "sh", 20, 20, CAUSE }, { "sh", 300, 20, CAUSE },
		{ "other", 20, 60, EFFECT }, { "sh", 5, 60, EFFECT },
	};
	struct triage *t = new_triage();
	struct triage_finding *f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		take_calls(t, "uses", cases[i].comm, cases[i].calls);
		take_calls(t, "effects", "sh", cases[i].effects);
		f = findings(t);
		assert_ptr_equal(f[0].rule, &rules[cases[i].first]);
		assert_int_equal(of(f, CAUSE)->level, cases[i].calls < 10 ? TRIAGE_FINE :
				 cases[i].calls < 200 ? TRIAGE_NOTICE : TRIAGE_PROBLEM);
		free(f);
		triage__reset(t);
	}
	triage__free(t);
}

static void test_histograms_are_rows(void **state)
{
	u64 counts[64] = {};
	struct triage *t = new_triage();
	struct report r = { .tool = "times", .duration_ns = NSEC_PER_SEC };
	struct triage_finding *f;

	(void)state;
	counts[10] = 100;
	add_times(&r, "sda", counts, 64);
	counts[10] = 0;
	counts[40] = 100;
	add_times(&r, "sdb", counts, 64);
	take(t, &r);
	f = findings(t);
	assert_int_equal(of(f, LONGEST)->nkeys, 2);
	assert_text(triage_sentence(of(f, LONGEST)), "sdb");
	assert_true(of(f, LONGEST)->value > of(f, LONGEST)->key_value[1]);
	/* The figure for all is the largest one, not their sum. */
	assert_float_equal(of(f, LONGEST)->all, of(f, LONGEST)->value, 1e-9);
	free(f);
	triage__free(t);
}

/* Names are not trusted: a sentence has them as they are, and a command has them as one word. */
static void test_hostile_names(void **state)
{
	struct triage *t = new_triage();
	struct report r = calls();
	struct triage_finding *f;

	(void)state;
	add_calls(&r, "a; rm -rf \x1b[31m {pid}", 7, "ENOENT", 200);
	take(t, &r);
	f = findings(t);
	assert_text(triage_sentence(of(f, FILES)), "a; rm -rf \x1b[31m {pid} fails, 100 a second, pid 7");
	assert_text(triage_next(of(f, FILES)), "trace --comm $'a; rm -rf \x1b[31m {pid}' -p 7");
	free(f);
	triage__free(t);
}

/* The share over several intervals is that of all their time. */
static void test_shares_of_several_reports(void **state)
{
	struct triage *t = new_triage();
	struct triage_finding *f;
	u32 i;

	(void)state;
	for (i = 1; i <= 3; i++) {
		struct report r = { .tool = "shares", .duration_ns = i * NSEC_PER_SEC };
		struct field share = { .name = "of_time_percent", .kind = FIELD_REAL, .real = 10 * i };
		struct report_row row = {};

		assert_int_equal(report_row__add_text(&row, "comm", i == 3 ? "b" : "a"), 0);
		assert_int_equal(report_row__add_field(&row, &share), 0);
		assert_int_equal(report__add_row(&r, &row), 0);
		take(t, &r);
	}
	f = findings(t);
	/* a has 10 % of 1 s and 20 % of 2 s, b has 30 % of 3 s, out of 6 s. */
	assert_text(triage_sentence(of(f, SHARE)), "b 15 %");
	assert_float_equal(of(f, SHARE)->key_value[1], 50.0 / 6, 1e-9);
	assert_float_equal(of(f, SHARE)->all, 140.0 / 6, 1e-9);
	free(f);
	triage__free(t);
}

static void test_values(void **state)
{
	static const struct { enum triage_per per; double value; const char *text;
	} cases[] = {
		{ TRIAGE_COUNT, 3, "3" },
		{ TRIAGE_COUNT, 1234.4, "1,234" },
		{ TRIAGE_PER_SECOND, 2.5, "2.5 a second" },
		{ TRIAGE_BYTES_PER_SECOND, 8 << 20, "8.00 MiB a second" },
		{ TRIAGE_OF_CPU, 1.944, "1.94 CPUs" },
		{ TRIAGE_TASKS, 0.5, "0.50 tasks" },
		{ TRIAGE_OF_MACHINE, 0.123, "12.3 %" },
		{ TRIAGE_OF_MACHINE, 9.994, "999 %" },
		{ TRIAGE_OF_MACHINE, 10.3, "1030 %" },
		{ TRIAGE_OF_TIME, 12.34, "12.3 %" },
		{ TRIAGE_PERCENT, 30, "30 %" },
		{ TRIAGE_LONGEST, 104e6, "104 ms" },
	};
	char text[UNITS_SPACE];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct triage_rule rule = { .per = cases[i].per };

		assert_string_equal(triage_value(text, &rule, cases[i].value), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_added_up_by_key), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_conditions), cmocka_unit_test(test_own_rows_are_left_out),
		cmocka_unit_test(test_single_events), cmocka_unit_test(test_keys_without_end),
		cmocka_unit_test(test_lines_with_an_option),
		cmocka_unit_test(test_a_count_as_text), cmocka_unit_test(test_a_level),
		cmocka_unit_test(test_cells_of_evidence),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_small_keys_are_no_evidence), cmocka_unit_test(test_limits_of_each_cpu),
		cmocka_unit_test(test_a_cause_is_before_its_effect),
		cmocka_unit_test(test_histograms_are_rows), cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_shares_of_several_reports), cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
