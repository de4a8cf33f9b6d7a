/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strict parsing of what people type. The whole text must be of the form, or it is refused:
 * no leading blanks or signs, no trailing rest, no silent overflow. All return 0, -EINVAL (not of
 * the form) or -ERANGE (of the form, but out of range), and leave *out alone on failure.
 */
#ifndef TALLY_BASE_NUMBERS_H
#define TALLY_BASE_NUMBERS_H

#include "base/types.h"

/* Decimal, 0x hex, or octal with a leading 0o; with K, M or G (1024) behind it. */
int parse_u64(const char *text, u64 *out);

/* The same, and at least min and at most max. */
int parse_u64_between(const char *text, u64 min, u64 max, u64 *out);

/* A decimal number, maybe with a fraction (1.5, .5) and a unit ns us ms s m h; else unit_ns. */
int parse_duration(const char *text, u64 unit_ns, u64 *out_ns);

/* Numbers with commas between them, each between min and max: 1,22,333. The caller frees *out. */
int parse_id_list(const char *text, u32 min, u32 max, u32 **out, size_t *n);

/* Numbers and ranges, 0-3,8, each below 64 * nwords: sets those bits and no others. */
int parse_cpu_list(const char *text, u64 *words, size_t nwords);

#endif /* TALLY_BASE_NUMBERS_H */
