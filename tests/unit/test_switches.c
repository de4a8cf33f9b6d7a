// SPDX-License-Identifier: BSD-2-Clause
/* Figures made from records: sums by task, codes of tasks, the longest times, and lines. */
#include "unit.h"

#include "report/timeline.h"
#include "sched/tasks.h"
#include "sched/worst.h"

static struct switches_record switch_of(u32 tid, u64 run_ns, u64 wait_ns)
{
	return (struct switches_record){
		.kind = SWITCHES_SWITCH, .task = { .pid = 1, .tid = tid, .comm = "task" },
		.run_ns = run_ns, .wait_ns = wait_ns, .off_ns = SWITCHES_UNKNOWN,
	};
}

static void sums(void **state)
{
	static const u64 runs[] = { 5, SWITCHES_UNKNOWN, 3, 10 };
	struct switches_record r = { .kind = SWITCHES_MIGRATION, .task = { .pid = 1, .tid = 2 } };
	struct tasks tasks = {};
	size_t i;

	(void)state;
	assert_int_equal(tasks__add(&tasks, &r), 0);
	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		r = switch_of(2, runs[i], i ? i : SWITCHES_UNKNOWN);
		assert_int_equal(tasks__add(&tasks, &r), 0);
	}
	r.kind = SWITCHES_WAKEUP;
	assert_int_equal(tasks__add(&tasks, &r), 0);
	assert_int_equal(tasks.n, 1);
	assert_int_equal(tasks.task->slices, 4);
	assert_int_equal(tasks.task->timed, 3);
	assert_int_equal(tasks.task->run_ns, 18);
	assert_int_equal(tasks.task->run_min_ns, 3);
	assert_int_equal(tasks.task->run_max_ns, 10);
	assert_int_equal(tasks.task->waits, 3);
	assert_int_equal(tasks.task->wait_ns, 6);
	assert_int_equal(tasks.task->wait_max_ns, 3);
	assert_int_equal(tasks.task->migrations, 1);
	assert_string_equal(tasks.task->comm, "task");
	tasks__free(&tasks);
}

/* Each task finds its own entry again, whatever the ids. */
static void many_tasks(void **state)
{
	struct random random = { 7 };
	struct tasks tasks = {};
	struct switches_task id[3000];
	struct task_totals *task;
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(id); i++) {
		id[i] = (struct switches_task){ .pid = random__next(&random), .tid = i };
		task = tasks__get(&tasks, &id[i]);
		assert_non_null(task);
		assert_int_equal(task->slices, 0);
		task->slices = i + 1;
	}
	n = tasks.n;
	for (i = 0; i < ARRAY_SIZE(id); i++)
		assert_int_equal(tasks__get(&tasks, &id[i])->slices, i + 1);
	assert_int_equal(tasks.n, n);
	tasks__free(&tasks);
}

static void codes(void **state)
{
	struct switches_task id = { .pid = 1 };
	struct tasks tasks = {};
	struct task_totals *task;
	char seen[128][128] = {};

	(void)state;
	for (id.tid = 1; id.tid <= 1612; id.tid++) {
		task = tasks__get(&tasks, &id);
		assert_true(tasks__give_code(&tasks, task));
		assert_false(tasks__give_code(&tasks, task));
		assert_int_equal(strlen(task->code), 2);
		assert_int_equal(seen[(u8)task->code[0]][(u8)task->code[1]]++, 0);
	}
	/* The next task takes the code of the first one, which then has none. */
	task = tasks__get(&tasks, &id);
	assert_true(tasks__give_code(&tasks, task));
	assert_string_equal(task->code, "A0");
	id.tid = 1;
	task = tasks__get(&tasks, &id);
	assert_string_equal(task->code, "");
	assert_true(tasks__give_code(&tasks, task));
	assert_string_equal(task->code, "B0");
	tasks__free(&tasks);
}

static void add_worst(struct worst *w, u32 tid, u64 value, u64 run_ns)
{
	const struct switches_worst entry = {
		.value = value, .record = switch_of(tid, run_ns, value),
	};

	assert_int_equal(worst__add(w, &entry), 0);
}

