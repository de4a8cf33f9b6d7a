// SPDX-License-Identifier: BSD-2-Clause
/* report/escape.h: which bytes are escaped, which are not, and that no two inputs give the same output. */
#include "unit.h"

#include "report/escape.h"

/* Writes each byte as "\xNN". */
static void hex_of(char *dst, const char *src, size_t n)
{
	size_t i;

	*dst = 0;
	for (i = 0; i < n; i++)
		dst += sprintf(dst, "\\x%02x", (unsigned char)src[i]);
}

/* Escapes an exact heap copy, so that a sanitizer sees accesses outside it. */
static char *escaped(const char *src, size_t n)
{
	char *in = malloc(n ?: 1), *out = malloc(ESCAPE_SPACE(n));
	size_t len;

	assert_non_null(in);
	assert_non_null(out);
	memcpy(in, src, n);
	len = escape(out, in, n);
	assert_true(len < ESCAPE_SPACE(n));
	assert_int_equal(out[len], 0);
	assert_int_equal(strlen(out), len);
	free(in);
	return out;
}

static void assert_becomes(const char *src, size_t n, const char *want)
{
	char *got = escaped(src, n);

	assert_string_equal(got, want);
	free(got);
}

/* All bytes of src are written as \xNN, alone and inside text. */
static void assert_escaped(const char *src, size_t n)
{
	char want[128], inside[64], around[160];

	hex_of(want, src, n);
	assert_becomes(src, n, want);
	snprintf(around, sizeof(around), "a%sb", want);
	inside[0] = 'a';
	memcpy(inside + 1, src, n);
	inside[n + 1] = 'b';
	assert_becomes(inside, n + 2, around);
}

static void assert_unchanged(const char *src, size_t n)
{
	char *got = escaped(src, n);

	assert_int_equal(strlen(got), n);
	assert_memory_equal(got, src, n);
	free(got);
}

static void control_bytes(void **state)
{
	char c;

	(void)state;
	for (c = 0; c < 0x20; c++)
		assert_escaped(&c, 1);
	c = 0x7f;
	assert_escaped(&c, 1);
	c = '\\';
	assert_escaped(&c, 1);
	assert_becomes("\x1b[2J", 4, "\\x1b[2J");
	assert_becomes("\\x41", 4, "\\x5cx41");
	assert_becomes("a\nb\0c", 5, "a\\x0ab\\x00c");
}

static void other_ascii_is_unchanged(void **state)
{
	char c;

	(void)state;
	for (c = 0x20; c < 0x7f; c++)
		if (c != '\\')
			assert_unchanged(&c, 1);
}

static void c1_as_utf8_and_as_bytes(void **state)
{
	char text[2];
	u32 c;

	(void)state;
	for (c = 0x80; c <= 0x9f; c++) {
		assert_escaped(text, put_utf8(text, c));
		text[0] = c;
		assert_escaped(text, 1);
	}
}

static void bytes_that_are_no_utf8(void **state)
{
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0", "\xc1", "\xf5", "\xfe", "\xff",
		"\xc0\x80", "\xc0\xaf", "\xc1\xbf",                     /* overlong, two bytes */
		"\xe0\x80\x80", "\xe0\x80\xaf", "\xe0\x9f\xbf",         /* three */
		"\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf",                 /* four */
		"\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80",     /* five, six */
		"\xed\xa0\x80", "\xed\xaf\xbf", "\xed\xb0\x80", "\xed\xbf\xbf", /* surrogates */
		"\xed\xa0\xbd\xed\xb8\x80",                             /* a pair of them */
		"\xf4\x90\x80\x80", "\xf4\xbf\xbf\xbf", "\xf7\xbf\xbf\xbf",     /* > U+10FFFF */
	};
	size_t i;
	int c;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_escaped(bad[i], strlen(bad[i]));
	for (c = 0x80; c < 0x100; c++)
		assert_escaped(&(char){ c }, 1);
}

