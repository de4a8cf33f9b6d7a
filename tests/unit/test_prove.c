// SPDX-License-Identifier: BSD-2-Clause
/* Verdicts on the output of tools: right, wrong in either direction, and with losses that explain the gap or do not. */
#include "unit.h"

#include "machine/prove/check.h"

static enum prove_verdict verdict(const char *unit, u64 said, u64 lost, u64 inexact)
{
	const struct prove_claim c = {
		.unit = unit,
		.said = said,
		.least = 1000,
		.most = 1010,
		.lost = lost,
		.inexact = inexact,
	};

	return prove__compare(&c);
}

static void bounds(void **state)
{
	(void)state;
	assert_int_equal(verdict("events", 1000, 0, 0), PROVE_RIGHT);
	assert_int_equal(verdict("events", 1010, 5, 5), PROVE_RIGHT);
	assert_int_equal(verdict("events", 999, 0, 0), PROVE_WRONG);
	assert_int_equal(verdict("events", 1011, 0, 0), PROVE_WRONG);
	assert_int_equal(verdict("events", 0, 0, 0), PROVE_WRONG);
}

static void losses_explain_what_is_missing(void **state)
{
	(void)state;
	assert_int_equal(verdict("events", 997, 3, 0), PROVE_HIDDEN);
	assert_int_equal(verdict("events", 997, 2, 0), PROVE_WRONG);
	assert_int_equal(verdict("events", 997, 0, 3), PROVE_WRONG);
	assert_int_equal(verdict("events", 1011, 100, 100), PROVE_WRONG);
	assert_int_equal(verdict("ns", 1, 1, 0), PROVE_HIDDEN);
	assert_int_equal(verdict("ns", 1, 0, 1), PROVE_HIDDEN);
	assert_int_equal(verdict("ns", 999, 0, 0), PROVE_WRONG);
	assert_int_equal(verdict("ns", 1011, 100, 100), PROVE_WRONG);
}

static const struct prove_check *check_of(const char *tool)
{
	size_t i;

	for (i = 0; i < prove_check_count; i++)
		if (!strcmp(prove_checks[i].tool, tool))
			return &prove_checks[i];
	fail_msg("no check of %s", tool);
	return NULL;
}

/* The verdict on the first claim in a tool's output about n operations. */
static enum prove_verdict judge(const char *tool, const char *text, u64 n)
{
	struct prove_evidence e = { .n = n };
	enum prove_verdict found;
	double cost;

	assert_int_equal(prove_check__judge(check_of(tool), &e, text, strlen(text), &cost), 0);
	assert_true(e.nclaims);
	found = prove__compare(&e.claim[0]);
	prove_evidence__free(&e);
	return found;
}

static enum prove_verdict judge_calls(const char *row, int lost)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"lost\":{\"map_full\":%d,\"missed\":0},\"rows\":[%s]}\n", lost, row);
	return judge("syscount", text, 3);
}

static void counts_in_rows(void **state)
{
	(void)state;
	assert_int_equal(judge_calls("{\"syscall\":\"poll\",\"calls\":9},{\"syscall\":\"getppid\",\"calls\":3}", 0),
			 PROVE_RIGHT);
	assert_int_equal(judge_calls("{\"syscall\":\"getppid\",\"calls\":2}", 0), PROVE_WRONG);
	assert_int_equal(judge_calls("{\"syscall\":\"getppid\",\"calls\":2}", 1), PROVE_HIDDEN);
	assert_int_equal(judge_calls("{\"syscall\":\"getppid\",\"calls\":4}", 1), PROVE_WRONG);
	assert_int_equal(judge_calls("{\"syscall\":\"getpid\",\"calls\":3}", 0), PROVE_WRONG);
	assert_int_equal(judge_calls("{\"syscall\":\"getppid\",\"count\":3}", 0), PROVE_WRONG);
	assert_int_equal(judge_calls("", 0), PROVE_WRONG);
}

#define OPENED(i) "{\"time_ns\":1,\"values\":{\"error\":\"ENOENT\",\"path\":\"/no-such-file.tally/" #i "\"}}\n"
#define END "{\"lost\":{},\"rows\":[]}"

