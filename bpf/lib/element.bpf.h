/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_ELEMENT_BPF_H
#define TALLY_ELEMENT_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"

/*
 * Returns the element of a key in a hash. A missing element is created as a copy of fresh; *is_new is then true for the
 * one caller that created it. Returns NULL if there is no room, which is counted as lost.
 */
static __always_inline void *element_get(void *map, const void *key, const void *fresh, bool *is_new)
{
	void *element = bpf_map_lookup_elem(map, key);
	long err;

	*is_new = false;
	if (element)
		return element;
	err = bpf_map_update_elem(map, key, fresh, BPF_NOEXIST);
	element = bpf_map_lookup_elem(map, key);
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
