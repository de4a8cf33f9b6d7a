/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included by every user-space file: the kernel's short names for fixed-width integers, so that
 * headers under bpf/ read the same on both sides, and a few macros.
 */
#ifndef TALLY_BASE_TYPES_H
#define TALLY_BASE_TYPES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL

/* For functions that take a format and its arguments. */
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * For functions whose failure the caller must handle: otherwise output is lost, or a run does not end.
 */
#define MUST_CHECK __attribute__((warn_unused_result))

#endif /* TALLY_BASE_TYPES_H */
