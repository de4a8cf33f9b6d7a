// SPDX-License-Identifier: BSD-2-Clause
#include "base/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Parses digits of a base at *text and advances it. Returns -EINVAL if there are none. A value that does not fit
 * becomes UINT64_MAX and sets *over, but is no error yet: the rest of the text decides whether the text is a number.
 */
static int digits(const char **text, u32 base, u64 *out, bool *over)
{
	const char *p = *text;
	u64 value = 0;
	u32 d;

	for (; isxdigit((unsigned char)*p); p++) {
		d = *p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10;
		if (d >= base)
			break;
		if (__builtin_mul_overflow(value, (u64)base, &value) ||
		    __builtin_add_overflow(value, (u64)d, &value)) {
			value = UINT64_MAX;
			*over = true;
		}
	}
	if (p == *text)
		return -EINVAL;
	*text = p;
	*out = value;
	return 0;
}

int parse_u64(const char *text, u64 *out)
{
	static const char units[] = "KMG";
	bool over = false;
	const char *unit;
	u32 base = 10;
	u64 value;
	int err;

	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		base = 16, text += 2;
	else if (text[0] == '0' && (text[1] | 0x20) == 'o')
		base = 8, text += 2;
	err = digits(&text, base, &value, &over);
	if (err)
		return err;
	if (*text) {
		unit = strchr(units, toupper((unsigned char)*text));
		if (!unit || text[1])
			return -EINVAL;
		over |= __builtin_mul_overflow(value, 1ULL << 10 * (unit - units + 1), &value);
	}
	if (over)
		return -ERANGE;
	*out = value;
	return 0;
}

int parse_u64_between(const char *text, u64 min, u64 max, u64 *out)
{
	u64 value;
	int err = parse_u64(text, &value);

	if (err)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*out = value;
	return 0;
}

int parse_duration(const char *text, u64 unit_ns, u64 *out_ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
		{ "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
	};
	u64 whole = 0, fraction = 0, scale = 1, ns;
	const char *start;
	bool over = false;
	size_t i;
	int err;

	err = *text == '.' ? 0 : digits(&text, 10, &whole, &over);      /* .5 is 0.5 */
	if (err)
		return err;
	if (*text == '.') {
		start = ++text;
		err = digits(&text, 10, &fraction, &over);
		if (err)
			return err;
		over |= text - start > 9;       /* more than nine decimals */
		for (; start < text && !over; start++)
			scale *= 10;
	}
	if (*text) {
		for (i = 0; i < ARRAY_SIZE(units) && strcmp(text, units[i].name); i++)
			;
		if (i == ARRAY_SIZE(units))
			return -EINVAL;
		unit_ns = units[i].ns;
	}
	if (over || __builtin_mul_overflow(whole, unit_ns, &ns) ||
	    __builtin_add_overflow(ns, (u64)((unsigned __int128)fraction * unit_ns / scale), &ns))
		return -ERANGE;
	*out_ns = ns;
	return 0;
}

int parse_id_list(const char *text, u32 min, u32 max, u32 **out, size_t *n)
{
	u32 *list = NULL;
	bool over = false;
	size_t len = 0;
	u64 value;
	int err;

	for (;; text++) {
		err = digits(&text, 10, &value, &over);
		if (err)
			goto fail;
		over |= value < min || value > max;
		err = ARRAY_APPEND(list, len, value);
		if (err)
			goto fail;
		if (!*text)
			break;
		if (*text != ',') {
			err = -EINVAL;
			goto fail;
		}
	}
	if (over) {
		err = -ERANGE;
		goto fail;
	}
	*out = list;
	*n = len;
	return 0;
fail:
	free(list);
	return err;
}

int parse_cpu_list(const char *text, u64 *words, size_t nwords)
{
	u64 *set = calloc(nwords, sizeof(*set));
	bool over = false;
	u64 first, last;
	int err;

	if (!set)
		return -ENOMEM;
	for (;; text++) {
		err = digits(&text, 10, &first, &over);
		if (err)
			goto out;
		last = first;
		if (*text == '-') {
			text++;
			err = digits(&text, 10, &last, &over);
			if (err)
				goto out;
		}
		if (last < first || (*text && *text != ',')) {
			err = -EINVAL;
			goto out;
		}
		over |= last >= 64 * nwords;
		for (; first <= last && !over; first++)
			set[first / 64] |= 1ULL << first % 64;
		if (!*text)
			break;
	}
	if (over)
		err = -ERANGE;
	else
		memcpy(words, set, nwords * sizeof(*set));
out:
	free(set);
	return err;
}

bool begins_number(const char *text)
{
	return isdigit((unsigned char)text[0]) || (text[0] == '.' && strncmp(text, "./", 2) && strncmp(text, "../", 3));
}
