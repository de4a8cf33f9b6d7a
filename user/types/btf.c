// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/btf_common.h"

/* Limit on the members of a type, including nested ones; task_struct has about 2,000. */
#define MEMBERS_MAX (1 << 20)

const struct btf_type *btf_bare_type(const struct btf *btf, u32 id, u32 *bare_id)
{
	const struct btf_type *t;
	int steps;

	for (steps = 0; id && steps < BTF_NESTING_MAX; steps++, id = t->type) {
		t = btf__type_by_id(btf, id);
		if (!t)
			return NULL;
		if (btf_is_mod(t) || btf_is_typedef(t) || btf_kind(t) == BTF_KIND_TYPE_TAG)
			continue;
		if (bare_id)
			*bare_id = id;
		return t;
	}
	return NULL;
}

static u64 size_of(const struct btf *btf, u32 id)
{
	s64 size = btf__resolve_size(btf, id);

	return size > 0 ? size : 0;
}

/* --- layouts --------------------------------------------------------------------------------- */

static int add_member(struct type_layout *l, const struct type_member *m)
{
	int err;

	if (l->n >= MEMBERS_MAX)
		return -E2BIG;
	err = m->type && m->name ? ARRAY_APPEND(l->member, l->n, *m) : -ENOMEM;
	if (err) {
		free(m->type);
		free(m->name);
	}
	return err;
}

/* The context of a member. */
struct place {
	const char *path;       /* e.g. "fault.", or "" */
	u64 bit_offset;
	u32 depth;
	bool deep;
};

static int add_members(struct type_layout *l, const struct btf *btf, const struct btf_type *t,
		       const struct place *at);

/* Returns the struct or union whose members are to be listed too, or NULL. */
static const struct btf_type *inner_type(const struct btf *btf, u32 id, bool deep)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int steps;

	if (deep)
		t = btf_bare_type(btf, id, NULL);
	/* The members of a typedef are found under its own name. */
	for (steps = 0; t && btf_is_mod(t) && steps < BTF_NESTING_MAX; steps++)
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_composite(t))
		return NULL;
	return deep || !*btf_name(btf, t->name_off) ? t : NULL;
}

static int add_one(struct type_layout *l, const struct btf *btf, const struct btf_type *whole,
		   u32 i, const struct place *at)
{
	const struct btf_member *from = btf_members(whole) + i;
	const char *name = btf_name(btf, from->name_off);
	struct type_member m = {
		.bit_offset = at->bit_offset + btf_member_bit_offset(whole, i),
		.bits = btf_member_bitfield_size(whole, i),
		.size = size_of(btf, from->type), .depth = at->depth,
	};
	struct place inside = { at->path, m.bit_offset, at->depth + 1, at->deep };
	const struct btf_type *t = inner_type(btf, from->type, at->deep);
	char *path = NULL;
	int err;

	m.type = btf_declaration(btf, from->type, "");
	if (asprintf(&m.name, "%s%s", *name ? at->path : "", name) < 0)
		m.name = NULL;
	err = add_member(l, &m);
	if (err || !t)
		return err;
	if (*name) {
		if (asprintf(&path, "%s%s.", at->path, name) < 0)
			return -ENOMEM;
		inside.path = path;
	}
	err = add_members(l, btf, t, &inside);
	free(path);
	return err;
}

static int add_members(struct type_layout *l, const struct btf *btf, const struct btf_type *t,
		       const struct place *at)
{
	int err = at->depth > BTF_NESTING_MAX ? -E2BIG : 0;
	u32 i;

	for (i = 0; i < btf_vlen(t) && !err; i++)
		err = add_one(l, btf, t, i, at);
	return err;
}

int type_layout__read(struct type_layout *out, const struct btf *btf, u32 id, bool deep)
{
	const struct btf_type *t = btf_bare_type(btf, id, NULL);
	const struct place top = { .path = "", .deep = deep };
	struct type_layout l = {};
	int err;

	if (!t || !btf_is_composite(t))
		return -EINVAL;
	l.size = t->size;
	err = add_members(&l, btf, t, &top);
	if (err)
		type_layout__free(&l);
	else
		*out = l;
	return err;
}

