// SPDX-License-Identifier: BSD-2-Clause
/* The stacks that --frames and --no-frames select, and the frames of the tracer itself. */
#include "unit.h"

#include "stack/choice.h"

enum { MAIN, READ, TCP_SEND, NO_SYMBOL, UNKNOWN, FRAMES };

static struct report_frame frames[] = {
	[MAIN] = { .name = "main", .module = "web" },
	[READ] = { .name = "read", .module = "libc.so.6" },
	[TCP_SEND] = { .name = "tcp_sendmsg", .module = "[kernel]", .kind = FRAME_KERNEL },
	[NO_SYMBOL] = { .module = "libz.so.1", .offset = 12 },
	[UNKNOWN] = {},
};

/* Whether a stack of main(), frame and a frame without a name (a tool's own note) is taken. */
static int takes(const char *with, const char *without, u32 frame)
{
	const struct stack_names names = { .frame = frames, .n = FRAMES };
	u32 path[] = { MAIN, frame, 1U << 31 };
	const struct stack_path of = { .n = ARRAY_SIZE(path), .frame = path };
	struct stack_choice c = {};
	int first, again;

	assert_int_equal(stack_choice__init(&c, with, without), 0);
	first = stack_choice__takes(&c, &names, &of);
	again = stack_choice__takes(&c, &names, &of);
	assert_int_equal(first, again);
	stack_choice__free(&c);
	return first;
}

static void names_choose(void **state)
{
	(void)state;
	assert_true(takes(NULL, NULL, READ));
	assert_true(takes("^tcp_", NULL, TCP_SEND));
	assert_false(takes("^tcp_", NULL, READ));
	assert_false(takes(NULL, "sendmsg$", TCP_SEND));
	assert_true(takes(NULL, "sendmsg$", READ));
	assert_true(takes("read|write", "^tcp_", READ));
	assert_false(takes("main", "read", READ));
	assert_false(takes("^ain", NULL, READ));
	/* A frame without a symbol is matched by its file's name, and without that by the text shown. */
	assert_true(takes("^libz", NULL, NO_SYMBOL));
	assert_false(takes("^libc", NULL, READ));
	assert_true(takes("unknown", NULL, UNKNOWN));
}

static void wrong_patterns(void **state)
{
	struct stack_choice c = {};
	char text[64];

	(void)state;
	assert_int_equal(stack_choice__init(&c, "ok", "("), -EINVAL);
	assert_null(c.with.text);
	assert_false(stack_choice__describe(&c, text, sizeof(text)));
	assert_int_equal(stack_choice__init(&c, "a", "b"), 0);
	assert_true(stack_choice__describe(&c, text, sizeof(text)));
	assert_string_equal(text, "--frames 'a', --no-frames 'b'");
	stack_choice__free(&c);
}

static void tracers_own(void **state)
{
	(void)state;
	assert_true(is_tracers_own("__traceiter_sched_switch"));
	assert_true(is_tracers_own("perf_trace_sched_switch"));
	assert_true(is_tracers_own("perf_syscall_enter"));
	assert_true(is_tracers_own("trace_call_bpf"));
	assert_false(is_tracers_own("__schedule"));
	assert_false(is_tracers_own("perf_event_task_sched_out"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_choose),
		cmocka_unit_test(wrong_patterns),
		cmocka_unit_test(tracers_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
