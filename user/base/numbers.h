/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strict parsing of user input. The whole text must match: no leading blanks or signs, no trailing
 * characters, no silent overflow. All return 0, -EINVAL (invalid form) or -ERANGE (valid form, out of
 * range), and do not change *out on failure.
 */
#ifndef TALLY_BASE_NUMBERS_H
#define TALLY_BASE_NUMBERS_H

#include "base/types.h"

/* Parses a decimal, 0x hex or 0o octal number with an optional suffix K, M or G (powers of 1024). */
int parse_u64(const char *text, u64 *out);

/* Like parse_u64(), within min and max. */
int parse_u64_between(const char *text, u64 min, u64 max, u64 *out);

/*
 * Parses a decimal number, possibly with a fraction (1.5, .5), and an optional unit ns us ms s m h;
 * default unit_ns.
 */
int parse_duration(const char *text, u64 unit_ns, u64 *out_ns);

/* Whether the text begins like a decimal number, rather than like a name or a path (./prog, ../prog). */
bool begins_number(const char *text);

/* Parses comma-separated numbers, each within min and max: 1,22,333. The caller frees *out. */
int parse_id_list(const char *text, u32 min, u32 max, u32 **out, size_t *n);

/* Parses numbers and ranges, 0-3,8, each below 64 * nwords. Sets exactly these bits. */
int parse_cpu_list(const char *text, u64 *words, size_t nwords);

#endif /* TALLY_BASE_NUMBERS_H */
