/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes hash maps, between open and load. Functions return 0 or a negative errno. */
#ifndef TALLY_RUN_MAP_ROOM_H
#define TALLY_RUN_MAP_ROOM_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "host/host.h"

/* Whether the kernel can allocate elements on demand in tracing programs, which makes large maps cheap. */
static inline bool map__allocates_on_demand(const struct host *host)
{
	return host->version >= KERNEL_VERSION(6, 1, 0);
}

/*
 * Sizes a hash for this many elements. They are allocated on demand if the kernel can do so in
 * tracing programs: 6.1 and later (commit fba1a1c6c912).
 */
int map__set_room(struct bpf_map *map, const struct host *host, u64 elements);

/*
 * Sizes a preallocated hash. In interrupts and under memory pressure, on-demand allocation may
 * fail.
 */
int map__preallocate(struct bpf_map *map, u64 elements);

/*
 * Like map__set_room(), for a hash that elements__take() empties: adds room for the keys of the next
 * interval.
 */
int map__set_room_for_keys(struct bpf_map *map, const struct host *host, u64 elements);

/*
 * Like map__set_room_for_keys(), for a hash with one element per key and CPU (this_writer() of
 * bpf/lib/writer.bpf.h): room for up to 8 CPUs per key; few keys use more.
 */
int map__set_room_for_writers(struct bpf_map *map, const struct host *host, u64 keys);

#endif /* TALLY_RUN_MAP_ROOM_H */
