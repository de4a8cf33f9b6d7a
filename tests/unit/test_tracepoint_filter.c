// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "expr/tracepoint_filter.h"

/* A made-up format, with a field of each kind that filters treat differently. */
static const char format_text[] =
	"name: test\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:char rwbs[8];\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:const char * filename;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int vec;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%u %s\", REC->nr_sector, __print_symbolic(REC->vec, { 1, \"TIMER\" }, "
	"{ 9, \"RCU\" })\n";

/* The filter as the user types it -> as the kernel gets it. */
static const struct {
	const char *typed, *given;
} good[] = {
	{ "nr_sector > 200", "nr_sector > 200" },
	{ "nr_sector >= 4K", "nr_sector >= 4096" },
	{ "200 < nr_sector", "nr_sector > 200" },
	{ "200 >= nr_sector", "nr_sector <= 200" },
	{ "5 == nr_sector", "nr_sector == 5" },
	{ "rwbs == \"WS\"", "rwbs == \"WS\"" },
	{ "rwbs ~ '*W*'", "rwbs ~ \"*W*\"" },
	{ "rwbs !~ \"*W*\"", "!(rwbs ~ \"*W*\")" },
	{ "name != \"a\\\"b\"", "name != 'a\"b'" },
	{ "ret < 0", "ret < 0" },
	{ "ret == -11", "ret == -11" },
	{ "ret == ~0", "ret == 18446744073709551615" },
	{ "dev == 8:1", "dev == 8388609" },
	{ "dev == 0x800000", "dev == 8388608" },
	{ "dev == /dev/null", "dev == 1048579" },       /* 1:3, Documentation/admin-guide/devices.txt */
	{ "nr_sector & 0x40", "nr_sector & 64" },
	{ "(nr_sector & 0x40) == 0x40", "(nr_sector & 64)" },
	{ "(nr_sector & 0x40) != 0x40", "!(nr_sector & 64)" },
	{ "(nr_sector & 0x60) == 0", "!(nr_sector & 96)" },
	{ "(nr_sector & 0x60) != 0", "(nr_sector & 96)" },
	{ "nr_sector", "nr_sector != 0" },
	{ "!nr_sector", "!(nr_sector != 0)" },
	{ "ret == 1 && nr_sector == 2", "(ret == 1) && (nr_sector == 2)" },
	{ "ret == 1 || nr_sector == 2 && vec == 3",
	  "(ret == 1) || ((nr_sector == 2) && (vec == 3))" },
	{ "!(ret == 1 || ret == 2)", "!((ret == 1) || (ret == 2))" },
	{ "vec == TIMER", "vec == 1" },
	{ "common_pid == 5", "common_pid == 5" },
	{ "comm ~ \"d*\"", "comm ~ \"d*\"" },
	{ "cpu == 1", "cpu == 1" },
	{ "filename != 0", "filename != 0" },
	{ "ret > 5ms", "ret > 5000000" },
};

static const struct {
	const char *typed;
	int err;
	size_t at, len;
	const char *what, *hint;
} bad[] = {
	{ "nr_sectors > 3", -EINVAL, 0, 10, "has no field 'nr_sectors'", "did you mean nr_sector?" },
	{ "ret == 1 && zzzzzz > 3", -EINVAL, 12, 6, "no field", "dev, nr_sector, ret, rwbs, name" },
	{ "zzzzzz", -EINVAL, 0, 6, "no field", "it has dev" },
	{ "rwbs == WS", -EINVAL, 8, 2, "number or a string", "in quotes" },
	{ "rwbs == 3", -EINVAL, 8, 1, "rwbs is a string", "" },
	{ "rwbs > \"a\"", -EINVAL, 5, 1, "no order", "" },
	{ "rwbs ~ 3", -EINVAL, 7, 1, "glob in quotes", "" },
	{ "rwbs", -EINVAL, 0, 4, "this is not a condition", "" },
	{ "nr_sector == \"a\"", -EINVAL, 13, 3, "is a number", "" },
	{ "nr_sector ~ \"a\"", -EINVAL, 10, 1, "is not a string", "" },
	{ "nr_sector > -1", -EINVAL, 12, 2, "unsigned", "" },
	{ "filename == \"a\"", -EINVAL, 12, 3, "pointer", "" },
	{ "nr_sector == ret", -EINVAL, 13, 3, "number or a string", "constants" },
	{ "nr_sector + 1 == 2", -EINVAL, 0, 13, "name of a field", "" },
	{ "vec == TIMERS", -EINVAL, 7, 6, "number or a string", "" },
	{ "$retval == 1", -EINVAL, 0, 7, "name of a field", "" },
	{ "(nr_sector & 6) == 2", -EINVAL, 19, 1, "any of these bits", "" },
	{ "(nr_sector & 6) > 2", -EINVAL, 0, 15, "any of these bits", "" },
	{ "\"a\"", -EINVAL, 0, 3, "this is not a condition", "" },
	{ "dev == /dev/no-such-thing", -ENOENT, 7, 18, "no device", "" },
	{ "dev == /dev", -EINVAL, 7, 4, "is not a device", "" },
	{ "rwbs == \"a\\\"b'c\"", -EINVAL, 8, 8, "both kinds of quotes", "" },
};

static int make(char **filter, const char *typed, struct complaint *c)
{
	struct tracepoint_format format;
	struct expr *e;
	int err;

	assert_int_equal(tracepoint_format__parse(&format, format_text), 0);
	assert_int_equal(expr__parse(&e, typed, c), 0);
	err = tracepoint_filter__make(filter, e, &format, "test:test", c);
	expr__free(e);
	tracepoint_format__free(&format);
	return err;
}

static void filters_are_put_in_the_kernels_words(void **state)
{
	struct complaint c;
	char *filter;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		if (make(&filter, good[i].typed, &c))
			fail_msg("%s: %s", good[i].typed, c.what);
		assert_string_equal(filter, good[i].given);
		free(filter);
	}
}

static void what_the_kernel_cannot_do_is_refused_in_place(void **state)
{
	struct complaint c;
	char *filter;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err = make(&filter, bad[i].typed, &c);
		if (err != bad[i].err || c.at != bad[i].at || c.len != bad[i].len ||
		    !strstr(c.what, bad[i].what) || !strstr(c.hint, bad[i].hint))
			fail_msg("'%s': %d %zu+%zu '%s' '%s'", bad[i].typed, err, c.at, c.len, c.what, c.hint);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_are_put_in_the_kernels_words),
		cmocka_unit_test(what_the_kernel_cannot_do_is_refused_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
