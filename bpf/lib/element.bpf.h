/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_ELEMENT_BPF_H
#define TALLY_ELEMENT_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

/*
 * Returns the element of a key in a hash. Creates a missing element as a copy of fresh; *err is then 0 for the one
 * caller that created it. Returns NULL if there is no room; pass *err to count_failed_update().
 */
static __always_inline void *element_try(void *map, const void *key, const void *fresh, long *err)
{
	void *element = bpf_map_lookup_elem(map, key);

	*err = -EEXIST;
	if (element)
		return element;
	*err = bpf_map_update_elem(map, key, fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

/*
 * As element_try(), but counts a missing element as a loss. *is_new is true for the one caller that created the
 * element.
 */
static __always_inline void *element_get(void *map, const void *key, const void *fresh, bool *is_new)
{
	long err;
	void *element = element_try(map, key, fresh, &err);

	*is_new = !err;
	if (!element)
		count_failed_update(err);
	return element;
}

static __always_inline void *element_of(void *map, const void *key, const void *fresh)
{
	bool is_new;

	return element_get(map, key, fresh, &is_new);
}

#endif /* TALLY_ELEMENT_BPF_H */
