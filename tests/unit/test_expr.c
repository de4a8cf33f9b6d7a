// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "expr/expr.h"

/* text -> the same with all parentheses, as C implies them. */
static const struct {
	const char *text, *formatted;
} good[] = {
	{ "nr_sector > 200", "(nr_sector > 200)" },
	{ "nr_sector >= 100", "(nr_sector >= 100)" },
	{ "rwbs == \"WS\"", "(rwbs == \"WS\")" },
	{ "rwbs ~ \"*W*\"", "(rwbs ~ \"*W*\")" },
	{ "rwbs !~ '*W*'", "(rwbs !~ \"*W*\")" },
	{ "bytes < 100", "(bytes < 100)" },
	{ "size > 0 && skc_state != 1", "((size > 0) && (skc_state != 1))" },
	{ "(size >= 40 && size <= 400) && state != 1", "(((size >= 40) && (size <= 400)) && (state != 1))" },
	{ "(size <= 40 || size >= 400) && state != 1", "(((size <= 40) || (size >= 400)) && (state != 1))" },
	{ "flags == 0x400000 || flags == 0x402000", "((flags == 4194304) || (flags == 4202496))" },
	{ "flags & 0x40", "(flags & 64)" },
	{ "dev == 0x800000", "(dev == 8388608)" },
	{ "dev == 8:0", "(dev == 8:0)" },
	{ "dev==253:17", "(dev == 253:17)" },
	{ "dev == /dev/sda", "(dev == /dev/sda)" },
	{ "dev == /dev/sda&&x", "((dev == /dev/sda) && x)" },
	{ "count < 10", "(count < 10)" },
	{ "ret < 0", "(ret < 0)" },
	{ "ret == -11", "(ret == (-11))" },
	{ "ret==-11", "(ret == (-11))" },
	{ "a || b && c", "(a || (b && c))" },
	{ "a && b || c", "((a && b) || c)" },
	{ "!a && !b", "((!a) && (!b))" },
	{ "!(a && b)", "(!(a && b))" },
	{ "!!a", "(!(!a))" },
	{ "a | b ^ c & d", "(a | (b ^ (c & d)))" },
	{ "(flags & 0x40) == 0x40", "((flags & 64) == 64)" },
	{ "a + b * c", "(a + (b * c))" },
	{ "a * b + c", "((a * b) + c)" },
	{ "a - b - c", "((a - b) - c)" },
	{ "a / b % c", "((a / b) % c)" },
	{ "a % b", "(a % b)" },
	{ "a %b", "(a % b)" },
	{ "%di", "%di" },
	{ "%di & 4", "(%di & 4)" },
	{ "a << 2 + 1", "(a << (2 + 1))" },
	{ "a >> 3 > 4", "((a >> 3) > 4)" },
	{ "-a + -b", "((-a) + (-b))" },
	{ "~a", "(~a)" },
	{ "a ~ \"b\"", "(a ~ \"b\")" },
	{ "~a == ~b", "((~a) == (~b))" },
	{ "*p", "(*p)" },
	{ "**p", "(*(*p))" },
	{ "&x", "(&x)" },
	{ "a && &b", "(a && (&b))" },
	{ "a * *b", "(a * (*b))" },
	{ "sk->__sk_common.skc_state", "sk->__sk_common.skc_state" },
	{ "sk->a->b.c[3]", "sk->a->b.c[3]" },
	{ "*p->q", "(*p->q)" },
	{ "(*p).q", "(*p).q" },
	{ "a[i + 1]", "a[(i + 1)]" },
	{ "a[b[2]]", "a[b[2]]" },
	{ "$retval", "$retval" },
	{ "$retval < 0", "($retval < 0)" },
	{ "$arg1", "$arg1" },
	{ "$elapsed > 10ms", "($elapsed > 10000000ns)" },
	{ "$elapsed > 5us", "($elapsed > 5000ns)" },
	{ "$elapsed > 2s", "($elapsed > 2000000000ns)" },
	{ "$elapsed > 1.5s", "($elapsed > 1500000000ns)" },
	{ "nsecs > 1h", "(nsecs > 3600000000000ns)" },
	{ "@jiffies", "@jiffies" },
	{ "+0(%di)", "+0(%di)" },
	{ "+8(+0(%di))", "+8(+0(%di))" },
	{ "-16(%bp)", "-16(%bp)" },
	{ "+0x10($retval):string", "+16($retval):string" },
	{ "name:ustring", "name:ustring" },
	{ "a:u8 == 3", "(a:u8 == 3)" },
	{ "(u32)a", "((u32)a)" },
	{ "(struct sock *)a", "((struct sock *)a)" },
	{ "((struct sock *)a)->b", "((struct sock *)a)->b" },
	{ "(struct sock *)a->b", "((struct sock *)a->b)" },
	{ "(a)", "a" },
	{ "(a) + b", "(a + b)" },
	{ "(unsigned long)a + 1", "(((unsigned long)a) + 1)" },
	{ "(size_t)-1", "((size_t)(-1))" },
	{ "4K", "4096" },
	{ "size >= 2M", "(size >= 2097152)" },
	{ "1G", "1073741824" },
	{ "0o17", "15" },
	{ "mode == 0755", "(mode == 493)" },
	{ "00", "0" },
	{ "0", "0" },
	{ "01777777777777777777777", "18446744073709551615" },
	{ "0xFFFFFFFFFFFFFFFF", "18446744073709551615" },
	{ "comm == \"a b\"", "(comm == \"a b\")" },
	{ "comm == \"a\\\"b\"", "(comm == \"a\\\"b\")" },
	{ "comm == \"\\x41\"", "(comm == \"A\")" },
	{ "comm == \"\\n\"", "(comm == \"\\x0a\")" },
	{ "comm ~ \"a\\*\"", "(comm ~ \"a\\*\")" },
	{ "comm == \"\"", "(comm == \"\")" },
	{ "  a  ==  1  ", "(a == 1)" },
	{ "a==1&&b==2", "((a == 1) && (b == 2))" },
	{ "_a9 != 0", "(_a9 != 0)" },
};

