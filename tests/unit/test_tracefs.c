// SPDX-License-Identifier: BSD-2-Clause
/*
 * Format files of tracefs, as kernels from 5.10 on have written them, and damaged ones; tables of
 * symbols in the print fmt. This machine's own format files are compared in the live tests.
 */
#include "unit.h"

#include "types/symbols.h"
#include "types/tracefs.h"

#define COMMON                                                                  \
	"format:\n"                                                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"  \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"  \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FORMAT(fields, print) "name: test\nID: 316\n" COMMON fields "\nprint fmt: " print "\n"

static struct tracepoint_format parsed(const char *text)
{
	struct tracepoint_format f;

	if (tracepoint_format__parse(&f, text))
		fail_msg("refused: %s", text);
	return f;
}

static void whole_file(void **state)
{
	struct tracepoint_format f = parsed(
		FORMAT("\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		       "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n",
		       "\"prev_comm=%s\", REC->prev_comm"));
	size_t i;

	(void)state;
	assert_int_equal(f.id, 316);
	assert_int_equal(f.nfields, 6);
	for (i = 0; i < f.nfields; i++)
		assert_int_equal(f.field[i].is_common, i < 4);
	assert_string_equal(f.field[3].name, "common_pid");
	assert_true(f.field[3].is_signed);
	assert_string_equal(f.field[4].type, "char");
	assert_string_equal(f.field[4].name, "prev_comm");
	assert_int_equal(f.field[4].elements, 16);
	assert_int_equal(f.field[4].offset, 8);
	assert_int_equal(f.field[4].size, 16);
	assert_string_equal(f.field[5].type, "pid_t");
	assert_int_equal(f.field[5].elements, 0);
	assert_string_equal(f.print, "\"prev_comm=%s\", REC->prev_comm");
	tracepoint_format__free(&f);
	assert_null(f.field);
	assert_int_equal(f.nfields, 0);
}

