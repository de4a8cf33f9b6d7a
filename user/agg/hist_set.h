/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the histogram maps: one histogram per key, sorted by key bytes, with CPUs and segments
 * added up. Snapshots are cumulative since load; an interval is the difference of two.
 * elements__take() removes keys from the maps after a final read.
 */
#ifndef TALLY_AGG_HIST_SET_H
#define TALLY_AGG_HIST_SET_H

#include "agg/histogram.h"

/* The maps of one measured value (bpf/lib/hist.bpf.h). */
struct hist_maps {
	int whole_fd;           /* per-CPU array of struct hist_whole: read when keyed is false */
	int keyed_fd;           /* hash of struct hist_segment: read when keyed is true */
	size_t key_size;        /* of the hash: struct hist_slot and the rest of the key */
	bool keyed;
	bool is_signed;         /* values and their sum are signed */
	volatile u32 *generation;       /* elements__generation(); NULL if elements are never removed */
};

struct hist_group {
	const void *key;                /* the key without its struct hist_slot; NULL without keys */
	char name[HIST_NAME_LEN];       /* newest name recorded with the key's events; not escaped */
	u64 name_stamp;                 /* time of that name, by a monotonic clock */
	struct histogram hist;
};

struct hist_set {
	size_t key_size;                /* of group[].key; 0 without keys */
	size_t ngroups;
	struct hist_group *group;       /* exactly one without keys; otherwise only keys with values */
	char *keys;                     /* storage of the keys */
	bool anew;                      /* the next snapshot begins from zero: elements__take() */
};

/*
 * Reads the maps. Values that arrive during the read are in this snapshot or in the next. Returns
 * 0, or a negative errno with *set untouched.
 */
int hist_set__read(struct hist_set *set, const struct hist_maps *maps);

/*
 * Sets *out = later - earlier, without groups that did not grow. May adjust later, which must be the
 * next call's earlier: see histogram__difference(). Returns like hist_set__read().
 */
int hist_set__difference(struct hist_set *out, struct hist_set *later,
			 const struct hist_set *earlier);

/*
 * Applies change() to all keys, for reports with fewer key parts than the maps, and adds up groups whose keys are now
 * equal. Returns 0, or -ENOMEM, after which the set can only be freed.
 */
int hist_set__regroup(struct hist_set *set, void (*change)(void *context, void *key), void *context);

/*
 * Adds value n times to the group of key (of key_size bytes; NULL without keys), and creates the group if it is
 * missing. For known events that the programs did not count. Returns 0, or -ENOMEM with the set untouched.
 */
int hist_set__add(struct hist_set *set, const void *key, u64 value, u64 n);

/*
 * Returns the histogram of a key, or NULL if it has no values. The set must have keys, and nothing may have been added
 * to it. Valid until the set changes.
 */
const struct histogram *hist_set__find(const struct hist_set *set, const void *key);

/* Call after a difference: *earlier becomes later, or empty if the next snapshot begins from zero. */
void hist_set__replace(struct hist_set *earlier, struct hist_set *later);

void hist_set__free(struct hist_set *set);

#endif /* TALLY_AGG_HIST_SET_H */
