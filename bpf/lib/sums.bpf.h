/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums by key: a hash that the loader reads as user/agg/sum_set.h says, and its elements. */
#ifndef TALLY_SUMS_BPF_H
#define TALLY_SUMS_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

/*
 * Defines the map "sums", whose room the loader sets, and the element of a key, at first all zeros:
 *
 *   sums_of(key)               NULL: there is no room, which is counted as lost
 *   sums_get(key, &is_new)     the same; is_new is true for the one caller that made the element
 */
#define SUMS(key_type, value_type)                                                                                     \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_HASH);                                                                       \
		__uint(max_entries, 1);                                                                                \
		__type(key, key_type);                                                                                 \
		__type(value, value_type);                                                                             \
	} sums SEC(".maps");                                                                                           \
                                                                                                                       \
	const value_type no_sums = {};                                                                                 \
                                                                                                                       \
	static __always_inline value_type *sums_get(const key_type *key, bool *is_new)                                 \
	{                                                                                                              \
		value_type *s = bpf_map_lookup_elem(&sums, key);                                                       \
		long err;                                                                                              \
                                                                                                                       \
		*is_new = false;                                                                                       \
		if (s)                                                                                                 \
			return s;                                                                                      \
		err = bpf_map_update_elem(&sums, key, &no_sums, BPF_NOEXIST);                                          \
		s = bpf_map_lookup_elem(&sums, key);                                                                   \
		*is_new = !err;                                                                                        \
		if (!s)                                                                                                \
			count_failed_update(err);                                                                      \
		return s;                                                                                              \
	}                                                                                                              \
                                                                                                                       \
	static __always_inline value_type *sums_of(const key_type *key)                                                \
	{                                                                                                              \
		bool is_new;                                                                                           \
                                                                                                                       \
		return sums_get(key, &is_new);                                                                         \
	}

#endif /* TALLY_SUMS_BPF_H */
