/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files behind types/btf.h. */
#ifndef TALLY_TYPES_BTF_COMMON_H
#define TALLY_TYPES_BTF_COMMON_H

#include "types/btf.h"

/* Nesting limit for pointers to functions that take pointers to functions, and so on: no kernel reaches 10. */
#define BTF_NESTING_MAX 32

/* Returns the name at an offset, "" if there is none. Owned by the BTF. */
static inline const char *btf_name(const struct btf *btf, u32 offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

/* Returns the prototype that a function, typedef or pointer refers to, or NULL. */
const struct btf_type *btf_find_prototype(const struct btf *btf, u32 id, u32 *proto_id);

#endif /* TALLY_TYPES_BTF_COMMON_H */
