// SPDX-License-Identifier: BSD-2-Clause
#include "types/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum shape_kind {
	SHAPE_UNSIGNED,
	SHAPE_SIGNED,
	SHAPE_BOOL,
	SHAPE_ADDRESS,
	SHAPE_ENUM,
	SHAPE_FLAGS,
	SHAPE_FLOAT,
	SHAPE_TEXT,             /* an array of characters */
	SHAPE_STRUCT,           /* and unions */
	SHAPE_ARRAY,            /* member[0] describes each element */
	SHAPE_BYTES,            /* raw bytes */
};

struct shape_name {
	char *name;
	u64 value;
};

struct shape {
	enum shape_kind kind;
	char *name;             /* of a member; NULL if it has none */
	u32 offset;             /* from the start of the value or, inside an array, of the element */
	u32 size;               /* in bytes; inside an array, of one element */
	u32 first_bit, bits;    /* of a bit-field; bits is 0 if it is none */
	u32 elements;
	bool is_cut;            /* truncated */
	bool is_signed;         /* SHAPE_ENUM */
	struct shape *member;
	u32 n;
	struct shape_name *names;       /* SHAPE_ENUM, SHAPE_FLAGS */
	u32 nnames;
};

/*
 * --- making a shape ----------------------------------------------------------------------------
 */

struct maker {
	u32 members;            /* number so far */
	u32 end;                /* end of the enclosing member, which nothing may exceed */
	bool no_memory;
};

static void release(struct shape *s)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		release(&s->member[i]);
	for (i = 0; i < s->nnames; i++)
		free(s->names[i].name);
	free(s->member);
	free(s->names);
	free(s->name);
}

void shape__free(struct shape *s)
{
	if (!s)
		return;
	release(s);
	free(s);
}

static void make(struct maker *m, struct shape *s, const struct c_type *type, u32 depth);

/* Adds a member, which moves the existing ones. Returns NULL at the limit, or if out of memory. */
static struct shape *add_member(struct maker *m, struct shape *s)
{
	struct shape *new;

	if (m->members == SHAPE_MEMBERS_MOST) {
		s->is_cut = true;
		return NULL;
	}
	new = ARRAY_ADD(s->member, s->n);
	if (new)
		m->members++;
	else
		m->no_memory = true;
	return new;
}

static void make_struct(struct maker *m, struct shape *s, const struct btf *btf,
			const struct btf_type *b, u32 depth)
{
	const struct btf_member *member = btf_members(b);
	struct c_type type;
	struct shape *new;
	const char *name;
	u64 bit;
	u32 i;

	s->kind = SHAPE_STRUCT;
	for (i = 0; i < btf_vlen(b); i++) {
		bit = btf_member_bit_offset(b, i);
		if (s->offset + bit / 8 >= m->end || depth == SHAPE_DEPTH_MOST) {
			s->is_cut = true;
			return;
		}
		new = add_member(m, s);
		if (!new)
			return;
		name = btf__name_by_offset(btf, member[i].name_off);
		new->name = name && *name ? strdup(name) : NULL;
		m->no_memory |= name && *name && !new->name;
		new->offset = s->offset + bit / 8;
		new->bits = btf_member_bitfield_size(b, i);
		new->first_bit = new->bits ? bit % 8 : 0;
		type = c_type__of(btf, member[i].type);
		make(m, new, &type, depth + 1);
	}
}

int shape__add_name(struct shape *s, const char *name, u64 value)
{
	char *copy;

	if (ARRAY_ROOM(s->names, s->nnames))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	s->names[s->nnames++] = (struct shape_name){ copy, value };
	return 0;
}

struct shape *shape__of_names(u32 size, bool is_signed)
{
	struct shape *s = calloc(1, sizeof(*s));

	if (s)
		*s = (struct shape){ .kind = SHAPE_ENUM, .size = size, .is_signed = is_signed };
	return s;
}

struct shape *shape__of_flags(u32 size)
{
	struct shape *s = shape__of_names(size, false);

	if (s)
		s->kind = SHAPE_FLAGS;
	return s;
}

static void make_enum(struct maker *m, struct shape *s, const struct btf *btf, u32 id)
{
	struct enum_values values;
	size_t i;

	s->kind = SHAPE_ENUM;
	if (enum_values__read(&values, btf, id))
		return;
	s->is_signed = values.is_signed;
	for (i = 0; i < values.n && !m->no_memory; i++)
		m->no_memory = shape__add_name(s, values.value[i].name, values.value[i].value);
	enum_values__free(&values);
}

