// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of several events are never added up: each event has its own column, drawing or profile. */
#include <jansson.h>

#include "report/flame.h"
#include "report/stack_events.h"
#include "report/stack_values.h"
#include "stack/stacks.h"
#include "stack_fixture.h"

enum { MAIN, READ, SYS };
enum { CLOCK, FAULTS, LONG, EVENTS };

static struct report_event events[EVENTS];

static u32 event_key(struct stacks_fixture *f, const char *event, const char *comm)
{
	struct report_stacks *s = f->report.stacks;

	assert_int_equal(report_row__add_text(&s->key[s->nkeys], "event", event), 0);
	assert_int_equal(report_row__add_text(&s->key[s->nkeys], "comm", comm), 0);
	return s->nkeys++;
}

static void add(struct stacks_fixture *f, u32 event, u32 key, const u32 *frame, u32 n, u64 value)
{
	add_stack(f, key, frame, n, value);
	f->report.stacks->stack[f->report.stacks->n - 1].event = event;
	events[event].total += value;
}

#define ADD(f, event, key, value, ...) \
	add(f, event, key, (const u32[]){ __VA_ARGS__ }, ARRAY_SIZE(((const u32[]){ __VA_ARGS__ })), value)

/* Half of the samples and a tenth of the faults are in read(); the third event occurs in one place only. */
static void fill(struct stacks_fixture *f)
{
	u32 web_clock, web_faults, db_faults, web_long;

	events[CLOCK] = (struct report_event){
		.name = "cpu-clock", .share_name = "cpu-clock%", .unit = "samples", .period = 10101010, .missed = 3,
	};
	events[FAULTS] = (struct report_event){ .name = "page-faults", .share_name = "page-faults%", .unit = "events" };
	events[LONG] = (struct report_event){
		.name = "syscalls:sys_enter_openat", .share_name = "syscalls:sys_enter_openat%", .unit = "events",
	};
	fixture__make(f, 16);
	f->report.stacks->event = events;
	f->report.stacks->nevents = EVENTS;
	f->report.stacks->unit = "value";
	f->report.value = "events";
	add_frame(f, "main", "web", 0, FRAME_USER);
	add_frame(f, "read", "libc.so.6", 0, FRAME_USER);
	add_frame(f, "do_syscall", "[kernel]", 0, FRAME_KERNEL);
	web_clock = event_key(f, "cpu-clock", "web");
	web_faults = event_key(f, "page-faults", "web");
	db_faults = event_key(f, "page-faults", "db");
	web_long = event_key(f, "syscalls:sys_enter_openat", "web");
	ADD(f, CLOCK, web_clock, 10, MAIN);
	ADD(f, CLOCK, web_clock, 10, MAIN, READ, SYS);
	ADD(f, FAULTS, web_faults, 800000, MAIN);
	ADD(f, FAULTS, web_faults, 100000, MAIN, READ);
	ADD(f, FAULTS, db_faults, 100000, MAIN);
	ADD(f, LONG, web_long, 7, MAIN, READ, SYS);
}

static char *as(struct stacks_fixture *f, enum report_format format)
{
	struct writer w = { .format = format, .separator = ',' };
	size_t n;

	return written(&w, &f->report, &n);
}

static void columns(void **state)
{
	struct stacks_fixture f;
	char *text, *tree;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_TEXT);
	tree = strstr(text, "  cpu-clock");
	assert_non_null(tree);
	*strstr(tree, "\n\nevents") = 0;
	assert_string_equal(tree,
			    "  cpu-clock  page-faults  sys_enter_openat\n"
			    "    samples       events            events\n"
			    "         20    1,000,000                 7  all\n"
			    "     100.0%        90.0%            100.0%  web\n"
			    "                                              main  (web)\n"
			    "      50.0%        10.0%            100.0%      read  (libc.so.6)\n"
			    "      50.0%                         100.0%        do_syscall  ([kernel])\n"
			    "                   10.0%                    db\n"
			    "                                              main  (web)\n"
			    "\n"
			    "                                            functions, without callees\n"
			    "      50.0%                         100.0%  do_syscall  ([kernel])\n"
			    "      50.0%        90.0%                    main  (web)\n"
			    "                   10.0%                    read  (libc.so.6)");
	free(text);
	fixture__free(&f);
}

/* Shares decide the order, not values: 800,000 of a million faults come before ten of twenty samples. */
static void sorted_by_share(void **state)
{
	struct stacks_fixture f;
	const struct report_stacks *s;

	(void)state;
	fill(&f);
	report__sort_stacks(&f.report, 4);
	s = f.report.stacks;
	assert_int_equal(f.report.hidden, 2);
	assert_int_equal(s->stack[0].event, LONG);
	assert_int_equal(s->stack[1].value, 800000);
	assert_int_equal(s->stack[2].event, CLOCK);
	assert_int_equal(s->stack[3].event, CLOCK);
	fixture__free(&f);
}

