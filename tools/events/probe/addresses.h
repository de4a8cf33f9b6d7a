/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of addresses of programs, by the code that their processes had mapped when the event happened: records of the
 * kernel tell of mappings, execs and exits (stack/told.h), the rest is read from /proc. An address is not named if
 * anything of that is missing: if records were lost, if there are none on some CPU, if the process was gone before it
 * was seen, or in another pid namespace than the initial one, whose ids are not those of the events.
 */
#ifndef TALLY_PROBE_ADDRESSES_H
#define TALLY_PROBE_ADDRESSES_H

#include "base/types.h"
#include "host/host.h"

struct addresses;

/* Records are kept from now on. Returns 0 or -ENOMEM. */
int addresses__open(struct addresses **a, const struct host *host);
void addresses__close(struct addresses *a);

/* Readable when addresses__read() should be called: -1: never. */
int addresses__fd(const struct addresses *a);

/* Takes in the records up to now. Returns 0 or -ENOMEM. */
int addresses__read(struct addresses *a);

/*
 * "main", "main+0x12", "0x7f5c01a01234(libc.so.6)" (of a mapping, without a symbol there), or the address alone: an
 * allocated text, not escaped; NULL: no memory. at_ns: CLOCK_MONOTONIC, when the process had it.
 */
char *addresses__name(struct addresses *a, u32 pid, u64 at_ns, u64 address);

/*
 * Was a name not found out since the last call because a signal is pending (base/confined.h)? It can be once the signal
 * has been taken.
 */
bool addresses__take_interrupted(struct addresses *a);

/* All events until then were shown: what processes had mapped that ended before is forgotten. */
void addresses__forget(struct addresses *a, u64 before_ns);

#endif /* TALLY_PROBE_ADDRESSES_H */
