// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as trees, and the output of the writers for people, scripts and flamegraph.pl. */
#include <jansson.h>

#include "stack_fixture.h"

enum { MAIN, PARSE, READ, SYS, NONE, NOTE };

static void fill(struct stacks_fixture *f)
{
	u32 web, db;

	fixture__make(f, 16);
	add_frame(f, "main", "web", 0, FRAME_USER);
	add_frame(f, "parse;it", "web", 0, FRAME_USER);
	add_frame(f, "read", "libc.so.6", 0, FRAME_USER);
	add_frame(f, "do_syscall", "[kernel]", 0, FRAME_KERNEL);
	add_frame(f, NULL, "libz.so.1", 0x1234, FRAME_USER);
	add_frame(f, "[incomplete]", NULL, 0, FRAME_NOTE);
	web = add_key(f, "web");
	db = add_key(f, "d b");
	STACK(f, web, 50, MAIN, PARSE);
	STACK(f, web, 30, MAIN, READ, SYS);
	STACK(f, web, 10, MAIN);
	STACK(f, db, 8, NOTE, NONE);
	STACK(f, db, 2, NOTE, READ, SYS);
}

/* The innermost frames come right below the keys, and their callers below them. */
static void callees_come_first(void **state)
{
	static const struct call_node wanted[] = {
		{ NONE, 2, 2, 8, 0, 0 },           /* libz.so.1, of d b */
		{ NOTE, 1, 3, 8, 8, 0 },
		{ SYS, 3, 2, 2, 0, 0 },
		{ READ, 2, 3, 2, 0, 0 },
		{ NOTE, 1, 4, 2, 2, 0 },
	};
	struct stack_labels labels;
	struct stacks_fixture f;
	struct call_tree t;
	size_t i, k, found = 0;

	(void)state;
	fill(&f);
	f.report.stacks->callee_first = true;
	assert_int_equal(stack_labels__make(&labels, f.report.stacks, LABELS_DRAWN), 0);
	assert_int_equal(call_tree__make(&t, f.report.stacks, &labels), 0);
	assert_int_equal(t.node[0].total, 100);
	assert_int_equal(t.node[1].span, 6);
	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		for (k = 2; k < 1 + t.node[1].span; k++)
			found += t.node[k].frame == wanted[i].frame && t.node[k].span == wanted[i].span &&
				 t.node[k].depth == wanted[i].depth && t.node[k].total == wanted[i].total;
	assert_int_equal(found, ARRAY_SIZE(wanted));
	call_tree__free(&t);
	stack_labels__free(&labels);
	fixture__free(&f);
}

static void nodes_are_in_the_order_of_a_walk(void **state)
{
	static const struct call_node wanted[] = {
		{ 0, 9, 0, 100, 0, 0 },
		{ 7, 4, 1, 10, 0, 0 },     /* d b */
		{ NOTE, 3, 2, 10, 0, 0 },
		{ NONE, 1, 3, 8, 8, 0 },
		{ READ, 1, 3, 2, 0, 0 },
	};
	struct stack_labels labels;
	struct stacks_fixture f;
	struct call_tree t;
	size_t i, sum = 0;

	(void)state;
	fill(&f);
	assert_int_equal(stack_labels__make(&labels, f.report.stacks, LABELS_DRAWN), 0);
	assert_int_equal(call_tree__make(&t, f.report.stacks, &labels), 0);
	assert_int_equal(t.n, 11);
	assert_int_equal(t.depth, 4);
	assert_int_equal(t.node[0].span, t.n);
	for (i = 1; i < 4; i++) {
		assert_int_equal(t.node[i].frame, wanted[i].frame);
		assert_int_equal(t.node[i].depth, wanted[i].depth);
		assert_int_equal(t.node[i].total, wanted[i].total);
		assert_int_equal(t.node[i].self, wanted[i].self);
	}
	assert_int_equal(t.node[1].span, 5);
	assert_string_equal(call_node__label(&t.node[1], &labels), "d b");
	assert_string_equal(call_node__label(&t.node[3], &labels), "libz.so.1 [no symbol]");
	assert_int_equal(call_node__kind(&t.node[1], f.report.stacks), FRAME_NOTE);
	/* A node's total is that of its children, and its own part. */
	for (i = 0; i < t.n; i++) {
		u64 children = 0;
		size_t c;

		for (c = i + 1; c < i + t.node[i].span; c += t.node[c].span)
			children += t.node[c].total;
		assert_int_equal(t.node[i].total, children + t.node[i].self);
		sum += t.node[i].self;
	}
	assert_int_equal(sum, 100);
	call_tree__free(&t);
	stack_labels__free(&labels);
	fixture__free(&f);
}

