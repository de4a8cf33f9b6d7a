// SPDX-License-Identifier: BSD-2-Clause
/* Names of events in user code: their binaries, the sites they stand for in a program, and errors in them. */
#include "unit.h"

#include "elf_fixture.h"
#include "event/event.h"

static const char source[] =
	"#include <sys/sdt.h>\n"
	"#define NOINLINE __attribute__((noinline, noclone))\n"
	"volatile long sink;\n"
	"static inline __attribute__((always_inline)) void inlined(long a)\n"
	"{\n"
	"	sink = a;\n"
	"	sink = a + 1;\n"
	"}\n"
	"NOINLINE void __hidden_name(long a) { STAP_PROBE1(shop, sale, a); inlined(a); }\n"
	"void name(long a) __attribute__((alias(\"__hidden_name\")));\n"
	"NOINLINE void name_two(long a)\n"
	"{\n"
	"	STAP_PROBE1(shop, sale, a);\n"
	"	inlined(a + 3);\n"
	"	STAP_PROBE(shop, closed);\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	name(argc);\n"
	"	name_two(argc);\n"
	"	return 0;\n"
	"}\n";

struct asked {
	struct events events;
	struct event_sites sites;
	struct complaint c;
	int err;
};

/* BINARY in the text stands for the fixture's path. */
static void ask(struct asked *a, const char *path, const char *binary, const char *text)
{
	struct event_context ctx = { .binary = binary };
	const char *at = strstr(text, "BINARY");
	char whole[256];
	size_t which;

	memset(a, 0, sizeof(*a));
	if (at)
		snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(at - text), text, path, at + 6);
	else
		snprintf(whole, sizeof(whole), "%s", text);
	a->err = events__parse(&a->events, &ctx, whole, &a->c);
	if (!a->err)
		a->err = events__resolve(&a->sites, &a->events, &ctx, &a->c, &which);
}

static void asked__free(struct asked *a)
{
	event_sites__free(&a->sites);
	events__free(&a->events);
}

static void known_answers(void **state)
{
	static const struct {
		const char *text;
		bool with_x;            /* -x BINARY */
		enum event_type type;
		size_t sites;
		const char *first;      /* name of the first site */
	} cases[] = {
		{ "BINARY:name", false, EVENT_USER_FUNCTION, 1, "program:name" },
		{ "name", true, EVENT_USER_FUNCTION, 1, "program:name" },
		{ "__hidden_name", true, EVENT_USER_FUNCTION, 1, "program:__hidden_name" },
		{ "*name", true, EVENT_USER_FUNCTION, 1, "program:name" },
		{ "name%return", true, EVENT_USER_FUNCTION, 1, "program:name%return" },
		{ "name_*", true, EVENT_USER_FUNCTION, 1, "program:name_two" },
		{ "name_two+1", true, EVENT_USER_FUNCTION, 1, "program:name_two+0x1" },
		{ "sdt_shop:sale", true, EVENT_USDT, 2, "sdt_shop:sale" },
		{ "sdt:sale", true, EVENT_USDT, 2, "sdt_shop:sale" },
		{ "shop:sale", true, EVENT_USDT, 2, "sdt_shop:sale" },
		{ "shop:c*", true, EVENT_USDT, 1, "sdt_shop:closed" },
		{ "sdt_*:*", true, EVENT_USDT, 3, NULL },
		{ "BINARY:sdt_shop:closed", false, EVENT_USDT, 1, "sdt_shop:closed" },
		{ "BINARY:sdt:sale", false, EVENT_USDT, 2, "sdt_shop:sale" },
	};
	struct fixture f;
	struct asked a;
	size_t i, k;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ask(&a, f.path, cases[i].with_x ? f.path : NULL, cases[i].text);
		if (a.err)
			fail_msg("%s: %d %s", cases[i].text, a.err, a.c.what);
		assert_int_equal(a.events.event[0].type, cases[i].type);
		if (a.sites.n != cases[i].sites)
			fail_msg("%s: %zu sites", cases[i].text, a.sites.n);
		if (cases[i].first)
			assert_string_equal(a.sites.site[0].name, cases[i].first);
		for (k = 0; k < a.sites.n; k++) {
			assert_string_equal(a.sites.site[k].path, f.path);
			assert_true(a.sites.site[k].file_offset != 0);
			assert_int_equal(a.sites.site[k].is_return,
					 strstr(cases[i].text, "%return") != NULL);
		}
		asked__free(&a);
	}
	fixture__free(&f);
}

static void with_debug_information(void **state)
{
	struct fixture f;
	struct asked a;
	bool without;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1 -g");
	ask(&a, f.path, f.path, "name_two:3");
	without = a.err == -EOPNOTSUPP;
	if (!without) {
		assert_int_equal(a.err, 0);
		assert_int_equal(a.sites.n, 1);
		assert_string_equal(a.sites.site[0].name, "program:name_two:3");
		asked__free(&a);
		ask(&a, f.path, f.path, "inlined");
		assert_int_equal(a.err, 0);
		assert_int_equal(a.sites.n, 2);
		assert_non_null(strstr(a.sites.site[0].name, "program:inlined (inlined into "));
		asked__free(&a);
		ask(&a, f.path, f.path, "name_two:99");
		assert_int_equal(a.err, -ENOENT);
		assert_non_null(strstr(a.c.hint, "has code"));
	}
	asked__free(&a);
	fixture__free(&f);
	if (without)
		skip();
}

static void mistakes(void **state)
{
	static const struct {
		const char *text;
		bool with_x;
		int err;
		const char *part;       /* a part of the complaint or its hint */
	} cases[] = {
		{ "BINARY", false, -EINVAL, "a function is missing" },
		{ "BINARY:", false, -EINVAL, "missing" },
		{ "BINARY:no_such", false, -ENOENT, "no function" },
		{ "name_tow", true, -ENOENT, "name_two" },
		{ "name_two+100000", true, -EINVAL, "bytes" },
		{ "name_two:3", true, -EOPNOTSUPP, "debug information" },
		{ "sdt_shop:closd", true, -ENOENT, "sdt_shop:closed" },
		{ "sdt_shop:sale", false, -EINVAL, "a USDT probe needs a program or library" },
		{ "sdt_shop:", true, -EINVAL, "missing" },
		{ "/no/such/file:f", false, -ENOENT, "No such file" },
		{ "/etc/passwd:f", false, -ENOEXEC, "ELF" },
	};
	struct fixture f;
	struct asked a;
	size_t i;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ask(&a, f.path, cases[i].with_x ? f.path : NULL, cases[i].text);
		if (a.err != cases[i].err)
			fail_msg("%s: %d %s", cases[i].text, a.err, a.c.what);
		if (!strstr(a.c.what, cases[i].part) && !strstr(a.c.hint, cases[i].part))
			fail_msg("%s: %s (%s)", cases[i].text, a.c.what, a.c.hint);
		asked__free(&a);
	}
	fixture__free(&f);
}

static void too_many(void **state)
{
	struct event_context ctx = { .max_sites = 2 };
	struct event_sites sites = {};
	struct events events = {};
	struct complaint c = {};
	struct fixture f;
	size_t which;

	(void)state;
	fixture__init(&f);
	fixture__compile(&f, "program", source, "cc -O1");
	ctx.binary = f.path;
	assert_int_equal(events__parse(&events, &ctx, "sdt:sale,sdt:*", &c), 0);
	assert_int_equal(events__resolve(&sites, &events, &ctx, &c, &which), -E2BIG);
	assert_int_equal(which, 1);
	event_sites__free(&sites);
	events__free(&events);
	fixture__free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(with_debug_information),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