static void every_surrogate(void **state)
{
	char text[4];
	u32 c;

	(void)state;
	for (c = 0xd800; c < 0xe000; c++)
		assert_escaped(text, put_utf8(text, c));
}

static void sequences_cut_at_the_end(void **state)
{
	static const char *const whole[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\x98" };
	char want[32];
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(whole); i++) {
		for (n = 1; n < strlen(whole[i]); n++) {
			hex_of(want, whole[i], n);
			assert_becomes(whole[i], n, want);      /* the bytes after n are not ours */
			assert_escaped(whole[i], n);
		}
		assert_unchanged(whole[i], n);
	}
	/* A truncated sequence does not swallow the bytes after it. */
	assert_becomes("\xe2\x82\xc3\xa9", 4, "\\xe2\\x82\xc3\xa9");
	assert_becomes("\xf0\x9f\x90z", 4, "\\xf0\\x9f\\x90z");
	assert_becomes("\xe2\x80\xe2\x80\xae", 5, "\\xe2\\x80\\xe2\\x80\\xae");
}

struct range {
	u32 first, last;
};

/* Unicode 15: Bidi_Control, line and paragraph separators, Default_Ignorable_Code_Point. */
static const struct range invisible[] = {
	{ 0x61c, 0x61c },       { 0x200e, 0x200f },   { 0x202a, 0x202e },   { 0x2066, 0x2069 },
	{ 0x2028, 0x2029 },     { 0xfff9, 0xfffb },
	{ 0xad, 0xad },         { 0x34f, 0x34f },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },     { 0x200b, 0x200f },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f },     { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfff8 },
	{ 0x1bca0, 0x1bca3 },   { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static void what_reorders_or_hides(void **state)
{
	char text[4];
	size_t i;
	u32 c;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(invisible); i++)
		for (c = invisible[i].first; c <= invisible[i].last; c++)
			assert_escaped(text, put_utf8(text, c));
}

/* Every code point is escaped if it is listed, and otherwise unchanged. */
static void every_code_point(void **state)
{
	char text[4], want[32], out[ESCAPE_SPACE(4)];
	size_t n, i;
	bool bad;
	u32 c;

	(void)state;
	for (c = 0; c <= 0x10ffff; c++) {
		bad = c < 0x20 || c == '\\' || (c >= 0x7f && c <= 0x9f) ||
		      (c >= 0xd800 && c <= 0xdfff);
		for (i = 0; i < ARRAY_SIZE(invisible); i++)
			bad |= c >= invisible[i].first && c <= invisible[i].last;
		n = put_utf8(text, c);
		if (bad) {
			hex_of(want, text, n);
		} else {
			memcpy(want, text, n);
			want[n] = 0;
		}
		escape(out, text, n);
		if (strcmp(out, want))
			fail_msg("U+%04X comes out as %s", c, out);
	}
}