static void folded(void **state)
{
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_FOLDED);
	assert_string_equal(text, "cpu-clock;web;main 10\n"
				  "cpu-clock;web;main;read;do_syscall_[k] 10\n"
				  "page-faults;web;main 800000\n"
				  "page-faults;web;main;read 100000\n"
				  "page-faults;db;main 100000\n"
				  "syscalls:sys_enter_openat;web;main;read;do_syscall_[k] 7\n");
	free(text);
	fixture__free(&f);
}

static void csv(void **state)
{
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_CSV);
	assert_memory_equal(text, "start_ns,duration_ns,event,comm,value,stack\n"
				  "0,1500000000,cpu-clock,web,10,main\n", 79);
	free(text);
	fixture__free(&f);
}

static void json(void **state)
{
	struct stacks_fixture f;
	json_t *report, *event;
	char *text;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_JSON);
	report = json_loads(text, 0, NULL);
	assert_non_null(report);
	event = json_array_get(json_object_get(report, "event_totals"), FAULTS);
	assert_string_equal(json_string_value(json_object_get(event, "event")), "page-faults");
	assert_int_equal(json_integer_value(json_object_get(event, "total")), 1000000);
	event = json_array_get(json_object_get(report, "event_totals"), CLOCK);
	assert_int_equal(json_integer_value(json_object_get(event, "missed")), 3);
	json_decref(report);
	free(text);
	fixture__free(&f);
}

static void one_at_a_time(void **state)
{
	struct stacks_fixture f;
	struct report one;

	(void)state;
	fill(&f);
	assert_int_equal(stack_events__one(&one, &f.report, FAULTS), 0);
	assert_string_equal(one.value, "page-faults");
	assert_int_equal(one.stacks->n, 3);
	assert_int_equal(one.stacks->total, 1000000);
	assert_int_equal(one.events, 1000000);
	assert_int_equal(one.stacks->nevents, 0);
	assert_int_equal(one.stacks->key[one.stacks->stack[2].key].ncells, 1);
	assert_string_equal(one.stacks->key[one.stacks->stack[2].key].cell[0].text, "db");
	stack_events__free(&one);
	fixture__free(&f);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static void flame(void **state)
{
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_FLAME);
	assert_int_equal(count(text, "<svg "), 1 + EVENTS);
	assert_int_equal(count(text, "</svg>"), 1 + EVENTS);
	assert_int_equal(count(text, "<g class=\"switch\">"), EVENTS);
	assert_int_equal(count(text, "page-faults: 1,000,000 events"), 1);
	assert_int_equal(count(text, "main\n10 samples, 50.00%"), 0);
	assert_int_equal(count(text, "main\n20 samples, 100.00%"), 1);
	assert_int_equal(count(text, "main\n900,000 events, 90.00%"), 1);
	free(text);
	fixture__free(&f);
}

/* The clock has a profile in time, too, and each event has its own stacks. */
static void profiles(void **state)
{
	static const struct {
		const char *name, *unit;
		u64 sum;
		size_t n;
	} wanted[] = {
		{ "cpu-clock, missed 3", "none", 20, 2 },
		{ "cpu, missed 3", "nanoseconds", 202020200, 2 },
		{ "page-faults", "none", 1000000, 3 },
		{ "syscalls:sys_enter_openat", "none", 7, 1 },
	};
	struct stack_value value[MOST_STACK_VALUES];
	struct stacks_fixture f;
	json_t *file, *all, *each;
	char *text;
	size_t i;

	(void)state;
	fill(&f);
	assert_int_equal(stack_values__of(f.report.stacks, value), ARRAY_SIZE(wanted));
	text = as(&f, FORMAT_SPEEDSCOPE);
	file = json_loads(text, 0, NULL);
	assert_non_null(file);
	all = json_object_get(file, "profiles");
	assert_int_equal(json_array_size(all), ARRAY_SIZE(wanted));
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		each = json_array_get(all, i);
		assert_string_equal(json_string_value(json_object_get(each, "name")), wanted[i].name);
		assert_string_equal(json_string_value(json_object_get(each, "unit")), wanted[i].unit);
		assert_int_equal(json_integer_value(json_object_get(each, "endValue")), wanted[i].sum);
		assert_int_equal(json_array_size(json_object_get(each, "samples")), wanted[i].n);
		assert_int_equal(json_array_size(json_object_get(each, "weights")), wanted[i].n);
	}
	json_decref(file);
	free(text);
	fixture__free(&f);
}

