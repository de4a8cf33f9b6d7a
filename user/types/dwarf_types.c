// SPDX-License-Identifier: BSD-2-Clause
/* Types of variables as text, and the kinds of their values. */
#ifdef HAVE_LIBDW

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "types/dwarf_libdw.h"

/* A type's text, truncated at a readable length. */
struct text {
	const struct dwarf *d;
	bool is_c;              /* include keywords in type names */
	char *at;
	size_t size, n;
};

static void put(struct text *t, const char *s)
{
	size_t len = strlen(s);

	if (len >= t->size - t->n)
		len = t->size - t->n - 1;
	memcpy(t->at + t->n, s, len);
	t->n += len;
	t->at[t->n] = 0;
}

/* Returns the type that an entry refers to, or NULL for void. */
static Dwarf_Die *type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), type);
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Strips typedefs and qualifiers. Returns NULL for void and for an endless chain. */
static Dwarf_Die *peel(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die *t = type_of(die, type);
	u32 depth;

	for (depth = 0; t && depth < DWARF_MAX_DEPTH; depth++) {
		if (dwarf_tag(t) != DW_TAG_typedef && !is_qualifier(dwarf_tag(t)))
			return t;
		t = type_of(t, type);
	}
	return NULL;
}

static u64 element_count(Dwarf_Die *range)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	if (!dwarf_formudata(dwarf_attr_integrate(range, DW_AT_count, &attr), &n))
		return n;
	if (!dwarf_formudata(dwarf_attr_integrate(range, DW_AT_upper_bound, &attr), &n))
		return n + 1;
	return 0;
}

/*
 * Returns the number of elements of an array over all dimensions, or 0 if unknown. Appends the dimensions to t, if
 * not NULL.
 */
static u64 array_elements(Dwarf_Die *array, struct text *t)
{
	u32 dimensions = 0;
	u64 n = 1, count;
	Dwarf_Die child;
	char number[32];

	if (dwarf_child(array, &child))
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		count = element_count(&child);
		if (__builtin_mul_overflow(n, count, &n))
			n = 0;
		if (count)
			snprintf(number, sizeof(number), "[%llu]", count);
		else
			strcpy(number, "[]");
		if (t)
			put(t, number);
	} while (++dimensions < 16 && !dwarf_siblingof(&child, &child));
	return n;
}

static void put_type(struct text *t, Dwarf_Die *type, u32 depth);

static void put_target(struct text *t, Dwarf_Die *die, u32 depth)
{
	Dwarf_Die target;

	put_type(t, type_of(die, &target), depth + 1);
}

static void put_pointer(struct text *t, Dwarf_Die *type, const char *sign, u32 depth)
{
	Dwarf_Die target;

	if (type_of(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type) {
		put_target(t, &target, depth);
		put(t, " (");
		put(t, sign);
		put(t, ")()");
		return;
	}
	put_target(t, type, depth);
	if (!t->n || !strchr("*&", t->at[t->n - 1]))
		put(t, " ");
	put(t, sign);
}

static void put_qualified(struct text *t, Dwarf_Die *type, const char *word, u32 depth)
{
	Dwarf_Die target;
	bool pointer = type_of(type, &target) && dwarf_tag(&target) == DW_TAG_pointer_type;

	if (!pointer) {
		put(t, word);
		put(t, " ");
	}
	put_target(t, type, depth);
	if (pointer)
		put(t, word);           /* "char *const" */
}

static void put_named(struct text *t, Dwarf_Die *type, const char *keyword)
{
	const char *name = dwarf_die__name(t->d, type);

	if (t->is_c || !name) {
		put(t, keyword);
		put(t, " ");
	}
	put(t, name ?: "{...}");
}

static void put_type(struct text *t, Dwarf_Die *type, u32 depth)
{
	if (!type || depth > DWARF_MAX_DEPTH) {
		put(t, type ? "..." : "void");
		return;
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
		return put_pointer(t, type, "*", depth);
	case DW_TAG_reference_type:
		return put_pointer(t, type, "&", depth);
	case DW_TAG_rvalue_reference_type:
		return put_pointer(t, type, "&&", depth);
	case DW_TAG_const_type:
		return put_qualified(t, type, "const", depth);
	case DW_TAG_volatile_type:
		return put_qualified(t, type, "volatile", depth);
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		return put_target(t, type, depth);
	case DW_TAG_structure_type:
		return put_named(t, type, "struct");
	case DW_TAG_class_type:
		return put_named(t, type, "class");
	case DW_TAG_union_type:
		return put_named(t, type, "union");
	case DW_TAG_enumeration_type:
		return put_named(t, type, "enum");
	case DW_TAG_array_type:
		put_target(t, type, depth);
		put(t, " ");
		array_elements(type, t);
		return;
	case DW_TAG_subroutine_type:
		put_target(t, type, depth);
		put(t, " ()");
		return;
	default:
		put(t, dwarf_die__name(t->d, type) ?: "?");
	}
}

/* Returns a type's size in bytes, or 0 if unknown. */
static u64 size_of(Dwarf_Die *type, u32 depth)
{
	Dwarf_Die element;
	int size = dwarf_bytesize(type);
	u64 bytes;

	if (size >= 0)
		return size;
	if (dwarf_tag(type) == DW_TAG_pointer_type)
		return sizeof(void *);
	if (dwarf_tag(type) != DW_TAG_array_type || depth > DWARF_MAX_DEPTH ||
	    !peel(type, &element) ||
	    __builtin_mul_overflow(array_elements(type, NULL), size_of(&element, depth + 1),
				   &bytes))
		return 0;
	return bytes;
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attr), &encoding);
	return encoding;
}

/* An enumeration has the signedness of its underlying type. If it has none, the constants determine the signedness. */
static enum dwarf_kind kind_of(Dwarf_Die *type)
{
	Dwarf_Die own;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return DWARF_POINTER;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return DWARF_STRUCT;
	case DW_TAG_array_type:
		return DWARF_ARRAY;
	case DW_TAG_enumeration_type:
		if (peel(type, &own) && encoding_of(&own) == DW_ATE_unsigned)
			return DWARF_UNSIGNED;
		return DWARF_SIGNED;
	case DW_TAG_base_type:
		break;
	default:
		return DWARF_OTHER;
	}
	switch (encoding_of(type)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return DWARF_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_UTF:
		return DWARF_UNSIGNED;
	default:
		return DWARF_OTHER;
	}
}

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Word encoding = encoding_of(type);

	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

int dwarf_variable__set_type(struct dwarf_variable *v, struct dwarf *d, Dwarf_Die *variable,
			     bool is_c)
{
	Dwarf_Die type, target;
	char text[256] = "";
	struct text t = { .d = d, .is_c = is_c, .at = text, .size = sizeof(text) };
	u64 size;

	put_type(&t, type_of(variable, &type), 0);
	v->type = strdup(text);
	if (!v->type)
		return -ENOMEM;
	/* Entries in the dwz(1) file have their own offsets. */
	if (type_of(variable, &type) && dwarf_cu_getdwarf(type.cu) == d->dwarf)
		v->type_entry = dwarf_dieoffset(&type);
	if (!peel(variable, &type))
		return 0;
	size = size_of(&type, 0);
	v->size = size > UINT32_MAX ? 0 : size;
	v->kind = kind_of(&type);
	v->is_string = (dwarf_tag(&type) == DW_TAG_pointer_type || v->kind == DWARF_ARRAY) &&
		       peel(&type, &target) && is_char(&target);
	return 0;
}

#endif /* HAVE_LIBDW */
