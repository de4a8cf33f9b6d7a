/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves addresses of programs to names, by the code that their processes had mapped at the time of the event. The
 * kernel's records report mappings, execs and exits (stack/told.h); everything else is read from /proc. An address has
 * no name if any part of this is missing: records were lost, some CPU provides none, the process exited before it was
 * examined, or tally runs in a pid namespace other than the initial one, whose ids are not those of the events.
 */
#ifndef TALLY_PROBE_ADDRESSES_H
#define TALLY_PROBE_ADDRESSES_H

#include "base/types.h"
#include "host/host.h"

struct addresses;

/* Starts to keep records. Returns 0 or -ENOMEM. */
int addresses__open(struct addresses **a, const struct host *host);
void addresses__close(struct addresses *a);

/* The descriptor is readable when addresses__read() should be called. Returns -1 if that is never necessary. */
int addresses__fd(const struct addresses *a);

/* Processes all records written so far. Returns 0 or -ENOMEM. */
int addresses__read(struct addresses *a);

/*
 * Returns "main", "main+0x12", "0x7f5c01a01234(libc.so.6)" (in a mapping, without a symbol), or the address alone, as
 * an allocated text that is not escaped; NULL without memory. at_ns: CLOCK_MONOTONIC time at which the process used the
 * address.
 */
char *addresses__name(struct addresses *a, u32 pid, u64 at_ns, u64 address);

/*
 * Whether a pending signal prevented the resolution of a name since the last call (base/confined.h). The name can be
 * resolved once the signal has been handled.
 */
bool addresses__take_interrupted(struct addresses *a);

/* Forgets the mappings of processes that ended before this time, since all events until then were shown. */
void addresses__forget(struct addresses *a, u64 before_ns);

#endif /* TALLY_PROBE_ADDRESSES_H */
