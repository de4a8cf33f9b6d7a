/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the kernel's sums (struct probe_sum): one for each event, or for each key, sorted by
 * number or by key bytes, with the CPUs added up. Count and sum are cumulative since load, an
 * interval is the difference of two; minimum and maximum are those of the interval just ended.
 */
#ifndef TALLY_PROBE_SUMS_H
#define TALLY_PROBE_SUMS_H

#include "base/types.h"

#include "bpf/probe.h"

struct sum_maps {
	int plain_fd;           /* sums: read when keyed is false */
	int keyed_fd;           /* keyed_sums: read when keyed is true */
	u32 nevents;            /* elements of sums */
	u32 key_size;           /* of keyed_sums: struct hist_slot and what follows it */
	u32 size;               /* of elements: how much of struct probe_sum they have */
	bool keyed;
	u64 bias;               /* of struct probe_extremes */
};

struct sum_entry {
	const void *key;                /* without its struct hist_slot; NULL without keys */
	u32 event;                      /* without keys */
	char name[HIST_NAME_LEN];       /* newest name recorded with the key; not escaped */
	u64 count;
	u64 sum;                        /* two's complement where values have a sign */
	bool has_extremes;              /* there were values in the interval */
	u64 min, max;
	u64 counter[PROBE_COUNTERS];
};

struct probe_sums {
	size_t key_size;                /* of entry[].key; 0 without keys */
	size_t n;
	struct sum_entry *entry;        /* without keys one for each event */
	char *keys;                     /* what the keys point into */
};

/*
 * Reads the maps. The caller has counted the kernel's number of the interval up; interval is the
 * one that ended. Returns 0 or a negative errno, then *set is untouched.
 */
int probe_sums__read(struct probe_sums *set, const struct sum_maps *maps, u64 interval);

/* *out = later - earlier, entries whose count did not grow left out. 0 or -ENOMEM. */
int probe_sums__difference(struct probe_sums *out, const struct probe_sums *later,
			   const struct probe_sums *earlier);

void probe_sums__free(struct probe_sums *set);

#endif /* TALLY_PROBE_SUMS_H */
