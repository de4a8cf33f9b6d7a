// SPDX-License-Identifier: BSD-2-Clause
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale {
	u64 size;
	const char *name;
};

static const struct scale times[] = {
	{ 86400 * NSEC_PER_SEC, "d" }, { 3600 * NSEC_PER_SEC, "h" }, { 60 * NSEC_PER_SEC, "min" },
	{ NSEC_PER_SEC, "s" },         { NSEC_PER_MSEC, "ms" },      { 1000, "us" },
	{ 1, "ns" },
};

static const struct scale sizes[] = {
	{ 1ULL << 60, "EiB" }, { 1ULL << 50, "PiB" }, { 1ULL << 40, "TiB" }, { 1ULL << 30, "GiB" },
	{ 1ULL << 20, "MiB" }, { 1ULL << 10, "KiB" }, { 1, "B" },
};

const char *unit_name(enum unit unit)
{
	static const char *const names[] = {
		[UNIT_COUNT] = "count", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes"
	};

	return names[unit];
}

static void put_scaled(char *text, unsigned __int128 value, const struct scale *scale)
{
	double x = (double)value / scale->size;

	snprintf(text, UNITS_SPACE, "%.*f %s", scale->size == 1 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2,
		 x, scale->name);
}

static const char *format_scaled(char *text, unsigned __int128 value, const struct scale *scale)
{
	const struct scale *larger = NULL;

	while (scale->size > 1 && value < scale->size)
		larger = scale++;
	put_scaled(text, value, scale);
	if (larger && strtod(text, NULL) * scale->size >= larger->size)
		put_scaled(text, value, larger);        /* 999.7 us rounds to 1.00 ms */
	return text;
}

static const char *format_milliseconds(char *text, unsigned __int128 value)
{
	unsigned __int128 us = value / 1000 + (value % 1000 >= 500);
	char digits[UNITS_SPACE];

	snprintf(text, UNITS_SPACE, "%.40s.%03llu ms", format_digits(digits, us / 1000),
		 (u64)(us % 1000));
	return text;
}

const char *format_value(char *text, unsigned __int128 value, enum unit unit, bool milliseconds)
{

	switch (unit) {
	case UNIT_NS:
		return milliseconds ? format_milliseconds(text, value) :
				      format_scaled(text, value, times);
	case UNIT_BYTES:
		return format_scaled(text, value, sizes);
	default:
		return format_count(text, value);
	}
}

/* Formats 128 bits, which printf() cannot: the digits before the last 18, then the last 18. */
const char *format_digits(char *text, __int128 value)
{
	const u64 part = 1000000000000000000ULL;
	unsigned __int128 n = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	u64 low = n % part, middle = n / part % part, high = n / part / part;
	const char *sign = value < 0 ? "-" : "";

	if (high)
		snprintf(text, UNITS_SPACE, "%s%llu%018llu%018llu", sign, high, middle, low);
	else if (middle)
		snprintf(text, UNITS_SPACE, "%s%llu%018llu", sign, middle, low);
	else
		snprintf(text, UNITS_SPACE, "%s%llu", sign, low);
	return text;
}

/* Formats a mean with hundredths. Above 2^40 a double has too few bits for them. */
const char *format_mean(char *text, __int128 sum, u64 count)
{
	unsigned __int128 n = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum, hundredths;
	char digits[UNITS_SPACE];

	if (n / count < 1ULL << 40) {
		snprintf(text, UNITS_SPACE, "%.2f", (double)sum / count);
		return text;
	}
	hundredths = n / count * 100 + (n % count * 100 + count / 2) / count;
	snprintf(text, UNITS_SPACE, "%s%.40s.%02llu", sum < 0 ? "-" : "", format_digits(digits, hundredths / 100),
		 (u64)(hundredths % 100));
	return text;
}

const char *format_real(char *text, double value, u8 decimals)
{
	if (fabs(value) < 0x1p53)
		snprintf(text, UNITS_SPACE, "%.*f", decimals, value);
	else
		snprintf(text, UNITS_SPACE, "%.15g", value);
	return text;
}

const char *format_count(char *text, unsigned __int128 value)
{
	char digits[UNITS_SPACE];
	int n = strlen(format_digits(digits, value)), i;
	char *out = text;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return text;
}

u64 tick_of_time(u64 duration_ns)
{
	static const u32 seconds[] = {
		60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400,
	};
	static const u32 steps[] = { 1, 2, 5 };
	u64 power = 1, tick;
	size_t i;

	for (; power <= 10 * NSEC_PER_SEC; power *= 10)
		for (i = 0; i < ARRAY_SIZE(steps); i++) {
			tick = power * steps[i];
			if (tick < 60 * NSEC_PER_SEC && duration_ns / tick <= 10)
				return tick;
		}
	for (i = 0; i < ARRAY_SIZE(seconds); i++)
		if (duration_ns / (seconds[i] * NSEC_PER_SEC) <= 10)
			return seconds[i] * NSEC_PER_SEC;
	return (duration_ns / (864000 * NSEC_PER_SEC) + 1) * 86400 * NSEC_PER_SEC;
}
