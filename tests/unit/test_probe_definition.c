// SPDX-License-Identifier: BSD-2-Clause
/* Probe definitions as users type them: the end of the event, names of arguments, positions of errors. */
#include "unit.h"

#include "probe/definition.h"

#define MOST 8

static void parts(void **state)
{
	static const struct {
		const char *typed, *name, *event;
		size_t event_at;
		const char *argument[MOST];     /* "name: expression" as expr__format() writes it */
	} cases[] = {
		{ "vfs_read", NULL, "vfs_read", 0, {} },
		{ "  vfs_read\t ", NULL, "vfs_read", 2, {} },
		{ "R=vfs_read", "R", "vfs_read", 2, {} },
		{ " R=vfs_read count", "R", "vfs_read", 3, { "count: count" } },
		{ "f a b=c d.e p->q", NULL, "f", 0, { "a: a", "b: c", "e: d.e", "q: p->q" } },
		{ "f x==1", NULL, "f", 0, { "x==1: (x == 1)" } },
		{ "f y=x==1", NULL, "f", 0, { "y: (x == 1)" } },
		{ "f %di $retval $arg3:u32 @x", NULL, "f", 0,
		  { "di: %di", "retval: $retval", "arg3: $arg3:u32", "x: @x" } },
		{ "f n=+0(%di):string", NULL, "f", 0, { "n: +0(%di):string" } },
		{ "f +8(%di)", NULL, "f", 0, { "+8(%di): +8(%di)" } },
		{ "f (a + b) c", NULL, "f", 0, { "(a + b): (a + b)", "c: c" } },
		{ "f a[ 1 ] p->q[2]", NULL, "f", 0, { "a[ 1 ]: a[1]", "p->q[2]: p->q[2]" } },
		{ "f t=comm==\"a b\" n", NULL, "f", 0, { "t: (comm == \"a b\")", "n: n" } },
		{ "f t=comm==\"a\\\" b\"", NULL, "f", 0, { "t: (comm == \"a\\\" b\")" } },
		{ "f (u8)a", NULL, "f", 0, { "(u8)a: ((u8)a)" } },
		{ "lib.so:f%return $retval", NULL, "lib.so:f%return", 0, { "retval: $retval" } },
		{ "f:12 a", NULL, "f:12", 0, { "a: a" } },
		{ "cpu/event=0x3c/ a", NULL, "cpu/event=0x3c/", 0, { "a: a" } },
		{ "{a,b} c", NULL, "{a,b}", 0, { "c: c" } },
		{ "main.(*T).m $arg1", NULL, "main.(*T).m", 0, { "arg1: $arg1" } },
		{ "main.F[struct { X int }] x", NULL, "main.F[struct { X int }]", 0, { "x: x" } },
		{ "go.struct { io.Reader }.Read n=x", NULL, "go.struct { io.Reader }.Read", 0, { "n: x" } },
		{ "operator new(unsigned long) x", NULL, "operator new(unsigned long)", 0, { "x: x" } },
		{ "operator new size", NULL, "operator new", 0, { "size: size" } },
		{ "K::operator unsigned long() x", NULL, "K::operator unsigned long()", 0, { "x: x" } },
		{ "K::operator<< <int>(int) x", NULL, "K::operator<< <int>(int)", 0, { "x: x" } },
		{ "<a::T as b::U>::f x", NULL, "<a::T as b::U>::f", 0, { "x: x" } },
	};
	struct probe_definition d;
	struct complaint c;
	char *argument, *text, shown[256];
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(probe_definition__parse(&d, cases[i].typed, &c, &argument), 0);
		if (cases[i].name)
			assert_string_equal(d.name, cases[i].name);
		else
			assert_null(d.name);
		assert_string_equal(d.event, cases[i].event);
		assert_int_equal(d.event_at, cases[i].event_at);
		for (k = 0; k < d.n; k++) {
			assert_true(k < MOST && cases[i].argument[k]);
			text = expr__format(d.argument[k].expr);
			snprintf(shown, sizeof(shown), "%s: %s", d.argument[k].name, text);
			assert_string_equal(shown, cases[i].argument[k]);
			free(text);
		}
		assert_true(d.n == MOST || !cases[i].argument[d.n]);
		probe_definition__free(&d);
	}
}

