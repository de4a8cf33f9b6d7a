/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extracts the part of the kernel's BTF that a BPF object needs, as a small BTF.
 *
 * libbpf copies and indexes the whole BTF, and searches it linearly for each type that an object's relocations name and
 * each tracepoint that it attaches to. This file instead finds types in the kernel's BTF by an index of names, and
 * copies them with the types that they contain. If the target of a pointer in a struct is left out, the pointer becomes
 * a void *: relocations never follow it.
 *
 * The part has new type ids: some hundred instead of 150,000. Only the kernel needs its own ids, for attach targets and
 * ksyms. If an object's instructions also contain type ids, the part keeps the kernel's ids, and the shortest possible
 * record replaces each type that is left out.
 */
#ifndef TALLY_TYPES_BTF_PART_H
#define TALLY_TYPES_BTF_PART_H

#include "types/btf_names.h"

struct btf_type;

/* BTF as read from /sys/kernel/btf/vmlinux. The bytes are owned by the caller. */
struct btf_bytes {
	const u8 *types;
	const char *strings;
	u32 types_size, strings_size;
	u32 n;                  /* ids: 0 is void */
	u32 *offset;            /* in types, of each id >= 1 */
	/* The index: chains of ids by hash of the name, terminated by 0. Integers have a separate chain. */
	u32 *first, *next;
	u32 first_int;
};

#define BTF_HASHES (1 << 15)

struct btf_part {
	void *data;
	u32 size;
	u32 n;                  /* ids: 0 is void */
	u32 *kernel_id;         /* of each id, ascending */
};

/* Returns 0; -EBADMSG: damaged; -EOPNOTSUPP: another byte order, or unknown kinds; -ENOMEM. */
int btf_bytes__open(struct btf_bytes *b, const void *data, size_t size);
void btf_bytes__close(struct btf_bytes *b);

/* Returns the id of the first type with this name and kind (BTF_KIND_*); 0: none. */
u32 btf_bytes__find(const struct btf_bytes *b, const char *name, u32 kind);
const struct btf_type *btf_bytes__type(const struct btf_bytes *b, u32 id);

/*
 * Makes the part, which the caller frees. Module BTF, which continues the ids and strings of the kernel's BTF, must not
 * be based on the part. libbpf reads module BTF for names that the kernel's BTF lacks, so the result is -ENOENT if all
 * is set and a name is missing. Other errors: -EBADMSG, -ENOMEM.
 *
 * If libbpf gets a kernel id for one of the names, that id is at least n, unless the part uses the same id for the
 * type.
 */
int btf_bytes__make_part(const struct btf_bytes *b, struct btf_names *names, bool all, struct btf_part *part);
void btf_part__free(struct btf_part *part);

/* Returns the part's id of the type with this kernel id; 0: the part does not contain the type. */
u32 btf_part__id(const struct btf_part *part, u32 kernel_id);

#endif /* TALLY_TYPES_BTF_PART_H */