static void make_array(struct maker *m, struct shape *s, const struct c_type *element, u32 n, u32 depth)
{
	u32 room = m->end - s->offset, end = m->end;
	u64 each = c_type__size(element);
	struct shape *new;

	s->kind = SHAPE_ARRAY;
	if (c_type__is_char(element)) {
		s->kind = SHAPE_TEXT;
	} else {
		new = each && each <= room && depth < SHAPE_DEPTH_MOST ? add_member(m, s) : NULL;
		if (!new) {
			s->is_cut = true;
			return;
		}
		new->offset = s->offset;
		m->end = s->offset + each;
		make(m, new, element, depth + 1);
		m->end = end;
	}
	/* An array without a count may have any number of elements. */
	s->is_cut = !n || each * n > room;
	s->elements = each * n > room ? room / each : n;
	s->size = each * s->elements;
}

static void make_number(struct shape *s, const struct c_type *type, const struct btf_type *b)
{
	bool is_signed;
	u32 size;

	s->kind = SHAPE_BYTES;
	if (c_type__is_pointer(type))
		s->kind = SHAPE_ADDRESS;
	else if (b && btf_is_float(b))
		s->kind = b->size == sizeof(float) || b->size == sizeof(double) ? SHAPE_FLOAT : SHAPE_BYTES;
	else if (b && btf_is_int(b) && (btf_int_encoding(b) & BTF_INT_BOOL))
		s->kind = SHAPE_BOOL;
	else if (c_type__is_number(type, &size, &is_signed))
		s->kind = is_signed ? SHAPE_SIGNED : SHAPE_UNSIGNED;
}

/* s already has its name and offset. */
static void make(struct maker *m, struct shape *s, const struct c_type *type, u32 depth)
{
	/* A bit-field may be in the last bytes, where its full type would not fit. */
	u64 size = s->bits ? (s->first_bit + s->bits + 7) / 8 : c_type__size(type), room = m->end - s->offset;
	u32 id = 0, n, end = m->end;
	const struct btf_type *b;
	struct c_type element;

	s->is_cut = size > room;
	s->size = s->is_cut ? room : size;
	m->end = s->offset + s->size;
	b = type->btf && !type->stars ? btf_bare_type(type->btf, type->id, &id) : NULL;
	if (c_type__element(type, &element, &n))
		make_array(m, s, &element, n, depth);
	else if (b && btf_is_composite(b))
		make_struct(m, s, type->btf, b, depth);
	else if (b && btf_is_any_enum(b))
		make_enum(m, s, type->btf, id);
	else
		make_number(s, type, b);
	m->end = end;
}

int shape__new(struct shape **out, const struct c_type *type)
{
	struct maker m = { .end = SHAPE_BYTES_MOST };
	struct c_type element;
	struct shape *s;
	u32 n;

	if (!c_type__is_struct(type) && !c_type__is_enum(type) && !c_type__element(type, &element, &n))
		return -EINVAL;
	if (!c_type__size(type))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	make(&m, s, type, 0);
	if (m.no_memory || !s->size) {
		shape__free(s);
		return m.no_memory ? -ENOMEM : -EINVAL;
	}
	*out = s;
	return 0;
}

u32 shape__size(const struct shape *s)
{
	return s->size;
}

static bool equal_names(const struct shape *a, const struct shape *b)
{
	u32 i;

	for (i = 0; i < a->nnames && a->nnames == b->nnames; i++)
		if (a->names[i].value != b->names[i].value || strcmp(a->names[i].name, b->names[i].name))
			return false;
	return a->nnames == b->nnames && !strcmp(a->name ?: "", b->name ?: "");
}

bool shape__equal(const struct shape *a, const struct shape *b)
{
	u32 i;

	if (a->kind != b->kind || a->offset != b->offset || a->size != b->size ||
	    a->first_bit != b->first_bit || a->bits != b->bits || a->elements != b->elements ||
	    a->is_cut != b->is_cut || a->is_signed != b->is_signed || a->n != b->n || !equal_names(a, b))
		return false;
	for (i = 0; i < a->n; i++)
		if (!shape__equal(&a->member[i], &b->member[i]))
			return false;
	return true;
}

