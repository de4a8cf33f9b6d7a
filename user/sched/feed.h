/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events of the scheduler as they come out of the ring buffer (bpf/switches.bpf.h). What is
 * written while they are taken is written many lines at once. What did not fit into the buffer
 * is counted by the kernel's side.
 */
#ifndef TALLY_SCHED_FEED_H
#define TALLY_SCHED_FEED_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "out/report.h"

#include "bpf/switches.h"

struct feed;

/* Returns 0, or a negative errno, which ends the drain. */
typedef int (*feed_take)(void *context, const struct switches_record *record);

/* Sizes the ring buffer of the opened object for this machine; *wake_bytes is for its constant. */
int feed__prepare(struct bpf_map *records, const struct host *host, volatile u64 *wake_bytes);

/* writer and context are borrowed. Returns 0 or a negative errno. */
int feed__open(struct feed **f, const struct bpf_map *records, struct writer *writer,
	       feed_take take, void *context);
void feed__close(struct feed *f);

/* Can be read when records should be looked for: for run->watch_fd. */
int feed__fd(const struct feed *f);

/* Takes what is there now, in the order in which it came. Returns 0 or a negative errno. */
int feed__drain(struct feed *f);

/* CLOCK_REALTIME - CLOCK_MONOTONIC, to be added to the times of records. */
u64 feed__to_wall_clock(void);

#endif /* TALLY_SCHED_FEED_H */