static void lines_of_events(void **state)
{
	(void)state;
	assert_int_equal(judge("opensnoop", OPENED(0) OPENED(1) OPENED(2) END, 3), PROVE_RIGHT);
	assert_int_equal(judge("opensnoop", OPENED(0) OPENED(1) END, 3), PROVE_WRONG);
	assert_int_equal(judge("opensnoop", OPENED(0) OPENED(1) OPENED(1) END, 3), PROVE_WRONG);
	assert_int_equal(judge("opensnoop", OPENED(0) OPENED(2) OPENED(1) END, 3), PROVE_WRONG);
	assert_int_equal(judge("opensnoop", OPENED(0) OPENED(0) OPENED(1) OPENED(2) END, 3), PROVE_WRONG);
}

static void what_is_no_report(void **state)
{
	static const char *const texts[] = { "rubbish\n", "{\"rows\":", "\n", OPENED(0) };
	struct prove_evidence e;
	double cost;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		e = (struct prove_evidence){ .n = 1 };
		assert_int_equal(prove_check__judge(check_of("syscount"), &e, texts[i], strlen(texts[i]), &cost),
				 -EINVAL);
		prove_evidence__free(&e);
	}
}

/* A thread that is preempted or runs between the start of the timer and its switch is blocked for less than it sleeps.
 */
static void sleeps_are_held_up(void **state)
{
	static const struct {
		u64 said, run, wait;
		enum prove_verdict verdict;
	} cases[] = {
		{ 100, 0, 0, PROVE_RIGHT }, { 99, 0, 0, PROVE_WRONG },	{ 92, 3, 5, PROVE_RIGHT },
		{ 91, 3, 5, PROVE_WRONG },  { 151, 0, 0, PROVE_WRONG }, { 1, 60, 90, PROVE_RIGHT },
		{ 0, 60, 90, PROVE_WRONG },
	};
	struct prove_evidence e;
	char text[200];
	double cost;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		e = (struct prove_evidence){ .n = 50,
					     .truth.elapsed_ns = 150 * NSEC_PER_MSEC,
					     .books = { .run_ns = cases[i].run * NSEC_PER_MSEC,
							.wait_ns = cases[i].wait * NSEC_PER_MSEC,
							.switches = 50,
							.preemptions = 1 } };
		snprintf(text, sizeof(text),
			 "{\"lost\":{},\"rows\":[{\"cause\":\"timer\",\"count\":49,\"time\":%llu}]}\n",
			 (unsigned long long)(cases[i].said * NSEC_PER_MSEC));
		assert_int_equal(prove_check__judge(check_of("why"), &e, text, strlen(text), &cost), 0);
		assert_int_equal(prove__compare(&e.claim[0]), PROVE_RIGHT);
		assert_int_equal(prove__compare(&e.claim[1]), cases[i].verdict);
		prove_evidence__free(&e);
	}
}

/* An empty report has nothing that a check wants: no check may accept it as right. */
static void silence_is_wrong(void **state)
{
	static const char text[] = "{\"lost\":{},\"rows\":[],\"groups\":[],\"stacks\":[]}\n";
	size_t i, k;

	(void)state;
	for (i = 0; i < prove_check_count; i++) {
		struct prove_evidence e = {
			.n = prove_checks[i].n,
			.books = { .run_ns = NSEC_PER_SEC,
				   .wait_ns = 1,
				   .slices = 1,
				   .switches = 1,
				   .faults = prove_checks[i].n },
			.truth = { .elapsed_ns = NSEC_PER_SEC, .sum = 1, .inode = 1, .address = 1 },
		};
		double cost;

		assert_int_equal(prove_check__judge(&prove_checks[i], &e, text, strlen(text), &cost), 0);
		assert_true(e.nclaims && e.nclaims <= PROVE_MOST_CLAIMS);
		for (k = 0; k < e.nclaims; k++)
			if (prove__compare(&e.claim[k]) != PROVE_WRONG)
				fail_msg("%s: nothing is taken for %s", prove_checks[i].tool, e.claim[k].what);
		prove_evidence__free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds),
		cmocka_unit_test(losses_explain_what_is_missing),
		cmocka_unit_test(counts_in_rows),
		cmocka_unit_test(lines_of_events),
		cmocka_unit_test(what_is_no_report),
		cmocka_unit_test(sleeps_are_held_up),
		cmocka_unit_test(silence_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
