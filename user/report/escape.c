// SPDX-License-Identifier: BSD-2-Clause
#include "report/escape.h"

#include <stdlib.h>
#include <string.h>

/*
 * Decodes one well-formed UTF-8 sequence. Returns its length, or 0 for anything else: overlong
 * forms, surrogates, values above U+10FFFF and truncated sequences.
 */
static size_t decode(const unsigned char *src, size_t n, u32 *code)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len, i;
	u32 c = src[0];

	if (c < 0x80)
		len = 1;
	else if (c >= 0xc2 && c <= 0xdf)
		len = 2, c &= 0x1f;
	else if (c >= 0xe0 && c <= 0xef)
		len = 3, c &= 0x0f;
	else if (c >= 0xf0 && c <= 0xf4)
		len = 4, c &= 0x07;
	else
		return 0;
	if (len > n)
		return 0;
	for (i = 1; i < len; i++) {
		if ((src[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (src[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return len;
}

static bool harmless(u32 c)
{
	static const struct {
		u32 first, last;
	} bad[] = {
		{ 0x00, 0x1f },                 /* C0 */
		{ '\\', '\\' },
		{ 0x7f, 0x9f },                 /* DEL, C1 */
		{ 0x61c, 0x61c },               /* Arabic letter mark (bidi) */
		{ 0x200b, 0x200f },             /* zero width; left-to-right and right-to-left mark */
		{ 0x2028, 0x202e },             /* separators; bidi embeddings and overrides */
		{ 0x2060, 0x206f },             /* invisible operators; bidi isolates */
		{ 0xfeff, 0xfeff },             /* byte order mark */
		{ 0xfff9, 0xfffb },             /* interlinear annotation */
		/*
		 * The rest of Unicode's Default_Ignorable_Code_Point: everything rendered as
		 * nothing.
		 */
		{ 0xad, 0xad },                 /* soft hyphen */
		{ 0x34f, 0x34f },               /* combining grapheme joiner */
		{ 0x115f, 0x1160 },             /* Hangul fillers */
		{ 0x17b4, 0x17b5 },             /* Khmer inherent vowels */
		{ 0x180b, 0x180f },             /* Mongolian variation selectors, vowel separator */
		{ 0x3164, 0x3164 },             /* Hangul filler */
		{ 0xfe00, 0xfe0f },             /* variation selectors */
		{ 0xffa0, 0xffa0 },             /* half-width Hangul filler */
		{ 0xfff0, 0xfff8 },
		{ 0x1bca0, 0x1bca3 },           /* shorthand format controls */
		{ 0x1d173, 0x1d17a },           /* musical beams and ties */
		{ 0xe0000, 0xe0fff },           /* tags, variation selectors */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (c >= bad[i].first && c <= bad[i].last)
			return false;
	return true;
}

size_t escape(char *dst, const char *src, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)src;
	size_t i = 0, out = 0, len, k;
	u32 code = 0;

	while (i < n) {
		len = decode(s + i, n - i, &code);
		if (len && harmless(code)) {
			memcpy(dst + out, s + i, len);
			out += len;
			i += len;
			continue;
		}
		if (!len)
			len = 1;
		for (k = 0; k < len; k++, i++) {
			dst[out++] = '\\';
			dst[out++] = 'x';
			dst[out++] = hex[s[i] >> 4];
			dst[out++] = hex[s[i] & 15];
		}
	}
	dst[out] = 0;
	return out;
}

char *escape_string(const char *src)
{
	size_t n = strlen(src);
	char *dst = malloc(ESCAPE_SPACE(n));

	if (dst)
		escape(dst, src, n);
	return dst;
}

bool escape_is_idle(const char *text)
{
	size_t n = strlen(text), len;
	u32 code = 0;

	for (; n; text += len, n -= len) {
		len = decode((const unsigned char *)text, n, &code);
		if (!len || (code != '\\' && !harmless(code)))
			return false;
	}
	return true;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? at - digits : -1;
}

void escape_undo(char *text)
{
	char *to = text;
	int high, low;

	for (; *text; text++) {
		high = text[0] == '\\' && text[1] == 'x' ? hex_digit(text[2]) : -1;
		low = high >= 0 ? hex_digit(text[3]) : -1;
		if (low < 0 || high + low == 0) {
			*to++ = *text;
			continue;
		}
		*to++ = high << 4 | low;
		text += 3;
	}
	*to = 0;
}
