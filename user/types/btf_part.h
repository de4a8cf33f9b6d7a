/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the kernel's BTF that a BPF object needs, as a small BTF.
 *
 * libbpf copies and indexes all of a BTF, and searches it from one end to the other for each type
 * that an object relocates by and each tracepoint that it attaches to. So here types are found
 * in the kernel's own bytes by an index of their names, and copied with what they hold. A pointer in
 * a struct whose target is left out becomes a void *: relocations never follow it.
 *
 * Types are numbered anew, some hundred instead of 150,000. The kernel's ids are for the kernel alone:
 * where a program is attached, and ksyms. If an object's instructions have ids of types, too, the part
 * keeps the kernel's ids, and the shortest record there is stands for each type that is left out.
 */
#ifndef TALLY_TYPES_BTF_PART_H
#define TALLY_TYPES_BTF_PART_H

#include "types/btf_names.h"

struct btf_type;

/* BTF as the kernel wrote it, /sys/kernel/btf/vmlinux. The bytes belong to the caller. */
struct btf_bytes {
	const u8 *types;
	const char *strings;
	u32 types_size, strings_size;
	u32 n;                  /* ids: 0 is void */
	u32 *offset;            /* in types, of each id from 1 on */
	/* The index: chains of ids by hash of the name; 0 ends them. Integers have a chain of their own. */
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

/* -EBADMSG: damaged; -EOPNOTSUPP: of another byte order, or with kinds not known here; -ENOMEM. */
int btf_bytes__open(struct btf_bytes *b, const void *data, size_t size);
void btf_bytes__close(struct btf_bytes *b);

/* The first type of this name and kind, BTF_KIND_*; 0: none. */
u32 btf_bytes__find(const struct btf_bytes *b, const char *name, u32 kind);
const struct btf_type *btf_bytes__type(const struct btf_bytes *b, u32 id);

/*
 * Makes the part. BTFs of modules, which continue the ids and strings of the kernel's, must not be
 * based on it. libbpf reads those for names that the kernel's lacks, so -ENOENT if all is set and one
 * is missing. Other errors: -EBADMSG, -ENOMEM. The part is the caller's, to be freed.
 *
 * An id of the kernel's that libbpf gets for one of the names is never less than n, unless it is the part's, too.
 */
int btf_bytes__make_part(const struct btf_bytes *b, struct btf_names *names, bool all, struct btf_part *part);
void btf_part__free(struct btf_part *part);

/* The part's id of a type with this id in the kernel; 0: the part does not have it. */
u32 btf_part__id(const struct btf_part *part, u32 kernel_id);

#endif /* TALLY_TYPES_BTF_PART_H */