/* Frames of one module without a symbol are one frame when drawn, and apart when folded. */
static void frames_without_a_symbol(void **state)
{
	struct stack_labels labels;
	struct stacks_fixture f;
	struct call_tree t;
	u32 key, a, b, c;

	(void)state;
	fixture__make(&f, 8);
	key = add_key(&f, NULL);
	a = add_frame(&f, NULL, "m", 1, FRAME_USER);
	b = add_frame(&f, NULL, "m", 2, FRAME_USER);
	c = add_frame(&f, "m [no symbol]", "m", 0, FRAME_USER);
	STACK(&f, key, 1, a);
	STACK(&f, key, 2, b);
	STACK(&f, key, 4, c);
	assert_int_equal(stack_labels__make(&labels, f.report.stacks, LABELS_DRAWN), 0);
	assert_int_equal(call_tree__make(&t, f.report.stacks, &labels), 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.node[1].total, 3);
	assert_int_equal(t.node[2].total, 4);
	call_tree__free(&t);
	stack_labels__free(&labels);
	fixture__free(&f);
}

/* Frames on different lines are apart, and inlined ones are marked; a file is shown without its directory. */
static void lines(void **state)
{
	static const struct {
		const char *file;
		u32 line;
		enum frame_kind kind;
		const char *drawn, *folded;
	} cases[] = {
		{ "/src/a.c", 7, FRAME_USER, "f a.c:7", "f a.c:7" },
		{ "/src/a.c", 8, FRAME_USER, "f a.c:8", "f a.c:8" },
		{ "a.c", 0, FRAME_USER, "f a.c", "f a.c" },
		{ NULL, 0, FRAME_INLINED, "f (inlined)", "f_[i]" },
		{ "/src/b.h", UINT32_MAX, FRAME_INLINED, "f b.h:4294967295 (inlined)",
		  "f b.h:4294967295_[i]" },
		{ "/src/b.h", 1, FRAME_KERNEL, "f b.h:1", "f b.h:1_[k]" },
		{ "/x;\n/y;\nz.h", 1, FRAME_USER, "f y;\\x0az.h:1", "f y\\x3b\\x0az.h:1" },
	};
	struct stack_labels drawn, folded;
	struct stacks_fixture f;
	struct call_tree t;
	u32 key, frame;
	size_t i;

	(void)state;
	fixture__make(&f, ARRAY_SIZE(cases));
	key = add_key(&f, NULL);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		frame = add_frame(&f, "f", "m", 0, cases[i].kind);
		f.frame[frame].file = cases[i].file;
		f.frame[frame].line = cases[i].line;
		STACK(&f, key, 1, frame);
	}
	assert_int_equal(stack_labels__make(&drawn, f.report.stacks, LABELS_DRAWN), 0);
	assert_int_equal(stack_labels__make(&folded, f.report.stacks, LABELS_FOLDED), 0);
	assert_int_equal(call_tree__make(&t, f.report.stacks, &drawn), 0);
	assert_int_equal(t.n, 1 + ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(drawn.frame[i], cases[i].drawn);
		assert_string_equal(folded.frame[i], cases[i].folded);
	}
	call_tree__free(&t);
	stack_labels__free(&drawn);
	stack_labels__free(&folded);
	fixture__free(&f);
}

static char *as(struct stacks_fixture *f, enum report_format format)
{
	struct writer w = { .format = format, .separator = ',' };
	size_t n;

	return written(&w, &f->report, &n);
}

