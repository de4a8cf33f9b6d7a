/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading what was filtered and lost (bpf/lib/loss.h): cumulative snapshots and their differences. */
#ifndef TALLY_AGG_LOSS_H
#define TALLY_AGG_LOSS_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/lib/loss.h"

/* Is the event missing from the figures, or in them without something that belongs to it? */
enum loss_kind { LOSS_LOST, LOSS_INEXACT, LOSS_KINDS };

enum loss_kind loss_kind(enum loss_reason reason);

/* "lost", "inexact": as in JSON and texts. */
const char *loss_kind_name(enum loss_kind kind);

/* Is it that this kernel does not show programs everything, whatever they do? */
bool loss_is_hidden(enum loss_reason reason);

/* The name of a reason in JSON and CSV ("map_full"), and a sentence about it for people. */
const char *loss_name(enum loss_reason reason);
const char *loss_sentence(enum loss_reason reason);

/* Does --max-keys help, in tools that have it? */
bool loss_ends_with_more_keys(enum loss_reason reason);

/*
 * Adds up the counters of all CPUs, and the runs the kernel skipped (recursion_misses, since
 * 5.12) of all loaded programs of obj. Returns 0 or a negative errno, then *sum is untouched.
 */
int loss__read(struct loss_counters *sum, int map_fd, const struct bpf_object *obj);

/* later - earlier. */
struct loss_counters loss__difference(const struct loss_counters *later,
				      const struct loss_counters *earlier);

/*
 * What came since the last call: the difference to *last, which is zeroed at first and becomes what
 * there is now. Returns 0 or a negative errno.
 */
int loss__since(struct loss_counters *since, struct loss_counters *last, int map_fd,
		const struct bpf_object *obj);

/* How many events are of a kind, whatever the reason. */
u64 loss__of(const struct loss_counters *c, enum loss_kind kind);

/* Is every event in the figures, with all that belongs to it? */
bool loss__is_none(const struct loss_counters *c);

#endif /* TALLY_AGG_LOSS_H */
