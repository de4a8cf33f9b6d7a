/* SPDX-License-Identifier: BSD-2-Clause */
/* Human-readable numbers: three significant digits and a fitting unit. */
#ifndef TALLY_OUT_UNITS_H
#define TALLY_OUT_UNITS_H

#include "base/types.h"

enum unit {
	UNIT_COUNT,
	UNIT_NS,
	UNIT_BYTES,
};

#define UNITS_SPACE 64

/* "ns", "bytes", "count": the unit of raw values in JSON and CSV. */
const char *unit_name(enum unit unit);

/*
 * Writes value, which may be a sum wider than 64 bits, into text[UNITS_SPACE] and returns text:
 * "870 ns", "4.19 ms", "12 KiB". With milliseconds set, times are all in ms: "0.004 ms".
 */
const char *format_value(char *text, unsigned __int128 value, enum unit unit, bool milliseconds);

/* "1,234,567" */
const char *format_count(char *text, unsigned __int128 value);

/* "-1234567" */
const char *format_digits(char *text, __int128 value);

/* sum / count with two decimals, both correct: "-1234.57" */
const char *format_mean(char *text, __int128 sum, u64 count);

/* With this many decimals, but no digits beyond the precision of a double: "12.50", "1.84467440737096e+19" */
const char *format_real(char *text, double value, u8 decimals);

/*
 * Returns the tick interval of a time axis: the shortest round step (1, 2, 5, then minutes, hours,
 * days) with at most ten ticks. Both in ns.
 */
u64 tick_of_time(u64 duration_ns);

#endif /* TALLY_OUT_UNITS_H */
