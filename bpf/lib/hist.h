/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The only histogram layout: log-linear, 16 sub-buckets per power of two, over the whole range of u64. Shared by BPF
 * (hist.bpf.h) and user space (user/agg/histogram.h).
 *
 * For i < 32, bucket i holds exactly the value i. Above, each power of two 2^e is divided into 16 buckets of equal
 * width 2^(e-4), so the width of a bucket is at most 6.25 % of its lower bound. (This is the layout of HdrHistogram,
 * http://hdrhistogram.org, with 4 bits of precision.)
 *
 * A histogram is stored in one of two forms:
 *  - struct hist_whole: all buckets, one element per CPU in a per-CPU array, for a run without keys;
 *  - struct hist_segment: the buckets of four neighbouring powers of two, one element per (key, CPU, segment) in a
 *    hash, created by its first value. A key with few values takes half a KiB instead of eight. The CPU is part of the
 *    key, so each segment has a single writer: plain adds are exact, as are minimum and maximum.
 *
 * The count is not stored: it is the sum of the buckets, so the two cannot differ.
 */
#ifndef TALLY_HIST_H
#define TALLY_HIST_H

#define HIST_SUB_BITS 4
#define HIST_SUB (1 << HIST_SUB_BITS)                       /* buckets per power of two */
#define HIST_ROWS (64 - HIST_SUB_BITS + 1)                  /* 0..15, then 2^4 .. 2^63 */
#define HIST_BUCKETS (HIST_ROWS * HIST_SUB)                 /* 976 */
#define HIST_SEGMENT_BITS 6
#define HIST_SEGMENT_BUCKETS (1 << HIST_SEGMENT_BITS)       /* four powers of two */
#define HIST_SEGMENTS ((HIST_BUCKETS + HIST_SEGMENT_BUCKETS - 1) / HIST_SEGMENT_BUCKETS)
#define HIST_NAME_LEN 16

/*
 * Stored in an element beside its buckets. sum and sum_high form one 128-bit number (wide.h), because values may be
 * anything that a program passes to a function. min_inv is the largest ~value seen, so zeroed memory means "no value
 * yet".
 */
struct hist_totals {
	__u64 sum;
	__u64 max;
	__u64 min_inv;
	__u64 sum_high;
};

struct hist_whole {
	struct hist_totals totals;
	__u64 bucket[HIST_BUCKETS];
};

struct hist_segment {
	struct hist_totals totals;
	__u64 name_stamp;           /* time name was written; the newest of a key's segments wins */
	char name[HIST_NAME_LEN];   /* a label recorded with the event (comm of a pid), or empty */
	__u64 bucket[HIST_SEGMENT_BUCKETS];
};

/* The first member of every key of a segment map; filled in by hist_add_key(). writer: see writer.h. */
struct hist_slot {
	__u32 writer;
	__u32 segment;
};

_Static_assert(sizeof(struct hist_whole) == 32 + 8 * 976, "hist_whole has padding");
_Static_assert(sizeof(struct hist_segment) == 56 + 8 * 64, "hist_segment has padding");

/* The bucket of a value, without loops or division, for the verifier of 5.10. */
static inline __attribute__((always_inline)) __u32 hist_index(__u64 value)
{
	__u64 v = value;
	__u32 e = 0;

	if (value < HIST_SUB)
		return value;
	if (v >> 32) { v >>= 32; e += 32; }
	if (v >> 16) { v >>= 16; e += 16; }
	if (v >> 8) { v >>= 8; e += 8; }
	if (v >> 4) { v >>= 4; e += 4; }
	if (v >> 2) { v >>= 2; e += 2; }
	e += v >> 1;
	return ((e - HIST_SUB_BITS + 1) << HIST_SUB_BITS) +
	       ((value >> (e - HIST_SUB_BITS)) & (HIST_SUB - 1));
}

#endif /* TALLY_HIST_H */