/* Each sample has as many values as there are types, and one or two of them are not 0. */
static void no_event_has_anothers_value(void **state)
{
	struct stack_value value[MOST_STACK_VALUES];
	struct stacks_fixture f;
	const struct report_stacks *s;
	size_t n, i, k, found;

	(void)state;
	fill(&f);
	s = f.report.stacks;
	n = stack_values__of(s, value);
	for (i = 0; i < s->n; i++) {
		for (k = found = 0; k < n; k++)
			found += value[k].event == s->stack[i].event;
		assert_int_equal(found, s->stack[i].event == CLOCK ? 2 : 1);
	}
	fixture__free(&f);
}

static const struct field *cell(const struct report *r, size_t row, const char *name)
{
	size_t i;

	for (i = 0; i < r->row[row].ncells; i++)
		if (!strcmp(r->row[row].cell[i].name, name))
			return &r->row[row].cell[i];
	return NULL;
}

/* The events are side by side: the table has a row for each function and key, whatever the event. */
static void table_side_by_side(void **state)
{
	struct stacks_fixture f;
	const struct report *r = &f.report;

	(void)state;
	fill(&f);
	assert_int_equal(stacks__tabulate(&f.report, LEAF_SYM, 3, true), 0);
	assert_null(r->stacks);
	assert_int_equal(r->nrows, 3);
	assert_int_equal(r->hidden, 1);
	assert_string_equal(cell(r, 0, "sym")->text, "do_syscall");
	assert_true(cell(r, 0, "cpu-clock%")->real == 50 && cell(r, 0, "page-faults%")->real == 0);
	assert_true(cell(r, 0, "syscalls:sys_enter_openat%")->real == 100);
	assert_string_equal(cell(r, 1, "sym")->text, "main");
	assert_string_equal(cell(r, 1, "comm")->text, "web");
	assert_true(cell(r, 1, "cpu-clock%")->real == 50 && cell(r, 1, "page-faults%")->real == 80);
	assert_null(cell(r, 1, "event"));
	fixture__free(&f);
}

static void table_row_by_row(void **state)
{
	struct stacks_fixture f;
	const struct report *r = &f.report;
	size_t i;
	u64 sum = 0;

	(void)state;
	fill(&f);
	assert_int_equal(stacks__tabulate(&f.report, LEAF_SYM, 0, false), 0);
	assert_int_equal(r->nrows, 6);
	assert_string_equal(cell(r, 0, "event")->text, "syscalls:sys_enter_openat");
	assert_true(cell(r, 0, "percent")->real == 100);
	for (i = 0; i < r->nrows; i++)
		if (!strcmp(cell(r, i, "event")->text, "page-faults"))
			sum += cell(r, i, "value")->number;
	assert_int_equal(sum, 1000000);
	fixture__free(&f);
}

/* Eight events fit, and a name that is too long is cut. */
static void most_events(void **state)
{
	static const char long_name[] = "a_very_long_system:a_very_very_very_very_long_tracepoint";
	struct report_event most[REPORT_MOST_EVENTS];
	struct stacks_fixture f;
	char *text;
	size_t i;
	u32 frame;

	(void)state;
	fixture__make(&f, 32);
	frame = add_frame(&f, "main", "web", 0, FRAME_USER);
	for (i = 0; i < REPORT_MOST_EVENTS; i++) {
		most[i] = (struct report_event){ .name = long_name, .unit = "events", .total = 1 };
		add_stack(&f, event_key(&f, long_name, "web"), &frame, 1, 1);
		f.report.stacks->stack[i].event = i;
	}
	f.report.stacks->event = most;
	f.report.stacks->nevents = REPORT_MOST_EVENTS;
	text = as(&f, FORMAT_TEXT);
	assert_int_equal(count(text, "  a_very_very_very_.."), REPORT_MOST_EVENTS);
	assert_int_equal(count(text, "100.0%"), 2 * REPORT_MOST_EVENTS);
	free(text);
	text = as(&f, FORMAT_FLAME);
	assert_int_equal(count(text, "<svg "), 1 + REPORT_MOST_EVENTS);
	free(text);
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns),
		cmocka_unit_test(sorted_by_share),
		cmocka_unit_test(folded),
		cmocka_unit_test(csv),
		cmocka_unit_test(json),
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(flame),
		cmocka_unit_test(profiles),
		cmocka_unit_test(no_event_has_anothers_value),
		cmocka_unit_test(table_side_by_side),
		cmocka_unit_test(table_row_by_row),
		cmocka_unit_test(most_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