static void texts_are_parsed_as_in_c(void **state)
{
	struct complaint c;
	struct expr *e;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		if (expr__parse(&e, good[i].text, &c))
			fail_msg("%s: %s at %zu", good[i].text, c.what, c.at);
		text = expr__format(e);
		assert_string_equal(text, good[i].formatted);
		free(text);
		expr__free(e);
	}
}

/* Invalid texts: where the caret is, how far it reaches, and a part of the message. */
static const struct {
	const char *text;
	size_t at, len;
	const char *what;
} bad[] = {
	{ "", 0, 0, "missing at the end" },
	{ "   ", 3, 0, "missing at the end" },
	{ "nr_sector => 100", 10, 2, "did you mean '>='?" },
	{ "a =< 1", 2, 2, "did you mean '<='?" },
	{ "a = 1", 2, 1, "did you mean '=='?" },
	{ "a === 1", 2, 3, "did you mean '=='?" },
	{ "a !== 1", 2, 3, "did you mean '!='?" },
	{ "a <> 1", 2, 2, "did you mean '!='?" },
	{ "a =~ \"b\"", 2, 2, "did you mean '~'?" },
	{ "a ~= \"b\"", 2, 2, "did you mean '~'?" },
	{ "a and b", 2, 3, "did you mean '&&'?" },
	{ "a or b", 2, 2, "did you mean '||'?" },
	{ "a like \"b\"", 2, 4, "did you mean '~'?" },
	{ "a eq 1", 2, 2, "did you mean '=='?" },
	{ "a <", 3, 0, "missing at the end" },
	{ "a < ", 4, 0, "missing at the end" },
	{ "< 1", 0, 1, "missing before '<'" },
	{ "a && && b", 5, 2, "missing before '&&'" },
	{ "a b", 2, 1, "operator is missing" },
	{ "a 1", 2, 1, "operator is missing" },
	{ "a == 1 2", 7, 1, "operator is missing" },
	{ "(a", 0, 1, "')' is missing to close this" },
	{ "((a)", 0, 1, "')' is missing to close this" },
	{ "a)", 1, 1, "unmatched ')'" },
	{ "a]", 1, 1, "unmatched ']'" },
	{ "a[1", 1, 1, "']' is missing to close this" },
	{ "a[", 2, 0, "missing at the end" },
	{ "a[]", 2, 1, "missing before ']'" },
	{ "()", 1, 1, "missing before ')'" },
	{ "(a]", 2, 1, "unmatched ']'" },
	{ "a.", 1, 1, "name of a member" },
	{ "a->", 1, 2, "name of a member" },
	{ "a->3", 1, 2, "name of a member" },
	{ "a:", 1, 1, "name of a type" },
	{ "a:3", 1, 1, "name of a type" },
	{ "$", 0, 1, "no name" },
	{ "$ a", 0, 1, "no name" },
	{ "%", 0, 1, "no name" },
	{ "@", 0, 1, "no name" },
	{ "a == \"b", 5, 1, "this string is not terminated" },
	{ "a == 'b\"", 5, 1, "this string is not terminated" },
	{ "a == \"b\\", 7, 2, "unknown escape sequence" },
	{ "a == \"\\q\"", 6, 2, "unknown escape sequence" },
	{ "a == \"\\x0\"", 6, 2, "unknown escape sequence" },
	{ "a == \"\\x00\"", 6, 2, "unknown escape sequence" },
	{ "12abc", 0, 5, "this is not a number" },
	{ "a == 0789", 5, 4, "this is not a number" },
	{ "0x", 0, 2, "this is not a number" },
	{ "a > 5x", 4, 2, "this is not a number" },
	{ "1.5", 0, 3, "this is not a number" },
	{ "99999999999999999999", 0, 20, "too large" },
	{ "20000000000G", 0, 12, "too large" },
	{ "a ? b", 2, 1, "unexpected '?'" },
	{ "a; b", 1, 1, "unexpected ';'" },
	{ "a == {1}", 5, 1, "unexpected '{'" },
	{ "a\\b", 1, 1, "unexpected '\\'" },
	{ "#", 0, 1, "unexpected '#'" },
	{ "a & b == c", 2, 1, "need parentheses" },
	{ "a == b & c", 7, 1, "need parentheses" },
	{ "a | b != c", 2, 1, "need parentheses" },
	{ "1 < x < 9", 6, 1, "comparisons cannot be chained" },
	{ "a == b == c", 7, 2, "comparisons cannot be chained" },
	{ "a !b", 2, 1, "unexpected '!'" },
	{ "f(1)", 1, 1, "unexpected '('" },
	{ "a, b", 1, 1, "unexpected ','" },
	{ "!", 1, 0, "missing at the end" },
	{ "a + ", 4, 0, "missing at the end" },
	{ "a * / b", 6, 1, "operator is missing" },
	{ "+8(", 3, 0, "missing at the end" },
	{ "+8(a", 2, 1, "')' is missing to close this" },
	{ "(u32)", 5, 0, "missing at the end" },
	{ "8:0:1", 3, 1, "name of a type" },
};

