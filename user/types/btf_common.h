/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files behind types/btf.h. */
#ifndef TALLY_TYPES_BTF_COMMON_H
#define TALLY_TYPES_BTF_COMMON_H

#include "types/btf.h"

/* Nesting limit for pointers to functions that take pointers to functions ...: no kernel reaches 10. */
#define BTF_NESTING_MAX 32

/* The name at an offset; "" if there is none. It belongs to the BTF. */
static inline const char *btf_name(const struct btf *btf, u32 offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

/*
 * Makes room for one more after n elements of this size. Like realloc(), but only reallocates if n
 * is 0 or a power of two, so that arrays grown with it have room for a power of two.
 */
void *btf_grow(void *array, size_t n, size_t size);

/* The prototype that a function, typedef or pointer refers to; NULL: none. */
const struct btf_type *btf_find_prototype(const struct btf *btf, u32 id, u32 *proto_id);

#endif /* TALLY_TYPES_BTF_COMMON_H */
