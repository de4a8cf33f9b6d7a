/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads filtered and lost counts (bpf/lib/loss.h): cumulative snapshots and their differences. */
#ifndef TALLY_AGG_LOSS_H
#define TALLY_AGG_LOSS_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/loss.h"

/* LOSS_LOST: the event is missing from the figures. LOSS_INEXACT: it is in them, but incomplete. */
enum loss_kind { LOSS_LOST, LOSS_INEXACT, LOSS_KINDS };

enum loss_kind loss_kind(enum loss_reason reason);

/* "lost", "inexact": as in JSON and messages. */
const char *loss_kind_name(enum loss_kind kind);

/* Whether the reason is that this kernel hides events from programs. */
bool loss_is_hidden(enum loss_reason reason);

/* The name of a reason in JSON and CSV ("map_full"), and a sentence about it. */
const char *loss_name(enum loss_reason reason);
const char *loss_sentence(enum loss_reason reason);

/* Whether a larger --max-keys helps, in tools that have it. */
bool loss_ends_with_more_keys(enum loss_reason reason);

/*
 * Adds up the counters of all CPUs, and the runs the kernel skipped (recursion_misses, since 5.12)
 * for all loaded programs of obj. Returns 0, or a negative errno with *sum untouched.
 */
int loss__read(struct loss_counters *sum, int map_fd, const struct bpf_object *obj);

/* later - earlier. */
struct loss_counters loss__difference(const struct loss_counters *later,
				      const struct loss_counters *earlier);

/*
 * Change since the last call: the difference to *last, which is zero at first and becomes the
 * current state. Returns 0 or a negative errno.
 */
int loss__since(struct loss_counters *since, struct loss_counters *last, int map_fd,
		const struct bpf_object *obj);

/* Number of events of a kind, over all reasons. */
u64 loss__of(const struct loss_counters *c, enum loss_kind kind);

/* Whether every event is in the figures, complete. */
bool loss__is_none(const struct loss_counters *c);

#endif /* TALLY_AGG_LOSS_H */