static void mistakes_are_shown_where_they_are(void **state)
{
	struct complaint c;
	struct expr *e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(&c, 0, sizeof(c));
		if (expr__parse(&e, bad[i].text, &c) != -EINVAL)
			fail_msg("'%s' is taken", bad[i].text);
		assert_null(e);
		if (c.at != bad[i].at || c.len != bad[i].len || !strstr(c.what, bad[i].what))
			fail_msg("'%s': %zu+%zu '%s'", bad[i].text, c.at, c.len, c.what);
	}
}

static void deep_nesting_is_refused(void **state)
{
	static const char parts[] = "(!-~*&[";
	char text[4096];
	struct complaint c;
	struct expr *e;
	size_t i;

	(void)state;
	for (i = 0; parts[i]; i++) {
		memset(text, parts[i], sizeof(text));
		text[sizeof(text) - 1] = 0;
		assert_int_equal(expr__parse(&e, text, &c), -EINVAL);
	}
}

/* Any text, even if it is cut off anywhere, is at worst refused. */
static void any_bytes_are_survived(void **state)
{
	static const char letters[] = "ab1 0x()[]<>=!~&|^+-*/%.:\"'\\$@_KmsG\xff{,;";
	char text[40];
	struct complaint c;
	struct expr *e;
	size_t i, k, n;

	(void)state;
	srand(1);
	for (i = 0; i < 200000; i++) {
		n = rand() % sizeof(text);
		for (k = 0; k < n; k++)
			text[k] = letters[rand() % (sizeof(letters) - 1)];
		text[n < sizeof(text) ? n : n - 1] = 0;
		if (expr__parse(&e, text, &c))
			assert_true(c.what[0] && c.at <= strlen(text));
		else
			expr__free(e);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_parsed_as_in_c),
		cmocka_unit_test(mistakes_are_shown_where_they_are),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
