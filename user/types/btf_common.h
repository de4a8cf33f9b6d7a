/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files behind types/btf.h share. */
#ifndef TALLY_TYPES_BTF_COMMON_H
#define TALLY_TYPES_BTF_COMMON_H

#include "types/btf.h"

/* Of pointers to functions that take pointers to functions ...: no kernel has 10. */
#define BTF_NESTING_MAX 32

/* A name by its offset; "" where there is none. It belongs to the BTF. */
static inline const char *btf_name(const struct btf *btf, u32 offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

/*
 * Room for one more behind n elements of this size: as realloc(), but only where n is 0 or a power
 * of two. Arrays that are made with it have room for a power of two.
 */
void *btf_grow(void *array, size_t n, size_t size);

/* The prototype that a function, a typedef or a pointer leads to; NULL: none. */
const struct btf_type *btf_find_prototype(const struct btf *btf, u32 id, u32 *proto_id);

#endif /* TALLY_TYPES_BTF_COMMON_H */