void type_layout__free(struct type_layout *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->member[i].type);
		free(l->member[i].name);
	}
	free(l->member);
	*l = (struct type_layout){};
}

/* --- enums ----------------------------------------------------------------------------------- */

int enum_values__read(struct enum_values *out, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_bare_type(btf, id, NULL);
	bool wide = t && btf_kind(t) == BTF_KIND_ENUM64;
	struct enum_values e = {};
	u32 i;

	if (!t || (btf_kind(t) != BTF_KIND_ENUM && !wide))
		return -EINVAL;
	e.size = t->size;
	e.value = calloc(btf_vlen(t) ?: 1, sizeof(*e.value));
	if (!e.value)
		return -ENOMEM;
	/* pahole before 1.24 (in kernels before 6.0) never sets the flag: -1 reads as 4294967295. */
	e.is_signed = btf_kflag(t);
	for (i = 0; i < btf_vlen(t); i++) {
		struct enum_value *v = &e.value[i];
		u32 name = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;

		v->name = strdup(btf_name(btf, name));
		if (!v->name) {
			enum_values__free(&e);
			return -ENOMEM;
		}
		e.n++;
		if (wide)
			v->value = btf_enum64_value(&btf_enum64(t)[i]);
		else
			v->value = (s64)btf_enum(t)[i].val;
		if (!wide && !e.is_signed)
			v->value = (u32)v->value;
	}
	*out = e;
	return 0;
}

void enum_values__free(struct enum_values *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		free(e->value[i].name);
	free(e->value);
	*e = (struct enum_values){};
}

/* --- functions ------------------------------------------------------------------------------- */

const struct btf_type *btf_find_prototype(const struct btf *btf, u32 id, u32 *proto_id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int steps;

	for (steps = 0; t && steps < BTF_NESTING_MAX; steps++) {
		if (btf_is_func_proto(t)) {
			*proto_id = id;
			return t;
		}
		if (!btf_is_func(t) && !btf_is_ptr(t) && !btf_is_typedef(t) && !btf_is_mod(t) &&
		    btf_kind(t) != BTF_KIND_TYPE_TAG)
			return NULL;
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return NULL;
}

static int read_arguments(struct function_prototype *p, const struct btf *btf,
			  const struct btf_type *proto)
{
	u32 i;

	p->argument = calloc(btf_vlen(proto) ?: 1, sizeof(*p->argument));
	if (!p->argument)
		return -ENOMEM;
	for (i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *from = btf_params(proto) + i;
		struct function_argument *a = &p->argument[p->n];

		if (!from->type) {
			p->is_variadic = true;
			return 0;
		}
		p->n++;
		a->type = btf_declaration(btf, from->type, "");
		a->name = strdup(btf_name(btf, from->name_off));
		a->size = size_of(btf, from->type);
		if (!a->type || !a->name)
			return -ENOMEM;
	}
	return 0;
}

int function_prototype__read(struct function_prototype *out, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id), *proto;
	struct function_prototype p = {};
	u32 proto_id;
	int err;

	proto = t ? btf_find_prototype(btf, id, &proto_id) : NULL;
	if (!proto)
		return -EINVAL;
	err = read_arguments(&p, btf, proto);
	if (!err) {
		p.returns = btf_declaration(btf, proto->type, "");
		p.text = btf_declaration(btf, proto_id, btf_name(btf, t->name_off));
		if (!p.returns || !p.text)
			err = -ENOMEM;
	}
	if (err)
		function_prototype__free(&p);
	else
		*out = p;
	return err;
}

void function_prototype__free(struct function_prototype *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->argument[i].type);
		free(p->argument[i].name);
	}
	free(p->argument);
	free(p->text);
	free(p->returns);
	*p = (struct function_prototype){};
}
