// SPDX-License-Identifier: BSD-2-Clause
/* Converts a program's types to BTF, for the code that reads kernel structures. */
#include "types/dwarf.h"

#include <errno.h>

#ifdef HAVE_LIBDW

#include <bpf/btf.h>
#include <stdlib.h>

#include "base/array.h"
#include "types/dwarf_libdw.h"

#define MOST_TYPES 16384        /* types beyond this limit are unknown */
#define MOST_DIMENSIONS 8
#define REFERRED_TO MOST_DIMENSIONS     /* as a dimension: the type tag of a reference */
#define MOST_MEMBERS 4096
#define BUCKETS 4096

/*
 * A numbered type. Types refer to each other in cycles, but BTF is written in order: a type is
 * numbered when first seen, and written when its turn comes.
 */
struct item {
	Dwarf_Die die;
	u32 dimension;          /* of an array: this dimension and the ones after it */
	u32 next;               /* in the bucket; 0 at its end */
};

struct direct_types {
	struct dwarf *d;
	struct btf *btf;
	struct item *item;      /* item[i] is type i + 1 */
	u32 n, written;
	u32 bucket[BUCKETS];    /* number of the bucket's newest type */
};

int direct_types__new(struct direct_types **out, struct dwarf *d)
{
	struct direct_types *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->d = d;
	t->btf = btf__new_empty();
	if (!t->btf) {
		free(t);
		return -ENOMEM;
	}
	btf__set_pointer_size(t->btf, 8);
	*out = t;
	return 0;
}

const struct btf *direct_types__btf(const struct direct_types *t)
{
	return t->btf;
}

void direct_types__free(struct direct_types *t)
{
	if (!t)
		return;
	btf__free(t->btf);
	free(t->item);
	free(t);
}

/* Returns the number of a type, adding it if necessary, or 0 (void) if there is no room. */
static u32 number_of(struct direct_types *t, const Dwarf_Die *die, u32 dimension)
{
	u32 *bucket = &t->bucket[((uintptr_t)die->addr / 2 + dimension) % BUCKETS], i;

	for (i = *bucket; i; i = t->item[i - 1].next)
		if (t->item[i - 1].die.addr == die->addr && t->item[i - 1].dimension == dimension)
			return i;
	if (t->n == MOST_TYPES)
		return 0;
	if (ARRAY_ROOM(t->item, t->n))
		return 0;
	t->item[t->n++] = (struct item){ *die, dimension, *bucket };
	return *bucket = t->n;
}

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool dwarf_die__peel(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	u32 depth;

	for (depth = 0; depth < DWARF_MAX_DEPTH; depth++) {
		if (!is_transparent(dwarf_tag(type)))
			return dwarf_tag(type) != DW_TAG_subroutine_type;
		if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attr), type))
			return false;
	}
	return false;
}

/* Returns the number of the type that an entry refers to, or 0 if it is void, or unknown to BTF. */
static u32 type_of(struct direct_types *t, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), &type) || !dwarf_die__peel(&type))
		return 0;
	return number_of(t, &type, 0);
}

static bool number_at(Dwarf_Die *die, int name, u64 *number)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &n))
		return false;
	*number = n;
	return true;
}

/* Reads a member's offset in bytes. In DWARF 2 the offset is an expression that adds it. */
static bool location_of(Dwarf_Die *member, u64 *bytes)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	if (number_at(member, DW_AT_data_member_location, bytes))
		return true;
	if (!dwarf_attr(member, DW_AT_data_member_location, &attr) ||
	    dwarf_getlocation(&attr, &op, &n) || n != 1 || op->atom != DW_OP_plus_uconst)
		return false;
	*bytes = op->number;
	return true;
}