static void folded(void **state)
{
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	report__sort_stacks(&f.report, 0);
	text = as(&f, FORMAT_FOLDED);
	assert_string_equal(text, "web;main;parse\\x3bit 50\n"
				  "web;main;read;do_syscall_[k] 30\n"
				  "web;main 10\n"
				  "d b;[incomplete];libz.so.1+0x1234 8\n"
				  "d b;[incomplete];read;do_syscall_[k] 2\n");
	free(text);
	fixture__free(&f);
}

static void csv(void **state)
{
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	report__sort_stacks(&f.report, 2);
	assert_int_equal(f.report.hidden, 3);
	text = as(&f, FORMAT_CSV);
	assert_string_equal(text, "start_ns,duration_ns,comm,samples,stack\n"
				  "0,1500000000,web,50,main;parse\\x3bit\n"
				  "0,1500000000,web,30,main;read;do_syscall_[k]\n");
	free(text);
	fixture__free(&f);
}

static void json(void **state)
{
	json_t *report, *stack, *frame;
	struct stacks_fixture f;
	char *text;

	(void)state;
	fill(&f);
	f.report.stacks->stack[3].place[0].address = 0xffffffff81000000;
	f.report.stacks->stack[3].place[1].address = FRAME_PLACES;
	text = as(&f, FORMAT_JSON);
	report = json_loads(text, 0, NULL);
	assert_non_null(report);
	assert_null(json_object_get(report, "rows"));
	assert_null(json_object_get(report, "groups"));
	assert_int_equal(json_array_size(json_object_get(report, "stacks")), 5);
	stack = json_array_get(json_object_get(report, "stacks"), 3);
	assert_int_equal(json_integer_value(json_object_get(stack, "value")), 8);
	assert_string_equal(json_string_value(json_object_get(json_object_get(stack, "key"), "comm")),
			    "d b");
	frame = json_array_get(json_object_get(stack, "frames"), 0);
	assert_string_equal(json_string_value(json_object_get(frame, "addr")), "0xffffffff81000000");
	frame = json_array_get(json_object_get(stack, "frames"), 1);
	assert_true(json_is_null(json_object_get(frame, "name")));
	assert_true(json_is_null(json_object_get(frame, "addr")));
	assert_string_equal(json_string_value(json_object_get(frame, "module")), "libz.so.1");
	assert_int_equal(json_integer_value(json_object_get(frame, "offset")), NONE);
	json_decref(report);
	free(text);
	fixture__free(&f);
}

static void text(void **state)
{
	static const char wanted[] =
		"  share    self     samples\n"
		"  90.0%                  90  web\n"
		"  90.0%   10.0%          90    main  (web)\n"
		"  50.0%   50.0%          50      parse;it\n"
		"  30.0%                  30      read  (libc.so.6)\n"
		"  30.0%   30.0%          30      do_syscall  ([kernel])\n"
		"  10.0%                  10  d b\n"
		"                               [incomplete]\n"
		"   8.0%    8.0%           8      libz.so.1 [no symbol]\n"
		"   2.0%                   2      read  (libc.so.6)\n"
		"   2.0%    2.0%           2      do_syscall  ([kernel])\n"
		"\n"
		"   self             samples  functions, without callees\n"
		"  50.0%                  50  parse;it  (web)\n";
	struct stacks_fixture f;
	char *text, *tree;

	(void)state;
	fill(&f);
	text = as(&f, FORMAT_TEXT);
	tree = strstr(text, "  share");
	assert_non_null(tree);
	assert_int_equal(strncmp(tree, wanted, sizeof(wanted) - 1), 0);
	free(text);
	fixture__free(&f);
}