static void the_longest(void **state)
{
	struct worst w = {};

	(void)state;
	worst__settle(&w, 5);
	add_worst(&w, 1, 10, SWITCHES_UNKNOWN);         /* was running when seen, and then left */
	add_worst(&w, 3, 30, 5);
	add_worst(&w, 1, 10, 7);
	add_worst(&w, 2, 10, SWITCHES_UNKNOWN);         /* still runs */
	add_worst(&w, 4, 20, 5);
	add_worst(&w, 5, 1, 5);
	worst__settle(&w, 4);
	assert_int_equal(w.n, 4);
	assert_int_equal(w.entry[0].record.task.tid, 3);
	assert_int_equal(w.entry[1].record.task.tid, 4);
	assert_int_equal(w.entry[2].record.task.tid, 1);
	assert_int_equal(w.entry[2].record.run_ns, 7);
	assert_int_equal(w.entry[3].record.task.tid, 2);
	worst__free(&w);
}

/* line_of() returns its output in new memory. */
static u32 terminal;    /* its columns; 0: no terminal */

static char *line_of(const struct timeline *t, const struct switches_record *r, bool titles)
{
	struct writer w = { .format = FORMAT_TEXT, .terminal.columns = terminal };
	char *text = NULL;
	size_t n;

	w.file = open_memstream(&text, &n);
	assert_non_null(w.file);
	if (titles)
		timeline__write_titles(t, &w);
	else
		assert_int_equal(timeline__write(t, &w, r), 0);
	fclose(w.file);
	return text;
}

/* The last column ends where its title ends, whatever comes before it. */
static void columns(void **state)
{
	static const struct timeline timelines[] = {
		{ .cpus = 2 }, { .cpus = 2, .picture = true }, { .cpus = 128, .picture = true },
	};
	struct switches_record r = {
		.kind = SWITCHES_SWITCH, .cpu = 127,
		.task = { .pid = 4194304, .tid = 4194303, .comm = "fifteen letters" },
		.off_ns = 123456789, .wait_ns = SWITCHES_UNKNOWN, .run_ns = 999999999999,
	};
	char *titles, *line;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(timelines); i++) {
		titles = line_of(&timelines[i], NULL, true);
		line = line_of(&timelines[i], &r, false);
		assert_int_equal(strchr(titles, '\n') - titles, strchr(line, '\n') - line);
		assert_int_equal(strlen(titles), 2 * (strchr(titles, '\n') - titles + 1));
		assert_non_null(strstr(line, "    123.456          - 999999.999\n"));
		if (timelines[i].cpus == 128)
			assert_int_equal(line[24 + 127], 'i');
		free(titles);
		free(line);
	}
}

/* A name longer than its column only takes blanks from the columns of times. */
static void narrow(void **state)
{
	static const struct timeline t = { .cpus = 2 };
	struct switches_record r = {
		.kind = SWITCHES_SWITCH,
		.task = { .pid = 419430, .tid = 4194303, .comm = "fifteen letters" },
		.off_ns = 18183000, .wait_ns = 1000, .run_ns = SWITCHES_UNKNOWN,
	};
	char *line;

	(void)state;
	terminal = 80;
	line = line_of(&t, &r, false);
	assert_int_equal(strchr(line, '\n') - line, 80);
	assert_non_null(strstr(line, "  fifteen letters[4194303/419430] 18.183  0.001          -\n"));
	free(line);
	r.off_ns = r.wait_ns = 123456789012;    /* no room: the line is longer, and whole */
	line = line_of(&t, &r, false);
	assert_non_null(strstr(line, "419430] 123456.789 123456.789 "));
	free(line);
	terminal = 0;
}

static void hostile_names(void **state)
{
	const struct timeline t = { .next = true };
	struct switches_record r = {
		.kind = SWITCHES_SWITCH, .task = { .pid = 1, .tid = 1 }, .time_ns = UINT64_MAX,
		.other = { .pid = 1, .tid = 2, .comm = "\033[2J" },
	};
	char *line;

	(void)state;
	memset(r.task.comm, '\n', sizeof(r.task.comm));         /* not terminated */
	line = line_of(&t, &r, false);
	assert_int_equal(strchr(line, '\n') - line + 1, strlen(line));
	assert_null(strchr(line, '\033'));
	assert_non_null(strstr(line, "next: \\x1b[2J[2/1]\n"));
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(many_tasks),
		cmocka_unit_test(codes),
		cmocka_unit_test(the_longest),
		cmocka_unit_test(columns),
		cmocka_unit_test(narrow),
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
