/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events as they come out of the ring buffer of bpf/lib/ring.bpf.h. What is written to the
 * writer while they are taken is written many lines at once. What did not fit into the buffer is
 * counted by the kernel's side.
 */
#ifndef TALLY_RUN_RING_H
#define TALLY_RUN_RING_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "report/report.h"

struct ring;

/*
 * size: of the record, rounded up to 8 bytes where the kernel's side submitted one of that type; at
 * least what ring__open() was told. Returns 0, or a negative errno, which ends the drain.
 */
typedef int (*ring_take)(void *context, const void *record, size_t size);

/*
 * Sizes the buffer of the opened object (its map records) and sets the constant wake_bytes. The kernel takes all of
 * the memory at once. Without a number: what this machine needs where each CPU may make some
 * 100,000 records a second (system calls, block requests, switches). Else so many bytes, rounded up
 * to a power of two. Return 0 or a negative errno.
 */
int ring__prepare(struct bpf_object *obj, const struct host *host);
int ring__prepare_bytes(struct bpf_object *obj, u64 bytes);

/* What is enough where each CPU makes at most some 10,000 (processes, slow calls). */
u64 ring__bytes_of_rare(const struct host *host);

/*
 * least: bytes of the shortest record; what is shorter ends the drain with -EBADMSG. writer and
 * context are borrowed. Returns 0 or a negative errno.
 */
int ring__open(struct ring **ring, const struct bpf_map *records, size_t least,
	       struct writer *writer, ring_take take, void *context);
void ring__close(struct ring *ring);

/* Can be read when records should be looked for: for run->watch_fd. */
int ring__fd(const struct ring *ring);

/*
 * Takes what is there now, in the order in which it came. Returns 0 or a negative errno (-EPIPE:
 * nobody reads the lines any more).
 */
int ring__drain(struct ring *ring);

/* CLOCK_REALTIME - CLOCK_MONOTONIC, to be added to the times of records. */
u64 ring__to_wall_clock(void);

#endif /* TALLY_RUN_RING_H */
