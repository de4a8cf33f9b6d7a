// SPDX-License-Identifier: BSD-2-Clause
#include "types/c_type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/dwarf.h"

#define MOST_NESTED 16          /* nesting limit of anonymous members */
#define MOST_NAMELESS 1000      /* per type: debug information may contain cycles */

struct c_type c_type__integer(u32 size, bool is_signed)
{
	return (struct c_type){ .size = size, .is_signed = is_signed };
}

struct c_type c_type__of(const struct btf *btf, u32 id)
{
	return (struct c_type){ .btf = btf, .id = id };
}

struct c_type c_type__pointer_to(struct c_type t)
{
	t.stars++;
	return t;
}

/* Strips typedefs and qualifiers. Returns NULL for pointers by stars, void, and types without BTF. */
static const struct btf_type *bare(const struct c_type *t, u32 *id)
{
	return t->btf && !t->stars ? btf_bare_type(t->btf, t->id, id) : NULL;
}

bool c_type__is_pointer(const struct c_type *t)
{
	const struct btf_type *b;
	u32 id;

	if (t->stars)
		return true;
	b = bare(t, &id);
	return b && btf_is_ptr(b);
}

bool c_type__is_number(const struct c_type *t, u32 *size, bool *is_signed)
{
	const struct btf_type *b;
	u32 id;

	*is_signed = false;
	*size = 8;
	if (c_type__is_pointer(t))
		return true;
	if (!t->btf) {
		*size = t->size;
		*is_signed = t->is_signed;
		return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
	}
	b = bare(t, &id);
	if (!b || !(btf_is_int(b) || btf_is_any_enum(b)))
		return false;
	*size = b->size;
	*is_signed = btf_is_int(b) ? btf_int_encoding(b) & BTF_INT_SIGNED : btf_kflag(b);
	return b->size == 1 || b->size == 2 || b->size == 4 || b->size == 8;
}

bool c_type__is_struct(const struct c_type *t)
{
	u32 id;
	const struct btf_type *b = bare(t, &id);

	return b && btf_is_composite(b);
}

bool c_type__is_enum(const struct c_type *t)
{
	u32 id;
	const struct btf_type *b = bare(t, &id);

	return b && btf_is_any_enum(b);
}

bool c_type__is_char(const struct c_type *t)
{
	const struct btf_type *b;
	u32 id;

	if (!t->btf)
		return t->is_char && !t->stars;
	b = bare(t, &id);
	return b && btf_is_int(b) && b->size == 1 && !(btf_int_encoding(b) & BTF_INT_BOOL) &&
	       !strcmp(btf__name_by_offset(t->btf, b->name_off) ?: "", "char");
}

bool c_type__pointee(const struct c_type *t, struct c_type *to)
{
	const struct btf_type *b;
	u32 id;

	*to = *t;
	if (t->stars) {
		to->stars--;
		return to->btf ? to->stars || btf_bare_type(to->btf, to->id, &id) : to->size;
	}
	b = bare(t, &id);
	if (!b || !btf_is_ptr(b) || !btf_bare_type(t->btf, b->type, &id))
		return false;
	to->id = b->type;
	return true;
}

bool c_type__referred(const struct c_type *t, struct c_type *to)
{
	const struct btf_type *b, *tag;
	u32 id;

	b = bare(t, &id);
	tag = b && btf_is_ptr(b) ? btf__type_by_id(t->btf, b->type) : NULL;
	if (!tag || btf_kind(tag) != BTF_KIND_TYPE_TAG ||
	    strcmp(btf__name_by_offset(t->btf, tag->name_off) ?: "", DWARF_REFERENCE))
		return false;
	*to = c_type__of(t->btf, tag->type);
	return true;
}

bool c_type__element(const struct c_type *t, struct c_type *element, u32 *n)
{
	const struct btf_type *b;
	u32 id;

	b = bare(t, &id);
	if (!b || !btf_is_array(b))
		return false;
	*element = c_type__of(t->btf, btf_array(b)->type);
	*n = btf_array(b)->nelems;
	return true;
}

u64 c_type__size(const struct c_type *t)
{
	s64 size;

	if (t->stars)
		return 8;
	if (!t->btf)
		return t->size;
	size = btf__resolve_size(t->btf, t->id);
	return size < 0 ? 0 : size;
}

static bool find_member(const struct btf *btf, u32 id, const char *name, u64 offset, int nested,
			u32 *nameless, struct c_member *m)
{
	const struct btf_type *b = btf_bare_type(btf, id, &id);
	const struct btf_member *member;
	u32 i;

	if (!b || !btf_is_composite(b) || nested > MOST_NESTED || ++*nameless > MOST_NAMELESS)
		return false;
	member = btf_members(b);
	for (i = 0; i < btf_vlen(b); i++, member++) {
		const char *its = btf__name_by_offset(btf, member->name_off) ?: "";
		u64 at = offset + btf_member_bit_offset(b, i);

		if (!*its && find_member(btf, member->type, name, at, nested + 1, nameless, m))
			return true;
		if (!*its || strcmp(its, name))
			continue;
		*m = (struct c_member){ c_type__of(btf, member->type), at,
					btf_member_bitfield_size(b, i) };
		return true;
	}
	return false;
}