static bool has_flag(Dwarf_Die *die, int name)
{
	Dwarf_Attribute attr;
	bool flag;

	return dwarf_attr(die, name, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

/* --- writing a type --------------------------------------------------------------------------- */

/* Writes a placeholder for a type that BTF cannot express, to keep the numbers in step. */
static int write_unknown(struct direct_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_die__name(t->d, die);

	return btf__add_fwd(t->btf, name && *name ? name : "?", BTF_FWD_STRUCT);
}

static int write_base(struct direct_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_die__name(t->d, die);
	int size = dwarf_bytesize(die), encoding = 0;
	u64 ate = 0;

	number_at(die, DW_AT_encoding, &ate);
	switch (ate) {
	case DW_ATE_boolean:
		encoding = BTF_INT_BOOL;
		break;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		encoding = BTF_INT_SIGNED;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		break;
	case DW_ATE_float:
		return btf__add_float(t->btf, name && *name ? name : "?", size < 0 ? 0 : size);
	default:
		return write_unknown(t, die);
	}
	return btf__add_int(t->btf, name && *name ? name : "?", size < 0 ? 0 : size, encoding);
}

/* Negative values have a signed form. libdw reads a one-byte 200 as -56 if it is read as signed. */
static bool enumerator_at(Dwarf_Die *die, u64 *value, bool *is_negative)
{
	Dwarf_Attribute attr;
	Dwarf_Sword with_sign;

	*is_negative = false;
	if (!dwarf_attr(die, DW_AT_const_value, &attr))
		return false;
	if (dwarf_whatform(&attr) == DW_FORM_sdata || dwarf_whatform(&attr) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&attr, &with_sign))
			return false;
		*value = with_sign;
		*is_negative = with_sign < 0;
		return true;
	}
	return number_at(die, DW_AT_const_value, value);
}

/* True if the enumeration's own integer type is signed. C++ and clang record it. */
static bool enumeration_is_signed(Dwarf_Die *die)
{
	Dwarf_Word encoding;
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attr), &type) || dwarf_peel_type(&type, &type) ||
	    dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &attr), &encoding))
		return false;
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

/*
 * True if the enumeration needs BTF's 64-bit kind, for a value that does not fit or for its sign: a 32-bit
 * enumeration is signed if one of its values is negative.
 */
static bool enumeration_is_wide(struct direct_types *t, Dwarf_Die *die, bool *is_signed)
{
	bool is_negative, any_negative = false, fits = true;
	u64 value, most = 0;
	Dwarf_Die child;

	*is_signed = enumeration_is_signed(die);
	if (dwarf_child(die, &child))
		return *is_signed;
	do {
		if (dwarf_tag(&child) != DW_TAG_enumerator || !enumerator_at(&child, &value, &is_negative))
			continue;
		any_negative |= is_negative;
		fits &= !is_negative || (s64)value >= INT32_MIN;
		if (!is_negative && value > most)
			most = value;
	} while (dwarf__spend(t->d) && !dwarf_siblingof(&child, &child));
	fits &= most <= (any_negative ? INT32_MAX : UINT32_MAX);
	*is_signed |= any_negative;
	return !fits || *is_signed != any_negative;
}

static int write_enumeration(struct direct_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_die__name(t->d, die);
	bool is_signed, wide = enumeration_is_wide(t, die, &is_signed);
	int size = dwarf_bytesize(die), err;
	Dwarf_Die child;
	u64 value;

	if (size < 0)
		size = 4;
	err = wide ? btf__add_enum64(t->btf, name, size, is_signed) : btf__add_enum(t->btf, name, size);
	if (err < 0 || dwarf_child(die, &child))
		return err;
	do {
		name = dwarf_die__name(t->d, &child);
		if (dwarf_tag(&child) != DW_TAG_enumerator || !name || !*name ||
		    !enumerator_at(&child, &value, &is_signed))
			continue;
		if (wide)
			btf__add_enum64_value(t->btf, name, value);
		else
			btf__add_enum_value(t->btf, name, value);
	} while (dwarf__spend(t->d) && !dwarf_siblingof(&child, &child));
	return err;
}

/* Reads dimension i of an array, and the number of dimensions. Returns false if there is no such dimension. */
static bool dimension_of(Dwarf_Die *array, u32 i, u64 *elements, u32 *dimensions)
{
	Dwarf_Die child;

	*dimensions = 0;
	*elements = 0;
	if (dwarf_child(array, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type || (*dimensions)++ != i)
			continue;
		if (!number_at(&child, DW_AT_count, elements) &&
		    number_at(&child, DW_AT_upper_bound, elements))
			++*elements;
	} while (*dimensions < MOST_DIMENSIONS && !dwarf_siblingof(&child, &child));
	return i < *dimensions;
}

