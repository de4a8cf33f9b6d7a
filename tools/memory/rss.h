/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resident set sizes of processes (/proc/PID/status), and their growth. The kernel's figures are
 * approximate: CPUs (6.2 to 6.16) or threads (before) keep counts of some dozens of pages each,
 * which the kernel adds up only occasionally.
 */
#ifndef TALLY_MEMORY_RSS_H
#define TALLY_MEMORY_RSS_H

#include "base/types.h"
#include "cli/task_key.h"
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
	bool told;              /* used by the caller: the process has been in a report */
	char comm[TASK_KEY_COMM_LEN];   /* used by the caller: the name of the process in this report */
};

/* All processes, sorted by pid. A zeroed struct is an empty set. */
struct rss_set {
	struct rss *rss;
	size_t n;
};

/* Returns 0, or a negative errno with *set empty. */
int rss_set__read(struct rss_set *set);

/* Returns NULL if the process is not in the set. */
struct rss *rss_set__find(const struct rss_set *set, u32 pid);

/*
 * The growth since `earlier`. A process that was not in `earlier`, or has called exec since, counts
 * as a whole. Returns whether anything grew or shrank.
 */
bool rss__growth(const struct rss *now, const struct rss_set *earlier, s64 growth[RSS_PARTS]);

/* Returns the process in `earlier`, if it had been reported by then and has not called exec since, or NULL. */
const struct rss *rss__told(const struct rss *now, const struct rss_set *earlier);

/*
 * Makes `now` the base of growth for the next report. Processes that have not been reported keep their figures from
 * `earlier`.
 */
void rss_set__keep_untold(struct rss_set *now, const struct rss_set *earlier);

void rss_set__free(struct rss_set *set);

#endif /* TALLY_MEMORY_RSS_H */