static void wrong_parts(void **state)
{
	static const struct {
		const char *typed, *argument, *said;
		size_t at;
	} cases[] = {
		{ "", NULL, "expected an event", 0 },
		{ " \t", NULL, "expected an event", 0 },
		{ "f +", "+", "a value is missing before '+'", 0 },
		{ "f a b=c+", "c+", "a value is missing at the end", 2 },
		{ "f (a", "(a", "')' is missing to close this", 0 },
		{ "f a) b", "a)", "unmatched ')'", 1 },
		{ "f \"a b", "\"a b", "this string is not terminated", 0 },
		{ "f a=b=c", "b=c", "unknown operator '=', did you mean '=='?", 1 },
	};
	struct probe_definition d;
	struct complaint c;
	char *argument;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(probe_definition__parse(&d, cases[i].typed, &c, &argument), -EINVAL);
		assert_string_equal(c.what, cases[i].said);
		assert_int_equal(c.at, cases[i].at);
		if (cases[i].argument)
			assert_string_equal(argument, cases[i].argument);
		else
			assert_null(argument);
		free(argument);
	}
}

static void lists(void **state)
{
	static const struct {
		const char *typed;
		const char *argument[MOST];
	} cases[] = {
		{ "comm", { "comm: comm" } },
		{ " comm , pid ", { "comm: comm", "pid: pid" } },
		{ "a=b,c->d", { "a: b", "d: c->d" } },
		{ "x=(a, b)", { NULL } },
		{ "t=comm == \"a,b\",c", { "t: (comm == \"a,b\")", "c: c" } },
		{ "a[1],b", { "a[1]: a[1]", "b: b" } },
	};
	struct probe_argument *argument;
	struct complaint c;
	char *part, *text, shown[256];
	size_t i, k, n;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		err = probe_arguments__parse(&argument, &n, cases[i].typed, &c, &part);
		if (!cases[i].argument[0]) {
			assert_int_equal(err, -EINVAL);
			free(part);
			continue;
		}
		assert_int_equal(err, 0);
		for (k = 0; k < n; k++) {
			assert_non_null(cases[i].argument[k]);
			text = expr__format(argument[k].expr);
			snprintf(shown, sizeof(shown), "%s: %s", argument[k].name, text);
			assert_string_equal(shown, cases[i].argument[k]);
			free(text);
		}
		assert_null(cases[i].argument[n]);
		probe_arguments__free(argument, n);
	}
}

static void wrong_lists(void **state)
{
	static const struct {
		const char *typed;
		size_t at;
	} cases[] = {
		{ "", 0 }, { ",", 0 }, { "a,", 2 }, { ",a", 0 }, { "a,,b", 2 }, { "a, ,b", 3 },
	};
	struct probe_argument *argument;
	struct complaint c;
	char *part;
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(probe_arguments__parse(&argument, &n, cases[i].typed, &c, &part), -EINVAL);
		assert_string_equal(c.what, "expected an expression here");
		assert_int_equal(c.at, cases[i].at);
		assert_null(part);
		assert_null(argument);
		assert_int_equal(n, 0);
	}
}

/* The parser accepts or refuses any text. */
static void anything(void **state)
{
	static const char letters[] = "ab1=,() \t[]{}\"\\+-$%@:.>";
	struct random r = { 4711 };
	struct probe_definition d;
	struct complaint c;
	char text[24], *argument;
	size_t i, k, n;

	(void)state;
	for (i = 0; i < 200000; i++) {
		n = random__below(&r, sizeof(text));
		for (k = 0; k < n; k++)
			text[k] = letters[random__below(&r, sizeof(letters) - 1)];
		text[n] = 0;
		argument = NULL;
		if (!probe_definition__parse(&d, text, &c, &argument)) {
			assert_true(d.event_at < n && *d.event);
			probe_definition__free(&d);
		} else {
			assert_true(c.what[0] && c.at <= strlen(argument ?: text));
		}
		free(argument);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(wrong_parts),
		cmocka_unit_test(lists),
		cmocka_unit_test(wrong_lists),
		cmocka_unit_test(anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