/*
 * --- writing -----------------------------------------------------------------------------------
 */

struct writer {
	char *text;             /* SHAPE_TEXT_MOST and a NUL */
	u32 n;
	bool is_full;
	const u8 *bytes;
	u32 size;
};

static void put(struct writer *w, const char *text, u32 n)
{
	if (w->is_full || n > SHAPE_TEXT_MOST - w->n) {
		w->is_full = true;
		return;
	}
	memcpy(w->text + w->n, text, n);
	w->n += n;
}

static void puts_to(struct writer *w, const char *text)
{
	put(w, text, strlen(text));
}

/* Returns the number in memory, or the bit-field in it. */
static u64 number_of(const struct shape *s, const u8 *bytes)
{
	u32 bits = s->bits ?: 8 * s->size, n = (s->first_bit + bits + 7) / 8;
	unsigned __int128 wide = 0;

	memcpy(&wide, bytes, n < sizeof(wide) ? n : sizeof(wide));
	wide >>= s->first_bit;
	return bits < 64 ? (u64)wide & ((1ULL << bits) - 1) : (u64)wide;
}

static s64 signed_of(const struct shape *s, const u8 *bytes)
{
	u32 bits = s->bits ?: 8 * s->size, unused = bits < 64 ? 64 - bits : 0;

	return (s64)(number_of(s, bytes) << unused) >> unused;
}

static void write_enum(struct writer *w, const struct shape *s, const u8 *bytes)
{
	u64 value = s->is_signed ? (u64)signed_of(s, bytes) : number_of(s, bytes);
	char text[24];
	u32 i;

	for (i = 0; i < s->nnames; i++)
		if (s->names[i].value == value)
			return puts_to(w, s->names[i].name);
	snprintf(text, sizeof(text), s->is_signed ? "%lld" : "%llu", value);
	puts_to(w, text);
}

static void write_flags(struct writer *w, const struct shape *s, const u8 *bytes)
{
	u64 value = number_of(s, bytes), left = value, bit;
	const char *before = "";
	char text[24];
	u32 i;

	for (i = 0; i < s->nnames; i++) {
		bit = s->names[i].value;
		if (bit ? !left || (left & bit) != bit : value != 0)
			continue;
		puts_to(w, before);
		puts_to(w, s->names[i].name);
		left &= ~bit;
		before = "|";
	}
	if (!left && *before)
		return;
	snprintf(text, sizeof(text), left ? "0x%llx" : "%llu", left);
	puts_to(w, before);
	puts_to(w, text);
}

static void write_float(struct writer *w, const struct shape *s, const u8 *bytes)
{
	char text[40];
	double number;
	float narrow;

	if (s->size == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		snprintf(text, sizeof(text), "%.9g", narrow);
	} else {
		memcpy(&number, bytes, sizeof(number));
		snprintf(text, sizeof(text), "%.17g", number);
	}
	puts_to(w, text);
}

static void write_bytes(struct writer *w, const u8 *bytes, u32 size)
{
	char text[4];
	u32 i;

	puts_to(w, "<");
	for (i = 0; i < size; i++) {
		snprintf(text, sizeof(text), "%02x", bytes[i]);
		puts_to(w, text);
	}
	puts_to(w, ">");
}

/* Doubles quotes in the text. */
static void write_text(struct writer *w, const struct shape *s, const u8 *bytes)
{
	u32 i;

	puts_to(w, "\"");
	for (i = 0; i < s->size && bytes[i]; i++) {
		if (bytes[i] == '"')
			puts_to(w, "\"");
		put(w, (const char *)&bytes[i], 1);
	}
	puts_to(w, s->is_cut && i == s->size ? "\"..." : "\"");
}

static void write_number(struct writer *w, const struct shape *s, const u8 *bytes)
{
	char text[24];

	if (s->kind == SHAPE_SIGNED)
		snprintf(text, sizeof(text), "%lld", signed_of(s, bytes));
	else if (s->kind == SHAPE_ADDRESS)
		snprintf(text, sizeof(text), "0x%llx", number_of(s, bytes));
	else
		snprintf(text, sizeof(text), "%llu", number_of(s, bytes));
	if (s->kind == SHAPE_BOOL && number_of(s, bytes) < 2)
		snprintf(text, sizeof(text), "%s", number_of(s, bytes) ? "true" : "false");
	puts_to(w, text);
}

