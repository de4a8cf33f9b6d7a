/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by several unit tests: cmocka, a repeatable random sequence, a naive histogram to
 * compare with, and a strict UTF-8 checker written from the standard, not from our code.
 */
#ifndef TALLY_TESTS_UNIT_H
#define TALLY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/histogram.h"
#include "report/report.h"
#include "base/types.h"

/* splitmix64: the same sequence on every machine. */
struct random {
	u64 state;
};

static inline u64 random__next(struct random *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline u64 random__below(struct random *r, u64 n)
{
	return random__next(r) % n;
}

/* All numbers of bits from 0 to 64 are equally likely. */
static inline u64 random__any_size(struct random *r)
{
	u32 bits = random__below(r, 65);

	return bits ? random__next(r) >> (64 - bits) : 0;
}

/*
 * The bucket of a value as bpf/lib/hist.h describes it: one per value below 32, from there on 16 of
 * equal width per power of two.
 */
static inline u32 model_index(u64 value)
{
	u32 e = 5;
	u64 width;

	if (value < 32)
		return value;
	while (e < 63 && value >= 2ULL << e)
		e++;
	width = (1ULL << e) / 16;
	return 32 + 16 * (e - 5) + (value - (1ULL << e)) / width;
}

/* A naive histogram, which has every bucket. */
struct dense {
	u64 bucket[HIST_BUCKETS];
	u64 count, min, max;
	__int128 sum;
};

static inline void dense__add_many(struct dense *d, u64 value, u64 times)
{
	if (!times)
		return;
	if (!d->count || value < d->min)
		d->min = value;
	if (!d->count || value > d->max)
		d->max = value;
	d->bucket[model_index(value)] += times;
	d->count += times;
	d->sum = (unsigned __int128)d->sum + (unsigned __int128)value * times;
}

static inline void dense__add(struct dense *d, u64 value)
{
	dense__add_many(d, value, 1);
}

static inline struct histogram dense__histogram(const struct dense *d)
{
	struct histogram_totals totals = { d->sum, d->max, d->count ? ~d->min : 0 };
	struct histogram h;

	assert_int_equal(histogram__init(&h, d->bucket, 0, HIST_BUCKETS, &totals), 0);
	return h;
}

/* Compares buckets, count and sum, and checks the invariants of agg/histogram.h. */
static inline void assert_buckets(const struct histogram *h, const struct dense *d)
{
	size_t used = 0, i;
	u64 count = 0;

	for (i = 0; i < HIST_BUCKETS; i++)
		used += d->bucket[i] != 0;
	assert_int_equal(h->nbuckets, used);
	for (i = 0; i < h->nbuckets; i++) {
		assert_true(h->bucket[i].index < HIST_BUCKETS);
		assert_true(!i || h->bucket[i].index > h->bucket[i - 1].index);
		assert_true(h->bucket[i].count != 0);
		assert_int_equal(h->bucket[i].count, d->bucket[h->bucket[i].index]);
		count += h->bucket[i].count;
	}
	assert_int_equal(h->count, count);
	assert_int_equal(h->count, d->count);
	assert_true(h->sum == d->sum);
}

/* Compares all of it, with exact minimum and maximum. */
static inline void assert_histogram(const struct histogram *h, const struct dense *d)
{
	assert_buckets(h, d);
	assert_int_equal(h->min, d->min);
	assert_int_equal(h->max, d->max);
	assert_int_equal(h->min_exact, d->count != 0);
	assert_int_equal(h->max_exact, d->count != 0);
}

/*
 * Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7, row by row), 0 if there
 * is none in the n bytes.
 */
static inline size_t utf8_sequence(const unsigned char *s, size_t n)
{
	static const struct {
		unsigned char first, last;      /* of the lead byte */
		size_t len;
		unsigned char low, high;        /* of the second byte */
	} rows[] = {
		{ 0x00, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};
	size_t i, k;

	for (i = 0; n && i < ARRAY_SIZE(rows); i++) {
		if (s[0] < rows[i].first || s[0] > rows[i].last)
			continue;
		if (rows[i].len > n)
			return 0;
		if (rows[i].len > 1 && (s[1] < rows[i].low || s[1] > rows[i].high))
			return 0;
		for (k = 2; k < rows[i].len; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return rows[i].len;
	}
	return 0;
}

static inline bool is_utf8(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i, len;

	for (i = 0; i < n; i += len) {
		len = utf8_sequence(s + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

/* Encodes code point c as UTF-8, whether that is valid or not. Returns its length. */
static inline size_t put_utf8(char *dst, u32 c)
{
	if (c < 0x80) {
		dst[0] = c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = 0xc0 | c >> 6;
		dst[1] = 0x80 | (c & 0x3f);
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = 0xe0 | c >> 12;
		dst[1] = 0x80 | (c >> 6 & 0x3f);
		dst[2] = 0x80 | (c & 0x3f);
		return 3;
	}
	dst[0] = 0xf0 | c >> 18;
	dst[1] = 0x80 | (c >> 12 & 0x3f);
	dst[2] = 0x80 | (c >> 6 & 0x3f);
	dst[3] = 0x80 | (c & 0x3f);
	return 4;
}

/* Fills text[size] with a string of up to size - 1 bytes, none of them NUL, many of them nasty. */
static inline size_t random__hostile(struct random *r, char *text, size_t size)
{
	static const char *const nasty[] = {
		"\"", ",", "\\", "\n", "\r\n", ";", "\t", "\x1b[2J", "\x7f", "\xc2\x9b", "\x9b",
		"\xc3", "\xe2\x80\xae", "\xef\xbb\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xe2\x82", " ", "a", "z", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x90\x98",
		"\\x41", "=", "'",
	};
	size_t n = 0, len, want = random__below(r, size);

	while (n < want) {
		if (random__below(r, 2)) {
			text[n++] = 1 + random__below(r, 255);
			continue;
		}
		const char *s = nasty[random__below(r, ARRAY_SIZE(nasty))];

		len = strlen(s);
		if (n + len > want)
			break;
		memcpy(text + n, s, len);
		n += len;
	}
	text[n] = 0;
	return n;
}

/* --- reports ------------------------------------------------------------------------------- */

static inline struct field number_field(const char *name, u64 number)
{
	return (struct field){ .name = name, .number = number };
}

static inline struct field text_field(const char *name, const char *text)
{
	struct field f = { .name = name, .text = strdup(text) };

	assert_non_null(f.text);
	return f;
}

/* The report takes over the texts of the fields. */
static inline void add_group(struct report *r, const struct field *key, size_t nkey,
			     const struct dense *d)
{
	struct report_group g = { .nkey = nkey, .hist = dense__histogram(d) };

	g.key = calloc(nkey ?: 1, sizeof(*key));
	assert_non_null(g.key);
	if (nkey)
		memcpy(g.key, key, nkey * sizeof(*key));
	assert_int_equal(report__add_group(r, &g), 0);
	assert_null(g.key);
}

static inline void add_row(struct report *r, const struct field *cell, size_t ncells)
{
	struct report_row row = { .ncells = ncells };

	row.cell = calloc(ncells ?: 1, sizeof(*cell));
	assert_non_null(row.cell);
	memcpy(row.cell, cell, ncells * sizeof(*cell));
	assert_int_equal(report__add_row(r, &row), 0);
	assert_null(row.cell);
}

#define FIELDS(...) (const struct field[]){ __VA_ARGS__ }, \
		    ARRAY_SIZE(((const struct field[]){ __VA_ARGS__ }))

/* The writer's output for a report; the caller frees it. */
static inline char *written(struct writer *w, const struct report *r, size_t *len)
{
	char *text = NULL, *copy;

	w->file = open_memstream(&text, len);
	assert_non_null(w->file);
	assert_int_equal(writer__write(w, r), 0);
	assert_int_equal(fclose(w->file), 0);
	w->file = NULL;
	copy = strdup(text);    /* gcc 12 takes text itself for a dangling pointer */
	assert_non_null(copy);
	assert_int_equal(strlen(copy), *len);
	free(text);
	return copy;
}

#endif /* TALLY_TESTS_UNIT_H */