bool c_type__member(const struct c_type *t, const char *name, struct c_member *m)
{
	u32 nameless = 0;

	return t->btf && !t->stars && find_member(t->btf, t->id, name, 0, 0, &nameless, m);
}

static void visit_members(const struct btf *btf, u32 id, int nested, u32 *nameless,
			  void (*visit)(void *arg, const char *name), void *arg)
{
	const struct btf_type *b = btf_bare_type(btf, id, &id);
	const struct btf_member *member;
	u32 i;

	if (!b || !btf_is_composite(b) || nested > MOST_NESTED || ++*nameless > MOST_NAMELESS)
		return;
	member = btf_members(b);
	for (i = 0; i < btf_vlen(b); i++, member++) {
		const char *its = btf__name_by_offset(btf, member->name_off) ?: "";

		if (*its)
			visit(arg, its);
		else
			visit_members(btf, member->type, nested + 1, nameless, visit, arg);
	}
}

void c_type__members(const struct c_type *t, void (*visit)(void *arg, const char *name), void *arg)
{
	u32 nameless = 0;

	if (t->btf && !t->stars)
		visit_members(t->btf, t->id, 0, &nameless, visit, arg);
}

static bool enumerator_of(const struct btf *btf, const struct btf_type *b, const char *name,
			  u64 *value)
{
	u32 i;

	for (i = 0; btf_is_enum(b) && i < btf_vlen(b); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_enum(b)[i].name_off) ?: "", name))
			continue;
		*value = btf_kflag(b) ? (u64)(s64)btf_enum(b)[i].val : (u32)btf_enum(b)[i].val;
		return true;
	}
	for (i = 0; btf_is_enum64(b) && i < btf_vlen(b); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_enum64(b)[i].name_off) ?: "", name))
			continue;
		*value = btf_enum64_value(&btf_enum64(b)[i]);
		return true;
	}
	return false;
}

bool c_type__enumerator(const struct c_type *t, const char *name, u64 *value)
{
	u32 id;
	const struct btf_type *b = bare(t, &id);

	return b && enumerator_of(t->btf, b, name, value);
}

bool btf_enumerator(const struct btf *btf, const char *name, u64 *value)
{
	u32 id, n = btf__type_cnt(btf);

	for (id = 1; id < n; id++)
		if (enumerator_of(btf, btf__type_by_id(btf, id), name, value))
			return true;
	return false;
}

char *c_type__text(const struct c_type *t)
{
	char *base, *text = NULL;
	u32 i;

	if (t->btf)
		base = btf_declaration(t->btf, t->id, "");
	else if (asprintf(&base, "%c%u", t->is_signed ? 's' : 'u', 8 * t->size) < 0)
		base = NULL;
	if (!base)
		return NULL;
	text = malloc(strlen(base) + t->stars + 2);
	if (text) {
		strcpy(text, base);
		if (t->stars && base[strlen(base) - 1] != '*')
			strcat(text, " ");
		for (i = 0; i < t->stars; i++)
			strcat(text, "*");
	}
	free(base);
	return text;
}

static bool integer_by_name(const char *name, struct c_type *t)
{
	static const struct {
		const char *name;
		u32 size;
		bool is_signed;
	} types[] = {
		{ "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false }, { "u64", 8, false },
		{ "s8", 1, true }, { "s16", 2, true }, { "s32", 4, true }, { "s64", 8, true },
		{ "x8", 1, false }, { "x16", 2, false }, { "x32", 4, false }, { "x64", 8, false },
		{ "char", 1, true }, { "signed char", 1, true }, { "unsigned char", 1, false },
		{ "bool", 1, false }, { "short", 2, true }, { "unsigned short", 2, false },
		{ "int", 4, true }, { "unsigned int", 4, false }, { "unsigned", 4, false },
		{ "long", 8, true }, { "unsigned long", 8, false }, { "long long", 8, true },
		{ "unsigned long long", 8, false }, { "size_t", 8, false }, { "ssize_t", 8, true },
		{ "pid_t", 4, true }, { "uintptr_t", 8, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, name))
			continue;
		*t = c_type__integer(types[i].size, types[i].is_signed);
		t->is_char = !strcmp(name, "char");
		return true;
	}
	return false;
}

int c_type__find_kernel(struct c_type *t, void *arg, const char *name)
{
	struct kernel_type_list found;
	int err;

	err = kernel_types__find(arg, name, &found);
	if (err)
		return err;
	*t = c_type__of(found.type[0].btf, found.type[0].id);
	kernel_type_list__free(&found);
	return 0;
}

int c_type__parse(struct c_type *t, c_type_find find, void *arg, const char *text)
{
	char *name = strdup(text), *bare;
	u32 stars = 0;
	size_t n;
	int err;

	if (!name)
		return -ENOMEM;
	for (n = strlen(name); n && strchr(" *\t", name[n - 1]); n--)
		stars += name[n - 1] == '*';
	name[n] = 0;
	bare = strncmp(name, "const ", 6) ? name : name + 6;
	if (integer_by_name(bare, t))
		err = 0;
	else
		err = find ? find(t, arg, bare) : -ENOENT;
	if (!err)
		t->stars += stars;
	free(name);
	return err;
}