static void declarations(void **state)
{
	static const struct {
		const char *text;
		u32 size;
		const char *type, *name;
		u32 elements;
		bool is_dynamic, is_relative;
	} cases[] = {
		{ "dev_t dev", 4, "dev_t", "dev", 0, false, false },
		{ "unsigned long long ip", 8, "unsigned long long", "ip", 0, false, false },
		{ "__data_loc char[] name", 4, "char", "name", 0, true, false },
		{ "__data_loc  char[]  name", 4, "char", "name", 0, true, false },
		{ "__rel_loc char[] comm", 4, "char", "comm", 0, false, true },
		{ "__data_loc u8[] buf", 4, "u8", "buf", 0, true, false },
		{ "__data_loc unsigned long[] args", 4, "unsigned long", "args", 0, true, false },
		{ "__data_loc cpumask_t *[] mask", 4, "cpumask_t *", "mask", 0, true, false },
		{ "__data_loc const char[] s", 4, "const char", "s", 0, true, false },
		{ "__data_location x", 4, "__data_location", "x", 0, false, false },
		{ "const char * filename", 8, "const char *", "filename", 0, false, false },
		{ "const char *filename", 8, "const char *", "filename", 0, false, false },
		{ "void *p", 8, "void *", "p", 0, false, false },
		{ "const char *const * argv", 8, "const char *const *", "argv", 0, false, false },
		{ "unsigned long args[6]", 48, "unsigned long", "args", 6, false, false },
		{ "__u8 saddr[sizeof(struct sockaddr_in6)]", 28, "__u8", "saddr", 28, false, false },
		{ "char comm[TASK_COMM_LEN]", 16, "char", "comm", 16, false, false },
		{ "u32 m[N + 1]", 20, "u32", "m", 5, false, false },
		{ "struct foo f[N]", 24, "struct foo", "f", 1, false, false },
		{ "char *names[N]", 24, "char *", "names", 3, false, false },
		{ "u16 grid[2][3]", 12, "u16", "grid", 6, false, false },
		{ "u16 grid[2][N]", 12, "u16", "grid", 6, false, false },
		{ "u8 one[1]", 1, "u8", "one", 1, false, false },
		{ "u8 hex[0x10]", 16, "u8", "hex", 16, false, false },
		{ "char wrong[7]", 16, "char", "wrong", 16, false, false },
		{ "char huge[99999999999999999999]", 16, "char", "huge", 16, false, false },
		{ "u64 ov[4294967295][4294967295][4294967295]", 16, "u64", "ov", 2, false, false },
		{ "char buf[]", 0, "char", "buf", 0, false, false },
		{ "unsigned int flag:1", 4, "unsigned int", "flag", 0, false, false },
		{ "u8 wide : 12", 2, "u8", "wide", 0, false, false },
		{ "void (*fn)(int, char *)", 8, "void *", "fn", 0, false, false },
		{ "struct hlist_node\tnode", 16, "struct hlist_node", "node", 0, false, false },
		{ "enum zone_type z", 4, "enum zone_type", "z", 0, false, false },
		{ "void __seg_gs * p", 8, "void __seg_gs *", "p", 0, false, false },
	};
	struct tracepoint_format f;
	char text[1024], what[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(what, sizeof(what), "\tfield:%s;\toffset:8;\tsize:%u;\tsigned:1;\n",
			 cases[i].text, cases[i].size);
		snprintf(text, sizeof(text), "name: x\nID: 1\n" COMMON "%s\nprint fmt: \"\"\n", what);
		f = parsed(text);
		assert_int_equal(f.nfields, 5);
		assert_string_equal(f.field[4].type, cases[i].type);
		assert_string_equal(f.field[4].name, cases[i].name);
		if (f.field[4].elements != cases[i].elements)
			fail_msg("%s: %u elements", cases[i].text, f.field[4].elements);
		assert_int_equal(f.field[4].is_dynamic, cases[i].is_dynamic);
		assert_int_equal(f.field[4].is_relative, cases[i].is_relative);
		assert_int_equal(f.field[4].size, cases[i].size);
		assert_true(f.field[4].is_signed);
		assert_false(f.field[4].is_common);
		tracepoint_format__free(&f);
	}
}

static void unusual_files(void **state)
{
	struct tracepoint_format f;

	(void)state;
	/* ftrace's own events have no common block of their own, and "signed" was not always there. */
	f = parsed("name: function\nID: 1\nformat:\n\tfield:unsigned long ip;\toffset:8;\tsize:8;\n");
	assert_int_equal(f.nfields, 1);
	assert_false(f.field[0].is_signed);
	assert_string_equal(f.print, "");
	tracepoint_format__free(&f);
	/* An event without fields, and with a newline in the print fmt. */
	f = parsed("ID: 7\n" COMMON "\nprint fmt: \"a\n b\", REC->x\n\n");
	assert_int_equal(f.nfields, 4);
	assert_string_equal(f.print, "\"a\n b\", REC->x");
	tracepoint_format__free(&f);
	/* A field called common_... after the common ones is the event's own. */
	f = parsed(FORMAT("\tfield:int common_x;\toffset:8;\tsize:4;\tsigned:1;\n", "\"\""));
	assert_false(f.field[4].is_common);
	tracepoint_format__free(&f);
	/* The largest possible numbers. */
	f = parsed("ID: 4294967295\nformat:\n\tfield:int x;\toffset:4294967295;\tsize:4294967295;\t"
		   "signed:1;\n");
	assert_int_equal(f.id, UINT32_MAX);
	assert_int_equal(f.field[0].offset, UINT32_MAX);
	tracepoint_format__free(&f);
}

