/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of C values as expressions need them, whatever they were learned from: kernel BTF, BTF made
 * of DWARF, or nothing but a size. Pure but for c_type__parse(); the BTF must outlive them.
 */
#ifndef TALLY_TYPES_C_TYPE_H
#define TALLY_TYPES_C_TYPE_H

#include <bpf/btf.h>

#include "base/types.h"
#include "types/btf.h"

struct c_type {
	const struct btf *btf;  /* NULL: an integer of size bytes */
	u32 id;
	u32 stars;              /* of pointers to that */
	u32 size;               /* without BTF */
	bool is_signed;
	bool is_char;           /* without BTF, where debug information says so */
};

struct c_member {
	struct c_type type;
	u64 bit_offset;         /* from the start of the structure */
	u32 bits;               /* of a bit-field, else 0 */
};

struct c_type c_type__integer(u32 size, bool is_signed);
struct c_type c_type__of(const struct btf *btf, u32 id);
struct c_type c_type__pointer_to(struct c_type t);

/* Integers, characters, booleans, enumerations and pointers are numbers: their size and sign. */
bool c_type__is_number(const struct c_type *t, u32 *size, bool *is_signed);
bool c_type__is_pointer(const struct c_type *t);
bool c_type__is_struct(const struct c_type *t);         /* or union */
bool c_type__is_char(const struct c_type *t);           /* char itself: u8 is unsigned char */

/* Of what it points to. False: no pointer, or to nothing known (void). */
bool c_type__pointee(const struct c_type *t, struct c_type *to);
/* What a C++ reference (DWARF_REFERENCE) refers to. False: it is none. */
bool c_type__referred(const struct c_type *t, struct c_type *to);
/* Of the elements of an array, and their number (0: flexible). */
bool c_type__element(const struct c_type *t, struct c_type *element, u32 *n);

/* Bytes; 0: unknown. */
u64 c_type__size(const struct c_type *t);

/* A member by name, those of nameless members too. False: no structure, or none such. */
bool c_type__member(const struct c_type *t, const char *name, struct c_member *m);
/* Calls visit for the names of all such members. */
void c_type__members(const struct c_type *t, void (*visit)(void *arg, const char *name), void *arg);

/* The value of an enumerator of this enumeration by name. */
bool c_type__enumerator(const struct c_type *t, const char *name, u64 *value);
/* The same of any enumeration in the BTF. */
bool btf_enumerator(const struct btf *btf, const char *name, u64 *value);

/* As C has it, "struct sock *"; new memory, NULL without. */
char *c_type__text(const struct c_type *t);

/*
 * The type named as in a cast: "struct sock *", "u8", "unsigned long". types: where to look for
 * what is no integer; NULL: nowhere. Returns 0, -ENOENT, or another negative errno.
 */
int c_type__parse(struct c_type *t, struct kernel_types *types, const char *text);

#endif /* TALLY_TYPES_C_TYPE_H */
