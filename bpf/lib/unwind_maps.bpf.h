/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of unwind.h, which the loader fills (user/unwind). */
#ifndef TALLY_UNWIND_MAPS_BPF_H
#define TALLY_UNWIND_MAPS_BPF_H

#include "compat.bpf.h"
#include "unwind.h"

struct unwind_slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_SLAB_LINES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct unwind_line));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SLABS);
	__type(key, u32);
	__array(values, struct unwind_slab);
} unwind_slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_RULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_FILES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_MAPPINGS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_SPACES);
	__type(key, u32);
	__type(value, struct unwind_space);
} unwind_spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES);
	__type(key, struct unwind_identity);
	__type(value, struct unwind_found);
} unwind_found SEC(".maps");

#endif /* TALLY_UNWIND_MAPS_BPF_H */
