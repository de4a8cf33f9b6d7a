/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that libbpf looks up in the kernel's BTF when it loads an object. */
#ifndef TALLY_TYPES_BTF_NAMES_H
#define TALLY_TYPES_BTF_NAMES_H

#include <bpf/btf.h>

#include "base/types.h"

struct bpf_object;

struct btf_wanted {
	char *name;             /* of relocated types without their flavours (NAME___FLAVOUR) */
	size_t length;
	u32 kind;               /* BTF_KIND_; an enum may be of either kind */
	bool by_id;             /* libbpf passes its id to the kernel */
	bool found;             /* by btf_bytes__make_part() */
};

struct btf_names {
	struct btf_wanted *name;
	size_t n;
	bool keep_ids;          /* the part must keep the kernel's ids: instructions contain type ids */
};

/*
 * Adds the names for this object: the root types of its relocations, the attach targets of its programs, its ksyms.
 * file: the ELF file that the object was opened from. -EOPNOTSUPP: the names cannot be determined for this object;
 * -EBADMSG, -ENOMEM.
 */
int btf_names__add_object(struct btf_names *names, const struct bpf_object *obj, const void *file,
			  size_t size);
/* Adds a type's name without a flavour. -ENOMEM. */
int btf_names__add(struct btf_names *names, const char *name, u32 kind);
void btf_names__free(struct btf_names *names);

/* Returns the length of a name without its flavour, as libbpf sees it. */
size_t btf_essential_length(const char *name);

/* Returns the kind; BTF_KIND_ENUM for both kinds of enums. */
static inline u32 btf_plain_kind(const struct btf_type *t)
{
	return btf_is_any_enum(t) ? BTF_KIND_ENUM : btf_kind(t);
}

#endif /* TALLY_TYPES_BTF_NAMES_H */