/* Sums of times and bytes are large: 2^64 / 1000 and more in one branch. */
static void large_branches(void **state)
{
	struct stacks_fixture f;
	char *text;
	u32 key;

	(void)state;
	fixture__make(&f, 4);
	add_frame(&f, "most", "web", 0, FRAME_USER);
	add_frame(&f, "half", "web", 0, FRAME_USER);
	key = add_key(&f, "web");
	STACK(&f, key, 12000000000000000000ULL, 0);
	STACK(&f, key, 18446744073709552ULL, 1);
	STACK(&f, key, 6000000000000000000ULL, 1);
	text = as(&f, FORMAT_TEXT);
	assert_non_null(strstr(text, "most"));
	assert_non_null(strstr(text, "half"));
	free(text);
	fixture__free(&f);
}

/* People need neither the system call entry nor the same unknown code twice; frames that fork or take time
 * themselves stay. */
static void brief_trees(void **state)
{
	static const char brief[] = "  90.0%                  90    main  (web)\n"
				    "                               libz.so.1 [no symbol]\n"
				    "  90.0%   90.0%          90    ksys_read  ([kernel])\n"
				    "  10.0%   10.0%          10    do_syscall_64  ([kernel])\n";
	struct writer w = { .format = FORMAT_TEXT, .brief = true };
	struct stacks_fixture f;
	u32 key, i;
	char *text, *full;
	size_t n;

	(void)state;
	fixture__make(&f, 8);
	add_frame(&f, "main", "web", 0, FRAME_USER);
	for (i = 1; i < 4; i++)
		add_frame(&f, NULL, "libz.so.1", 0x1000 * i, FRAME_USER);
	add_frame(&f, "do_syscall_64", "[kernel]", 0, FRAME_KERNEL);
	add_frame(&f, "ksys_read", "[kernel]", 0, FRAME_KERNEL);
	key = add_key(&f, "web");
	STACK(&f, key, 90, 0, 1, 2, 3, 4, 5);
	STACK(&f, key, 10, 4);
	full = as(&f, FORMAT_TEXT);
	assert_non_null(strstr(full, "do_syscall_64\n") ?: strstr(full, "do_syscall_64  ([kernel])\n"));
	assert_non_null(strstr(strstr(full, "[no symbol]") + 1, "[no symbol]"));
	text = written(&w, &f.report, &n);
	assert_non_null(strstr(text, brief));
	free(text);
	free(full);
	fixture__free(&f);
}

static void nothing_was_sampled(void **state)
{
	static const enum report_format formats[] = {
		FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_FOLDED, FORMAT_FLAME,
	};
	struct stacks_fixture f;
	size_t i;

	(void)state;
	fixture__make(&f, 1);
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		free(as(&f, formats[i]));
	fixture__free(&f);
}

static void formats_have_names(void **state)
{
	(void)state;
	assert_int_equal(report_stack_format("tree"), FORMAT_TEXT);
	assert_int_equal(report_stack_format("text"), FORMAT_TEXT);
	assert_int_equal(report_stack_format("flame"), FORMAT_FLAME);
	assert_int_equal(report_stack_format("folded"), FORMAT_FOLDED);
	assert_int_equal(report_stack_format("pprof"), FORMAT_PPROF);
	assert_int_equal(report_stack_format("speedscope"), FORMAT_SPEEDSCOPE);
	assert_int_equal(report_stack_format("json"), FORMAT_JSON);
	assert_int_equal(report_stack_format("svg"), FORMAT_FLAME);
	/* Tools without stacks have fewer formats. */
	assert_int_equal(report_format("json"), FORMAT_JSON);
	assert_int_equal(report_format("flame"), -EINVAL);
	assert_int_equal(report_format("pprof"), -EINVAL);
	assert_int_equal(report_format("speedscope"), -EINVAL);
	assert_int_equal(report_format("tree"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_in_the_order_of_a_walk),
		cmocka_unit_test(callees_come_first),
		cmocka_unit_test(frames_without_a_symbol),
		cmocka_unit_test(lines),
		cmocka_unit_test(folded),
		cmocka_unit_test(csv),
		cmocka_unit_test(json),
		cmocka_unit_test(text),
		cmocka_unit_test(large_branches), cmocka_unit_test(brief_trees),
		cmocka_unit_test(nothing_was_sampled),
		cmocka_unit_test(formats_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