static int write_array(struct direct_types *t, Dwarf_Die *die, u32 dimension)
{
	u32 dimensions, element;
	u64 n;

	if (!dimension_of(die, dimension, &n, &dimensions) || n > UINT32_MAX)
		return write_unknown(t, die);
	element = dimension + 1 < dimensions ? number_of(t, die, dimension + 1) : type_of(t, die);
	return btf__add_array(t->btf, element, element, n);
}

/* Returns a bit-field's offset. Before DWARF 4 it was counted from the most significant bit. */
static u64 bits_at(Dwarf_Die *member, u64 bytes, u64 bits)
{
	u64 at, size;
	Dwarf_Die type;
	Dwarf_Attribute attr;

	if (number_at(member, DW_AT_data_bit_offset, &at))
		return at;
	if (!number_at(member, DW_AT_bit_offset, &at))
		return bytes * 8;
	if (!number_at(member, DW_AT_byte_size, &size))
		size = dwarf_formref_die(dwarf_attr(member, DW_AT_type, &attr), &type) &&
				       dwarf_bytesize(&type) > 0
			       ? dwarf_bytesize(&type)
			       : 4;
	return bytes * 8 + size * 8 - bits - at;
}

static void write_member(struct direct_types *t, Dwarf_Die *member, bool is_union)
{
	const char *name = dwarf_die__name(t->d, member);
	u64 bytes = 0, bits = 0;
	bool placed = location_of(member, &bytes);
	bool has_bits = number_at(member, DW_AT_bit_size, &bits);

	/*
	 * Skip static members, and base classes whose offset is known only at run time. In a
	 * structure with bit-fields, BTF has 24 bits for offsets.
	 */
	if (has_flag(member, DW_AT_external) || has_flag(member, DW_AT_declaration) ||
	    (!placed && !is_union && !has_bits) || bytes * 8 > 0xffffff || bits > 64)
		return;
	btf__add_field(t->btf, dwarf_tag(member) == DW_TAG_inheritance ? NULL : name,
		       type_of(t, member), bits ? bits_at(member, bytes, bits) : bytes * 8, bits);
}

static int write_structure(struct direct_types *t, Dwarf_Die *die, bool is_union)
{
	const char *name = dwarf_die__name(t->d, die);
	int size = dwarf_bytesize(die), err, n = 0;
	Dwarf_Die child;

	if (has_flag(die, DW_AT_declaration) || size < 0)
		return write_unknown(t, die);
	err = is_union ? btf__add_union(t->btf, name, size) : btf__add_struct(t->btf, name, size);
	if (err < 0 || dwarf_child(die, &child))
		return err;
	do {
		if (dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance) {
			write_member(t, &child, is_union);
			n++;
		}
	} while (n < MOST_MEMBERS && dwarf__spend(t->d) && !dwarf_siblingof(&child, &child));
	return err;
}

static int write_reference(struct direct_types *t, struct item item)
{
	if (item.dimension == REFERRED_TO)
		return btf__add_type_tag(t->btf, DWARF_REFERENCE, type_of(t, &item.die));
	return btf__add_ptr(t->btf, number_of(t, &item.die, REFERRED_TO));
}

/* Takes the item by value, since adding types moves the items. */
static int write_type(struct direct_types *t, struct item item)
{
	Dwarf_Die *die = &item.die;

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		return write_base(t, die);
	case DW_TAG_enumeration_type:
		return write_enumeration(t, die);
	case DW_TAG_pointer_type:
		return btf__add_ptr(t->btf, type_of(t, die));
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return write_reference(t, item);
	case DW_TAG_array_type:
		return write_array(t, die, item.dimension);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return write_structure(t, die, false);
	case DW_TAG_union_type:
		return write_structure(t, die, true);
	default:
		return write_unknown(t, die);
	}
}

int direct_types__add(struct direct_types *t, u64 entry, u32 *id)
{
	Dwarf_Die type;

	if (!dwarf_offdie(t->d->dwarf, entry, &type) || !dwarf_die__peel(&type))
		return -ENOENT;
	t->d->budget = DWARF_MAX_STEPS + 16 * t->d->entries;
	*id = number_of(t, &type, 0);
	if (!*id)
		return -E2BIG;
	for (; t->written < t->n; t->written++)
		if (write_type(t, t->item[t->written]) < 0 &&
		    write_unknown(t, &t->item[t->written].die) < 0)
			return -ENOMEM;
	return 0;
}

#endif /* HAVE_LIBDW */
