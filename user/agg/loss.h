/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads filtered and lost counts (bpf/lib/loss.h): cumulative snapshots and their differences. */
#ifndef TALLY_AGG_LOSS_H
#define TALLY_AGG_LOSS_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/loss.h"

/* LOSS_LOST: the event is missing in the figures. LOSS_INEXACT: the figures include it, but incompletely. */
enum loss_kind { LOSS_LOST, LOSS_INEXACT, LOSS_KINDS };

enum loss_kind loss_kind(enum loss_reason reason);

/* "lost" or "inexact", for JSON and messages. */
const char *loss_kind_name(enum loss_kind kind);

/* Whether the reason is that this kernel hides events from programs. */
bool loss_is_hidden(enum loss_reason reason);

/* The name of a reason in JSON and CSV ("map_full"), and a sentence about it. */
const char *loss_name(enum loss_reason reason);
const char *loss_sentence(enum loss_reason reason);

/* Whether a larger --max-keys avoids it, in tools that have the option. */
bool loss_ends_with_more_keys(enum loss_reason reason);

/*
 * Adds up the counters of all CPUs, and the runs that the kernel skipped (recursion_misses, since
 * 5.12) of all loaded programs of obj. Returns 0, or a negative errno with *sum untouched.
 */
int loss__read(struct loss_counters *sum, int map_fd, const struct bpf_object *obj);

/* later - earlier. */
struct loss_counters loss__difference(const struct loss_counters *later,
				      const struct loss_counters *earlier);

/*
 * Stores the change since the last call in *since. *last is the state at that call, zero at first,
 * and is updated. Returns 0 or a negative errno.
 */
int loss__since(struct loss_counters *since, struct loss_counters *last, int map_fd,
		const struct bpf_object *obj);

/* Number of events of a kind, over all reasons. */
u64 loss__of(const struct loss_counters *c, enum loss_kind kind);

/* Whether no event is lost or inexact. */
bool loss__is_none(const struct loss_counters *c);

#endif /* TALLY_AGG_LOSS_H */
