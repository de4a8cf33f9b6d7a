/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots of the kernel's histograms: one histogram per key, sorted by key bytes, the CPUs and
 * segments of each key added up. Snapshots are cumulative since load; an interval is the
 * difference of two. Keys leave the kernel once they have been read for good (elements__take()).
 */
#ifndef TALLY_AGG_HIST_SET_H
#define TALLY_AGG_HIST_SET_H

#include "agg/histogram.h"

/* The maps of one measured value (bpf/lib/hist.bpf.h). */
struct hist_maps {
	int whole_fd;           /* per-CPU array of struct hist_whole: read when keyed is false */
	int keyed_fd;           /* hash of struct hist_segment: read when keyed is true */
	size_t key_size;        /* of the hash: struct hist_slot and what follows it */
	bool keyed;
	bool is_signed;         /* values are; their sum, too */
	volatile u32 *generation;       /* elements__generation(), or NULL: elements stay */
};

struct hist_group {
	const void *key;                /* the key without its struct hist_slot; NULL without keys */
	char name[HIST_NAME_LEN];       /* newest name recorded with the key's events; not escaped */
	struct histogram hist;
};

struct hist_set {
	size_t key_size;                /* of group[].key; 0 without keys */
	size_t ngroups;
	struct hist_group *group;       /* without keys always one; keys without values are left out */
	char *keys;                     /* what the keys point into */
	bool anew;                      /* the next snapshot begins from nothing: elements__take() */
};

/*
 * Reads the maps. Values that arrive during the read are in this snapshot or in the next one.
 * Returns 0 or a negative errno, then *set is untouched.
 */
int hist_set__read(struct hist_set *set, const struct hist_maps *maps);

/*
 * *out = later - earlier, groups that did not grow left out. later is to be the next one's earlier:
 * see histogram__difference(). Errors as hist_set__read().
 */
int hist_set__difference(struct hist_set *out, struct hist_set *later,
			 const struct hist_set *earlier);

/* What follows the difference: *earlier becomes later, or empty where the next one begins anew. */
void hist_set__replace(struct hist_set *earlier, struct hist_set *later);

void hist_set__free(struct hist_set *set);

#endif /* TALLY_AGG_HIST_SET_H */