static void ordinary_text_is_unchanged(void **state)
{
	static const char *const texts[] = {
		"", "nginx: worker process", "/usr/lib/x86_64-linux-gnu/libc.so.6",
		"a;b,c\"d'e%s$(f)",
		"Gr\xc3\xb6\xc3\x9f\x65",                               /* German */
		"\xce\x9a\xce\xb1\xce\xbb\xce\xb7\xce\xbc\xce\xad\xcf\x81\xce\xb1", /* Greek */
		"\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",     /* Cyrillic */
		"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",                     /* Hebrew */
		"\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7",             /* Arabic */
		/* Hindi */
		"\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87",
		"\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\x8b\xe3\x81\xaa",     /* Japanese */
		"\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4",                 /* Korean */
		"\xf0\x9f\x90\x98 \xf0\x9d\x94\x98",                    /* elephant, Fraktur U */
		"\xc2\xa0\xc2\xa1\xef\xbf\xbd\xf4\x8f\xbf\xbd",         /* ends of ranges */
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_unchanged(texts[i], strlen(texts[i]));
}

/* The inverse of escape(), which also proves that no other input gives the same output. */
static size_t unescape(char *dst, const char *src)
{
	size_t n = 0;
	unsigned int byte;

	while (*src) {
		if (*src != '\\') {
			dst[n++] = *src++;
			continue;
		}
		assert_int_equal(sscanf(src, "\\x%2x", &byte), 1);
		dst[n++] = byte;
		src += 4;
	}
	return n;
}

static void random_bytes_come_out_clean(void **state)
{
	struct random r = { 12 };
	char in[64], back[4 * 64];
	const unsigned char *p;
	size_t n, i;
	char *out;
	u32 k;

	(void)state;
	for (k = 0; k < 100000; k++) {
		if (k % 2) {
			n = random__hostile(&r, in, sizeof(in));
		} else {
			n = random__below(&r, sizeof(in));
			for (i = 0; i < n; i++)
				in[i] = random__next(&r);
		}
		out = escaped(in, n);
		assert_true(is_utf8(out, strlen(out)));
		for (p = (const unsigned char *)out; *p; p++) {
			assert_true(*p >= 0x20 && *p != 0x7f);
			assert_false(p[0] == 0xc2 && p[1] < 0xa0);      /* C1 */
		}
		assert_int_equal(unescape(back, out), n);
		assert_memory_equal(back, in, n);
		free(out);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * All strings of up to six of these bytes, which are parts of escapes and of sequences, give as many
 * results as inputs.
 */
static void no_two_inputs_alike(void **state)
{
	static const char alphabet[] = "\\x5c\xc3\xa9\n";
	const u32 letters = sizeof(alphabet) - 1, longest = 6;
	size_t n = 0, total = 0, len, i;
	u32 code, rest, all;
	char in[8], **out;

	(void)state;
	for (len = 0, all = 1; len <= longest; len++, all *= letters)
		total += all;
	out = calloc(total, sizeof(*out));
	assert_non_null(out);
	for (len = 0, all = 1; len <= longest; len++, all *= letters)
		for (code = 0; code < all; code++) {
			for (i = 0, rest = code; i < len; i++, rest /= letters)
				in[i] = alphabet[rest % letters];
			out[n] = malloc(ESCAPE_SPACE(len));
			assert_non_null(out[n]);
			escape(out[n++], in, len);
		}
	assert_int_equal(n, total);
	qsort(out, n, sizeof(*out), by_text);
	for (i = 1; i < n; i++)
		assert_string_not_equal(out[i - 1], out[i]);
	for (i = 0; i < n; i++)
		free(out[i]);
	free(out);
}

static void the_worst_case_fits(void **state)
{
	char in[1000], *out;

	(void)state;
	memset(in, 0xff, sizeof(in));
	out = escaped(in, sizeof(in));
	assert_int_equal(strlen(out) + 1, ESCAPE_SPACE(sizeof(in)));
	free(out);
}

static void escape_string_is_the_same(void **state)
{
	char *out = escape_string("a\tb\\");

	(void)state;
	assert_string_equal(out, "a\\x09b\\x5c");
	free(out);
	out = escape_string("");
	assert_string_equal(out, "");
	free(out);
}

static void idle(void **state)
{
	(void)state;
	assert_true(escape_is_idle(""));
	assert_true(escape_is_idle("wait for a CPU \\ \xc3\xa4"));
	assert_false(escape_is_idle("\x1b[31m"));
	assert_false(escape_is_idle("\xff"));
	assert_false(escape_is_idle("\xe2\x80\xae"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_bytes),
		cmocka_unit_test(other_ascii_is_unchanged),
		cmocka_unit_test(c1_as_utf8_and_as_bytes),
		cmocka_unit_test(bytes_that_are_no_utf8),
		cmocka_unit_test(every_surrogate),
		cmocka_unit_test(sequences_cut_at_the_end),
		cmocka_unit_test(what_reorders_or_hides),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(ordinary_text_is_unchanged),
		cmocka_unit_test(random_bytes_come_out_clean),
		cmocka_unit_test(no_two_inputs_alike),
		cmocka_unit_test(the_worst_case_fits),
		cmocka_unit_test(escape_string_is_the_same),
		cmocka_unit_test(idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
