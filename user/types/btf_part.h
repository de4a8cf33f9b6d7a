/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the kernel's BTF that BPF objects need, as a small BTF with the same type ids.
 *
 * libbpf copies and indexes all of a BTF, and searches it from one end to the other for each type
 * that an object relocates by and each tracepoint that it attaches to. So here types are found once
 * in the kernel's own bytes, and copied with what they hold. Each other type becomes the shortest
 * record there is, which keeps the ids, and a pointer in a struct whose target is left out becomes
 * a void *: relocations never follow it.
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
};

/* -EBADMSG: damaged; -EOPNOTSUPP: of another byte order, or with kinds not known here; -ENOMEM. */
int btf_bytes__open(struct btf_bytes *b, const void *data, size_t size);
void btf_bytes__close(struct btf_bytes *b);

/* The first type of this name and kind, BTF_KIND_*; 0: none. */
u32 btf_bytes__find(const struct btf_bytes *b, const char *name, u32 kind);
const struct btf_type *btf_bytes__type(const struct btf_bytes *b, u32 id);

/*
 * Makes the part, up to the last type in it: BTFs of modules, which continue the ids and strings of
 * the kernel's, must not be based on it. libbpf reads those for names that the kernel's lacks, so
 * -ENOENT if all is set and one is missing. Other errors: -EBADMSG, -ENOMEM. The part is the
 * caller's, to be freed.
 */
int btf_bytes__make_part(const struct btf_bytes *b, struct btf_names *names, bool all, void **part,
			 u32 *size);

#endif /* TALLY_TYPES_BTF_PART_H */
