/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums by key: a hash that the loader reads as described in user/agg/sum_set.h, and its elements. */
#ifndef TALLY_SUMS_BPF_H
#define TALLY_SUMS_BPF_H

#include "compat.bpf.h"
#include "element.bpf.h"

/*
 * Defines the map "sums", whose size the loader sets, and access to the element of a key, initially all zeros:
 *
 *   sums_of(key)               NULL if there is no room, which is counted as lost
 *   sums_get(key, &is_new)     the same; is_new is true for the one caller that created the element
 *   sums_try(key, &err)        NULL if there is no room; pass err to count_failed_update()
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
		return element_get(&sums, key, &no_sums, is_new);                                                      \
	}                                                                                                              \
                                                                                                                       \
	static __always_inline value_type *sums_of(const key_type *key)                                                \
	{                                                                                                              \
		return element_of(&sums, key, &no_sums);                                                               \
	}                                                                                                              \
                                                                                                                       \
	static __always_inline value_type *sums_try(const key_type *key, long *err)                                    \
	{                                                                                                              \
		return element_try(&sums, key, &no_sums, err);                                                         \
	}

#endif /* TALLY_SUMS_BPF_H */
