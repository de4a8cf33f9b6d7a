// SPDX-License-Identifier: BSD-2-Clause
#include "run/map_room.h"

#include "agg/elements.h"

#define CPUS_PER_KEY 8

static int set_entries(struct bpf_map *map, u64 elements)
{
	return bpf_map__set_max_entries(map, elements < 1U << 30 ? elements : 1U << 30);
}

int map__preallocate(struct bpf_map *map, u64 elements)
{
	return set_entries(map, elements) ?: bpf_map__set_map_flags(map, 0);
}

int map__set_room(struct bpf_map *map, const struct host *host, u64 elements)
{
	int err = set_entries(map, elements);

	if (!err && map__allocates_on_demand(host))
		err = bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
	return err;
}

int map__set_room_for_keys(struct bpf_map *map, const struct host *host, u64 elements)
{
	return map__set_room(map, host, elements__room(elements, map__allocates_on_demand(host)));
}

int map__set_room_for_writers(struct bpf_map *map, const struct host *host, u64 keys)
{
	u64 cpus = host->cpus_online < CPUS_PER_KEY ? host->cpus_online : CPUS_PER_KEY;

	return map__set_room_for_keys(map, host, cpus * keys);
}
