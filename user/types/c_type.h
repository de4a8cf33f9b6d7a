/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C types for expressions, from any source: kernel BTF, BTF made from DWARF, or only a size. Pure except
 * c_type__parse(); the BTF must outlive the types.
 */
#ifndef TALLY_TYPES_C_TYPE_H
#define TALLY_TYPES_C_TYPE_H

#include <bpf/btf.h>

#include "base/types.h"
#include "types/btf.h"

struct c_type {
	const struct btf *btf;  /* NULL: an integer of size bytes */
	u32 id;
	u32 stars;              /* levels of pointers to the type */
	u32 size;               /* without BTF */
	bool is_signed;
	bool is_char;           /* without BTF, from debug information */
};

struct c_member {
	struct c_type type;
	u64 bit_offset;         /* from the start of the structure */
	u32 bits;               /* of a bit-field, else 0 */
};

struct c_type c_type__integer(u32 size, bool is_signed);
struct c_type c_type__of(const struct btf *btf, u32 id);
struct c_type c_type__pointer_to(struct c_type t);

/* True for a number: an integer, character, boolean, enumeration or pointer. Sets its size and sign. */
bool c_type__is_number(const struct c_type *t, u32 *size, bool *is_signed);
bool c_type__is_pointer(const struct c_type *t);
bool c_type__is_struct(const struct c_type *t);         /* or union */
bool c_type__is_enum(const struct c_type *t);
bool c_type__is_char(const struct c_type *t);           /* char itself, not u8, which is unsigned char */

/* Finds the type pointed to. False: not a pointer, or void. */
bool c_type__pointee(const struct c_type *t, struct c_type *to);
/* Finds the type that a C++ reference (DWARF_REFERENCE) refers to. False: not a reference. */
bool c_type__referred(const struct c_type *t, struct c_type *to);
/* Finds the type of an array's elements, and their number (0: flexible). */
bool c_type__element(const struct c_type *t, struct c_type *element, u32 *n);

/* Bytes; 0: unknown. */
u64 c_type__size(const struct c_type *t);

/* Finds a member by name, also in anonymous members. False: not a structure, or no such member. */
bool c_type__member(const struct c_type *t, const char *name, struct c_member *m);
/* Calls visit for the name of each member, including members of anonymous members. */
void c_type__members(const struct c_type *t, void (*visit)(void *arg, const char *name), void *arg);

/* Finds the value of an enumerator of this enumeration, by name. */
bool c_type__enumerator(const struct c_type *t, const char *name, u64 *value);
/* Same, in any enumeration of the BTF. */
bool btf_enumerator(const struct btf *btf, const char *name, u64 *value);

/* As C text, "struct sock *"; allocated, NULL if out of memory. */
char *c_type__text(const struct c_type *t);

/* Finds a type by its name, "struct sock", "sock_t". 0, -ENOENT, or another negative errno. */
typedef int (*c_type_find)(struct c_type *t, void *arg, const char *name);

/* Finds a type of the kernel or its modules; arg is a struct kernel_types. */
int c_type__find_kernel(struct c_type *t, void *arg, const char *name);

/*
 * Parses a type as in a cast: "struct sock *", "u8", "unsigned long". find looks up types that are
 * not integers; NULL: none. Returns 0, -ENOENT, or another negative errno.
 */
int c_type__parse(struct c_type *t, c_type_find find, void *arg, const char *text);

#endif /* TALLY_TYPES_C_TYPE_H */
