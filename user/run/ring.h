/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads single events from the ring buffer of bpf/lib/ring.bpf.h. Output to the writer is batched,
 * many lines per write. The BPF side counts records that did not fit.
 */
#ifndef TALLY_RUN_RING_H
#define TALLY_RUN_RING_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"
#include "report/report.h"

struct ring;

/*
 * size: of the record, rounded up to 8 bytes if the BPF side reserved it by type; at least the
 * least given to ring__open(). Returns 0, or a negative errno, which ends the drain. -EINTR: a signal
 * interrupted the lookup of names (ring__hear_signals()), so the ring passes this record again, before
 * all others. Must not return -EINTR in the last report: no drain follows it.
 */
typedef int (*ring_take)(void *context, const void *record, size_t size);

/*
 * Size the buffer (map records) of the opened object and set its constant wake_bytes. The kernel
 * allocates all of the memory at once. ring__prepare() chooses a size for up to about 100,000
 * records per second and CPU (system calls, block requests, switches). ring__prepare_bytes() rounds
 * bytes up to a power of two. Return 0 or a negative errno.
 */
int ring__prepare(struct bpf_object *obj, const struct host *host);
int ring__prepare_bytes(struct bpf_object *obj, u64 bytes);

/* Returns a size for up to about 10,000 records per second and CPU (processes, slow calls). */
u64 ring__bytes_of_rare(const struct host *host);

/*
 * least: bytes of the shortest valid record; a shorter one ends the drain with -EBADMSG. writer and
 * context are borrowed. Returns 0 or a negative errno.
 */
int ring__open(struct ring **ring, const struct bpf_map *records, size_t least,
	       struct writer *writer, ring_take take, void *context);
void ring__close(struct ring *ring);

/*
 * For records shown with symbol names. A pending signal ends the child that reads symbols
 * (base/confined.h), so records are held back while a signal is pending, until the run has handled it
 * or makes its last report.
 */
void ring__hear_signals(struct ring *ring);

/* Whether the ring keeps a record to pass again (-EINTR). */
bool ring__keeps_one(const struct ring *ring);

/* Readable when records may be waiting: for m->watch_fd. */
int ring__fd(const struct ring *ring);

/*
 * Takes the records present now, in order. In the last report, waits first until programs that still run have
 * returned. Records shown with names (ring__hear_signals()) are taken for 50 ms per call, so that the run can end. In
 * the last report they are taken for at most RING_LAST_CPU_NS of CPU time and RING_LAST_NS in all; the rest is left
 * unread. Returns 0 or a negative errno (-EPIPE: the reader of the output has closed it).
 */
int ring__drain(struct ring *ring);

/* Whether the last ring__drain() took all records that were there when it began. */
bool ring__is_drained(const struct ring *ring);

#define RING_LAST_CPU_NS (5 * NSEC_PER_SEC)
#define RING_LAST_NS (10 * NSEC_PER_SEC)
void ring__limit_last(struct ring *ring, u64 ns, u64 cpu_ns);

/* Returns the records left unread since the last call: losses (LOSS_RING_FULL, "more events than could be shown"). */
u64 ring__take_unread(struct ring *ring);

/* CLOCK_REALTIME - CLOCK_MONOTONIC, to add to the times of records. */
u64 ring__to_wall_clock(void);

#endif /* TALLY_RUN_RING_H */
