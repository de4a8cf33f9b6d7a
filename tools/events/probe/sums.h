/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the kernel's sums (struct probe_sum), one for each event or key, sorted by number or
 * by key bytes, summed over CPUs. Plain counts are cumulative since load, and an interval is the
 * difference of two snapshots. With more figures, a snapshot ends an interval and covers only this
 * interval. Programs then write to the next one, so that all figures of an entry cover the same
 * events (probe_sum__in_turns()).
 */
#ifndef TALLY_PROBE_SUMS_H
#define TALLY_PROBE_SUMS_H

#include "base/types.h"

#include "bpf/lib/probe.h"

struct sum_maps {
	int plain_fd;           /* the map sums; read if keyed is false */
	int keyed_fd;           /* the map keyed_sums; read if keyed is true */
	u32 nevents;            /* number of elements in sums */
	u32 key_size;           /* key size of keyed_sums: struct hist_slot and the rest of the key */
	u32 size;               /* size of elements, which are a prefix of struct probe_sum */
	bool keyed, in_turns;           /* probe_sum__in_turns() */
	volatile u32 *generation; /* elements__generation(); NULL if elements remain in the map (never with in_turns) */
	u64 bias;               /* bias of the extremes in struct probe_sum */
};

struct sum_entry {
	const void *key;                /* without its struct hist_slot; NULL without keys */
	u32 event;                      /* without keys */
	char name[HIST_NAME_LEN];       /* newest name recorded with the key; not escaped */
	u64 count;
	__int128 sum;                   /* exact */
	u64 min, max;                   /* only with in_turns; undefined if there was no value */
	u64 counter[PROBE_COUNTERS];
};

struct probe_sums {
	size_t key_size;                /* of entry[].key; 0 without keys */
	size_t n;
	struct sum_entry *entry;        /* without keys, one for each event */
	char *keys;                     /* memory that contains the keys */
	bool anew;                      /* the next snapshot counts from zero */
};

/*
 * Reads the maps; with in_turns, waits for an RCU grace period, about 10 ms. Returns 0, or a
 * negative errno with *set unchanged.
 */
int probe_sums__read(struct probe_sums *set, const struct sum_maps *maps);

/* *out = later - earlier, without entries whose count did not grow. Returns 0 or -ENOMEM. */
int probe_sums__difference(struct probe_sums *out, const struct probe_sums *later,
			   const struct probe_sums *earlier);

/*
 * Merges entries whose keys change() makes equal, including names and extremes. bias: bias of the extremes, as in
 * struct sum_maps. Intended for a difference. Entries need not be sorted by key before; they are afterwards.
 */
void probe_sums__regroup(struct probe_sums *set, void (*change)(void *context, void *key), void *context, u64 bias);

void probe_sums__free(struct probe_sums *set);

#endif /* TALLY_PROBE_SUMS_H */