static void damaged_files_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "ID:", "ID: x\n", "ID: -1\n", "ID: 4294967296\n", "ID: 1x\n", "name: x\n",
		"ID: 1\nfield:int x\n", "ID: 1\nfield:int x;\n", "ID: 1\nfield:int x;\toffset:1;\n",
		"ID: 1\nfield:int x;\toffset:x;\tsize:4;\n", "ID: 1\nfield:;\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:int;\toffset:1;\tsize:4;\n", "ID: 1\nfield:int ;\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:int x;\toffset:1;\tsize:4294967296;\n",
		"ID: 1\nfield:int x;\toffset:1;\tsize:4\n", "ID: 1\nfield:]];\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:[[;\toffset:1;\tsize:4;\n", "ID: 1\nfield:int x];\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:__data_loc;\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:void (*;\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:void (*)(int);\toffset:1;\tsize:4;\n",
		"ID: 1\nfield:int x;\toffset:1;\tsize:4;\tsigned:-;\n",
	};
	struct tracepoint_format f, untouched;
	size_t i;

	(void)state;
	memset(&f, 0x5a, sizeof(f));
	untouched = f;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (tracepoint_format__parse(&f, bad[i]) != -EINVAL)
			fail_msg("'%s' is not refused", bad[i]);
		assert_memory_equal(&f, &untouched, sizeof(f));
	}
}

/* Truncated or changed text causes no crash, and nothing is kept on failure. */
static void random_damage(void **state)
{
	static const char text[] =
		FORMAT("\tfield:__data_loc char[] n;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:u8 a[sizeof(x)];\toffset:12;\tsize:8;\tsigned:0;\n"
		       "\tfield:void (*f)(int);\toffset:24;\tsize:8;\tsigned:0;\n",
		       "\"%s\", __print_flags(REC->a, \"|\", { 1 << 2, \"A\" }, { 0x2UL, \"B\" })");
	static const char letters[] = "[](){};:,\"\\\n\t *x1-_|&<>";
	struct random r = { 4711 };
	struct tracepoint_format f;
	struct symbol_tables s;
	u64 refused = 0, n, k;
	char *copy;

	(void)state;
	for (n = 0; n < 50000; n++) {
		copy = strdup(text);
		assert_non_null(copy);
		for (k = 0; k <= random__below(&r, 4); k++)
			copy[random__below(&r, sizeof(text) - 1)] =
				letters[random__below(&r, sizeof(letters) - 1)];
		if (random__below(&r, 2))
			copy[random__below(&r, sizeof(text) - 1)] = 0;
		if (tracepoint_format__parse(&f, copy)) {
			refused++;
		} else {
			assert_int_equal(symbol_tables__parse(&s, f.print), 0);
			symbol_tables__free(&s);
			tracepoint_format__free(&f);
		}
		free(copy);
	}
	assert_true(refused > 1000);
	assert_true(refused < 49000);
}

/* --- symbols --------------------------------------------------------------------------------- */

static void assert_table(const char *print, const char *field, bool is_flags, const char *symbols)
{
	struct symbol_tables s;
	char text[1024] = "";
	size_t i, n = 0;

	assert_int_equal(symbol_tables__parse(&s, print), 0);
	if (!field) {
		if (s.n)
			fail_msg("'%s' has a table about %s", print, s.table[0].field);
		symbol_tables__free(&s);
		return;
	}
	if (s.n != 1)
		fail_msg("'%s' has %zu tables", print, s.n);
	assert_string_equal(s.table[0].field, field);
	assert_int_equal(s.table[0].is_flags, is_flags);
	for (i = 0; i < s.table[0].n; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s=%lld", i ? " " : "",
			      s.table[0].symbol[i].name, s.table[0].symbol[i].value);
	assert_string_equal(text, symbols);
	symbol_tables__free(&s);
}