/* base is the offset of the array element that contains s, which is added to the offset in s. */
static void write_one(struct writer *w, const struct shape *s, u32 base);

static void write_struct(struct writer *w, const struct shape *s, u32 base)
{
	u32 i;

	puts_to(w, "{");
	for (i = 0; i < s->n && !w->is_full; i++) {
		if (i)
			puts_to(w, ", ");
		if (s->member[i].name) {
			puts_to(w, ".");
			puts_to(w, s->member[i].name);
			puts_to(w, "=");
		}
		write_one(w, &s->member[i], base);
	}
	puts_to(w, !s->is_cut ? "}" : s->n ? ", ...}" : "...}");
}

static void write_array(struct writer *w, const struct shape *s, u32 base)
{
	u32 i;

	puts_to(w, "[");
	for (i = 0; i < s->elements && s->n && !w->is_full; i++) {
		if (i)
			puts_to(w, ", ");
		write_one(w, s->member, base + i * s->member->size);
	}
	puts_to(w, !s->is_cut ? "]" : i ? ", ...]" : "...]");
}

static void write_one(struct writer *w, const struct shape *s, u32 base)
{
	u32 bits = s->first_bit + s->bits, size = s->bits ? (bits + 7) / 8 : s->size;
	const u8 *bytes = w->bytes + base + s->offset;
	bool is_whole = (u64)base + s->offset + size <= w->size;

	switch (s->kind) {
	case SHAPE_STRUCT:
		return write_struct(w, s, base);
	case SHAPE_ARRAY:
		return write_array(w, s, base);
	default:
		break;
	}
	/* A truncated number cannot be shown. */
	if (!is_whole || (s->is_cut && s->kind != SHAPE_TEXT))
		return puts_to(w, "...");
	switch (s->kind) {
	case SHAPE_TEXT:
		return write_text(w, s, bytes);
	case SHAPE_ENUM:
		return write_enum(w, s, bytes);
	case SHAPE_FLAGS:
		return write_flags(w, s, bytes);
	case SHAPE_FLOAT:
		return write_float(w, s, bytes);
	case SHAPE_BYTES:
		return write_bytes(w, bytes, size);
	default:
		return write_number(w, s, bytes);
	}
}

char *shape__text(const struct shape *s, const void *bytes, u32 size)
{
	struct writer w = { .bytes = bytes, .size = size };

	w.text = malloc(SHAPE_TEXT_MOST + sizeof("..."));
	if (!w.text)
		return NULL;
	write_one(&w, s, 0);
	memcpy(w.text + w.n, w.is_full ? "..." : "", w.is_full ? sizeof("...") : 1);
	return w.text;
}

/*
 * --- padding -----------------------------------------------------------------------------------
 */

static void mask_one(const struct shape *s, u32 base, u8 *mask, u32 size)
{
	u32 at = base + s->offset, bits = s->bits ?: 8 * s->size, i;

	if (s->kind == SHAPE_STRUCT) {
		for (i = 0; i < s->n; i++)
			mask_one(&s->member[i], base, mask, size);
		return;
	}
	if (s->kind == SHAPE_ARRAY) {
		for (i = 0; i < s->elements && s->n; i++)
			mask_one(s->member, base + i * s->member->size, mask, size);
		return;
	}
	for (i = s->first_bit; i < s->first_bit + bits && at + i / 8 < size; i++)
		mask[at + i / 8] |= 1 << i % 8;
}

void shape__mask(const struct shape *s, u8 *mask)
{
	memset(mask, 0, s->size);
	mask_one(s, 0, mask, s->size);
}

static void visit_texts(const struct shape *s, u32 base, void (*visit)(void *arg, u32 offset, u32 size),
			void *arg)
{
	u32 i;

	if (s->kind == SHAPE_TEXT && s->size)
		visit(arg, base + s->offset, s->size);
	if (s->kind == SHAPE_STRUCT)
		for (i = 0; i < s->n; i++)
			visit_texts(&s->member[i], base, visit, arg);
	if (s->kind == SHAPE_ARRAY && s->n)
		for (i = 0; i < s->elements; i++)
			visit_texts(s->member, base + i * s->member->size, visit, arg);
}

void shape__each_text(const struct shape *s, void (*visit)(void *arg, u32 offset, u32 size), void *arg)
{
	visit_texts(s, 0, visit, arg);
}
