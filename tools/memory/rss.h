/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much memory processes have (resident set, /proc/PID/status), and how much more than before.
 * The kernel's figures are near: it adds up what CPUs (6.2 to 6.16) or threads (before) keep apart,
 * some dozens of pages each, only now and then.
 */
#ifndef TALLY_MEMORY_RSS_H
#define TALLY_MEMORY_RSS_H

#include "base/types.h"
#include "sym/mappings.h"

enum rss_part {
	RSS_ANON,
	RSS_FILE,
	RSS_SHMEM,
	RSS_PARTS,
};

struct rss {
	u32 pid;
	struct process_stamp stamp;
	u64 bytes[RSS_PARTS];
};

/* All processes, by pid. All zero: an empty one. */
struct rss_set {
	struct rss *rss;
	size_t n;
};

/* Returns 0 or a negative errno, then *set is empty. */
int rss_set__read(struct rss_set *set);

/* NULL: there is none. */
const struct rss *rss_set__find(const struct rss_set *set, u32 pid);

/*
 * How much more now has than the same process, since its last exec, had in earlier: all of it, if it
 * was not there.
 */
void rss__growth(const struct rss *now, const struct rss_set *earlier, s64 growth[RSS_PARTS]);

void rss_set__free(struct rss_set *set);

#endif /* TALLY_MEMORY_RSS_H */