static void symbols_and_flags(void **state)
{
	(void)state;
	assert_table("\"%s\", __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" })", "vec",
		     false, "HI=0 TIMER=1");
	assert_table("__print_symbolic(REC->x, {0,\"A\"},{1,\"B\"})", "x", false, "A=0 B=1");
	assert_table("__print_symbolic((int)(REC->x), { -1, \"none\" }, { 0x10, \"b\" })", "x", false,
		     "none=-1 b=16");
	assert_table("__print_symbolic(REC->x, { ((3 + 1) * 2) | 1, \"A\" }, { ~0UL >> 60, \"B\" })",
		     "x", false, "A=9 B=15");
	assert_table("__print_symbolic(REC->x, { 'r', \"read\" })", "x", false, "read=114");
	assert_table("__print_flags(REC->f, \"|\", { 1 << 3, \"A\" }, { (1UL << 4), \"B\" })", "f",
		     true, "A=8 B=16");
	assert_table("__print_flags(REC->f & 0xff, \"|\", { 1, \"A\" })", "f", true, "A=1");
	assert_table("(REC->gfp) ? __print_flags(REC->gfp, \"|\", { ( gfp_t)((((gfp_t)(((((1UL))) << "
		     "(1)))))), \"G\" }) : \"none\"", "gfp", true, "G=2");
	assert_table("__print_flags_u64(REC->f, \",\", { 1ULL, \"A, (B)\" })", "f", true, "A, (B)=1");
	assert_table("__print_symbolic64(REC->f, { 1, \"q\\\"q\" })", "f", false, "q\\\"q=1");
	/* Two equal tables become one. */
	assert_table("__print_symbolic(REC->x, {1,\"A\"}), __print_symbolic(REC->x, {1,\"A\"})", "x",
		     false, "A=1");
}

static void symbols_that_are_no_use(void **state)
{
	(void)state;
	/* The numbers are those of something other than the field. */
	assert_table("__print_symbolic((REC->ioprio >> 13) & 7, { 1, \"rt\" })", NULL, false, "");
	assert_table("__print_symbolic(REC->x & 3, { 1, \"A\" })", NULL, false, "");
	assert_table("__print_symbolic(REC->x + REC->y, { 1, \"A\" })", NULL, false, "");
	assert_table("__print_symbolic(!REC->x, { 1, \"A\" })", NULL, false, "");
	assert_table("__print_flags(REC->x & REC->y, \"\", { 1, \"A\" })", NULL, false, "");
	assert_table("__print_symbolic(f(), { 1, \"A\" })", NULL, false, "");
	/* Values that only the compiler knows. */
	assert_table("__print_symbolic(REC->x, { NAME, \"A\" }, { 2, \"B\" })", "x", false, "B=2");
	assert_table("__print_symbolic(REC->x, { 1 << 64, \"A\" }, { 08, \"C\" }, { 1x, \"D\" }, "
		     "{ 1 + , \"E\" }, { (1, \"F\" }, { 2, \"B\" })", NULL, false, "");
	/* The text ends too soon. */
	assert_table("__print_symbolic(", NULL, false, "");
	assert_table("__print_symbolic(REC->x", NULL, false, "");
	assert_table("__print_symbolic(REC->x, { 1, \"A", NULL, false, "");
	assert_table("__print_flags(REC->x, \"|\"", NULL, false, "");
	assert_table("__print_hex(REC->x, 6)", NULL, false, "");
	assert_table("", NULL, false, "");
}

static void deep_nesting_ends(void **state)
{
	char text[4096] = "__print_symbolic(REC->x, { ";
	size_t n = strlen(text), i;

	(void)state;
	for (i = 0; i < 1500; i++)
		text[n++] = '(';
	text[n++] = '1';
	for (i = 0; i < 1500; i++)
		text[n++] = ')';
	strcpy(text + n, ", \"A\" }, { 2, \"B\" })");
	assert_table(text, "x", false, "B=2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_file),
		cmocka_unit_test(declarations),
		cmocka_unit_test(unusual_files),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(random_damage),
		cmocka_unit_test(symbols_and_flags),
		cmocka_unit_test(symbols_that_are_no_use),
		cmocka_unit_test(deep_nesting_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
