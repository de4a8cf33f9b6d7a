/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the kernel's sums (struct probe_sum): one for each event, or for each key, sorted by
 * number or by key bytes, with the CPUs added up. Where there are but counts, they are cumulative
 * since load, and an interval is the difference of two. Where there are more figures, a snapshot ends
 * an interval and is of it alone: what programs write from then on is in the next one, so that all
 * figures of an entry are of the same events (probe_sum__in_turns()).
 */
#ifndef TALLY_PROBE_SUMS_H
#define TALLY_PROBE_SUMS_H

#include "base/types.h"

#include "bpf/lib/probe.h"

struct sum_maps {
	int plain_fd;           /* sums: read when keyed is false */
	int keyed_fd;           /* keyed_sums: read when keyed is true */
	u32 nevents;            /* elements of sums */
	u32 key_size;           /* of keyed_sums: struct hist_slot and what follows it */
	u32 size;               /* of elements: how much of struct probe_sum they have */
	bool keyed, in_turns;           /* probe_sum__in_turns() */
	volatile u32 *generation;       /* elements__generation(); NULL: elements stay, but not in_turns */
	u64 bias;               /* of struct probe_sum's extremes */
};

struct sum_entry {
	const void *key;                /* without its struct hist_slot; NULL without keys */
	u32 event;                      /* without keys */
	char name[HIST_NAME_LEN];       /* newest name recorded with the key; not escaped */
	u64 count;
	__int128 sum;                   /* exact */
	u64 min, max;                   /* of the snapshot, in turns; without a value undefined */
	u64 counter[PROBE_COUNTERS];
};

struct probe_sums {
	size_t key_size;                /* of entry[].key; 0 without keys */
	size_t n;
	struct sum_entry *entry;        /* without keys one for each event */
	char *keys;                     /* what the keys point into */
	bool anew;                      /* the next snapshot begins from nothing */
};

/*
 * Reads the maps; in turns, takes an RCU grace period, some 10 ms. Returns 0 or a negative errno, then
 * *set is untouched.
 */
int probe_sums__read(struct probe_sums *set, const struct sum_maps *maps);

/* *out = later - earlier, entries whose count did not grow left out. 0 or -ENOMEM. */
int probe_sums__difference(struct probe_sums *out, const struct probe_sums *later,
			   const struct probe_sums *earlier);

void probe_sums__free(struct probe_sums *set);

#endif /* TALLY_PROBE_SUMS_H */
