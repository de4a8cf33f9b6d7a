// SPDX-License-Identifier: BSD-2-Clause
#include "types/btf_part.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the kernel's bytes ----------------------------------------------------------------------- */

/* Returns the bytes of a type's record, or 0 if unknown. */
static size_t record_size(const struct btf_type *t)
{
	size_t n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_FWD:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*t);
	case BTF_KIND_INT:
		return sizeof(*t) + sizeof(u32);
	case BTF_KIND_ENUM:
		return sizeof(*t) + n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + n * sizeof(struct btf_enum64);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + n * sizeof(struct btf_member);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(*t) + sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return sizeof(*t) + n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + sizeof(struct btf_decl_tag);
	}
	return 0;
}

static bool is_within(u32 offset, u32 size, size_t whole)
{
	return offset <= whole && size <= whole - offset;
}

static const char *string_at(const struct btf_bytes *b, u32 offset)
{
	return offset < b->strings_size ? b->strings + offset : "";
}

/* Hashes a name up to its first flavour. */
static u32 hash_name(const char *s)
{
	u32 hash = 0, i;

	for (i = 0; s[i]; i++) {
		if (i && s[i] == '_' && s[i + 1] == '_' && s[i + 2] == '_')
			break;
		hash = hash * 31 + (u8)s[i];
	}
	return (hash ^ hash >> 15) % BTF_HASHES;
}

/* Chains are in the order of ids if types are added starting with the last one. */
static void add_to_index(struct btf_bytes *b, u32 id)
{
	const struct btf_type *t = btf_bytes__type(b, id);
	u32 *first = btf_kind(t) == BTF_KIND_INT ? &b->first_int : NULL;

	if (!first && t->name_off)
		first = &b->first[hash_name(string_at(b, t->name_off))];
	if (!first)
		return;
	b->next[id] = *first;
	*first = id;
}

static int find_types(struct btf_bytes *b)
{
	size_t size;
	u32 at, id;

	b->n = 1;
	for (at = 0; at < b->types_size; at += size) {
		if (b->types_size - at < sizeof(struct btf_type))
			return -EBADMSG;
		size = record_size((const void *)(b->types + at));
		if (!size)
			return -EOPNOTSUPP;
		if (size > b->types_size - at)
			return -EBADMSG;
		b->offset[b->n++] = at;
	}
	for (id = b->n - 1; id; id--)
		add_to_index(b, id);
	return 0;
}

int btf_bytes__open(struct btf_bytes *out, const void *data, size_t size)
{
	const struct btf_header *h = data;
	struct btf_bytes b;
	size_t most;
	int err;

	if (size < sizeof(*h))
		return -EBADMSG;
	if (h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->flags)
		return -EOPNOTSUPP;
	if (h->hdr_len < sizeof(*h) || h->hdr_len > size || h->hdr_len % 4 || h->type_off % 4 ||
	    !is_within(h->type_off, h->type_len, size - h->hdr_len) ||
	    !is_within(h->str_off, h->str_len, size - h->hdr_len) || !h->str_len)
		return -EBADMSG;
	most = h->type_len / sizeof(struct btf_type) + 2;
	b = (struct btf_bytes){
		.types = (const u8 *)data + h->hdr_len + h->type_off, .types_size = h->type_len,
		.strings = (const char *)data + h->hdr_len + h->str_off, .strings_size = h->str_len,
		.offset = malloc(most * sizeof(u32)), .next = malloc(most * sizeof(u32)),
		.first = calloc(BTF_HASHES, sizeof(u32)),
	};
	err = -ENOMEM;
	if (b.offset && b.next && b.first)
		err = b.strings[0] || b.strings[b.strings_size - 1] ? -EBADMSG : find_types(&b);
	if (err)
		btf_bytes__close(&b);
	else
		*out = b;
	return err;
}

void btf_bytes__close(struct btf_bytes *b)
{
	free(b->offset);
	free(b->next);
	free(b->first);
	*b = (struct btf_bytes){};
}

const struct btf_type *btf_bytes__type(const struct btf_bytes *b, u32 id)
{
	return id && id < b->n ? (const void *)(b->types + b->offset[id]) : NULL;
}

/* Returns the first id of the chain that has all types with this name and kind. */
static u32 first_of(const struct btf_bytes *b, const char *name, u32 kind)
{
	return kind == BTF_KIND_INT ? b->first_int : b->first[hash_name(name)];
}

u32 btf_bytes__find(const struct btf_bytes *b, const char *name, u32 kind)
{
	const struct btf_type *t;
	u32 id;

	for (id = first_of(b, name, kind); id; id = b->next[id]) {
		t = btf_bytes__type(b, id);
		if (btf_kind(t) == kind && !strcmp(string_at(b, t->name_off), name))
			return id;
	}
	return 0;
}

/* --- finding them ------------------------------------------------------------------------------ */

struct search {
	const struct btf_bytes *b;
	struct btf_names *names;
	u8 *how;                /* enum kept of each id */
	u32 *todo;              /* kept types whose references have yet to be kept */
	size_t ntodo;
	u32 nkept;
	bool keeps_ids, bad;
};

enum kept {
	KEPT_NOT, KEPT,
	KEPT_FOLLOWED,          /* with the targets of its pointers, which are compared for functions */
};

static void keep(struct search *s, u32 id, enum kept how)
{
	if (id >= s->b->n)
		s->bad = true;
	else if (id && s->how[id] < how) {
		s->nkept += !s->how[id];
		s->how[id] = how;
		s->todo[s->ntodo++] = id;
	}
}

/* Also keeps types that are not wanted: functions with the name of a wanted struct, and other flavours. */
static void keep_named(struct search *s, struct btf_wanted *w)
{
	const struct btf_type *t;
	const char *name;
	u32 id;

	for (id = first_of(s->b, w->name, w->kind); id; id = s->b->next[id]) {
		t = btf_bytes__type(s->b, id);
		name = string_at(s->b, t->name_off);
		if (strncmp(name, w->name, w->length) ||
		    (name[w->length] && strncmp(name + w->length, "___", 3)))
			continue;
		w->found |= w->kind == btf_plain_kind(t) && btf_essential_length(name) == w->length;
		keep(s, id, KEPT_FOLLOWED);
	}
}

static void find_wanted(struct search *s)
{
	size_t i;
	u32 id;

	for (i = 0; i < s->names->n; i++)
		keep_named(s, &s->names->name[i]);
	/* libbpf derives the size of pointers from the integer types. */
	for (id = s->b->first_int; id; id = s->b->next[id])
		keep(s, id, KEPT_FOLLOWED);
}

static void keep_held(struct search *s, u32 id)
{
	const struct btf_type *t = btf_bytes__type(s->b, id);
	enum kept how = s->how[id];
	u32 i;

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		if (how == KEPT_FOLLOWED)
			keep(s, t->type, how);
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
		keep(s, t->type, how);
		break;
	case BTF_KIND_ARRAY:
		keep(s, btf_array(t)->type, how);
		keep(s, btf_array(t)->index_type, KEPT);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (i = 0; i < btf_vlen(t); i++)
			keep(s, btf_members(t)[i].type, KEPT);
		break;
	case BTF_KIND_FUNC_PROTO:
		keep(s, t->type, KEPT_FOLLOWED);
		for (i = 0; i < btf_vlen(t); i++)
			keep(s, btf_params(t)[i].type, KEPT_FOLLOWED);
		break;
	}
}

static bool all_found(const struct btf_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (!names->name[i].found)
			return false;
	return true;
}

/* --- writing them ------------------------------------------------------------------------------ */

struct writing {
	const struct search *s;
	struct btf_part *part;
	u8 *data;
	u32 types_size, strings_size;
};

static u32 put_string(struct writing *p, u32 offset)
{
	const char *text = string_at(p->s->b, offset);
	char *strings = (char *)p->data + sizeof(struct btf_header) + p->types_size;
	u32 to = p->strings_size, size = strlen(text) + 1;

	if (!*text)
		return 0;
	memcpy(strings + to, text, size);
	p->strings_size += size;
	return to;
}

/* Calls back for each string of a record. */
static void each_string(struct btf_type *t, void (*visit)(struct writing *p, u32 *offset), struct writing *p)
{
	u32 i, n = btf_vlen(t);

	visit(p, &t->name_off);
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (i = 0; i < n; i++)
			visit(p, &btf_members(t)[i].name_off);
		break;
	case BTF_KIND_ENUM:
		for (i = 0; i < n; i++)
			visit(p, &btf_enum(t)[i].name_off);
		break;
	case BTF_KIND_ENUM64:
		for (i = 0; i < n; i++)
			visit(p, &btf_enum64(t)[i].name_off);
		break;
	case BTF_KIND_FUNC_PROTO:
		for (i = 0; i < n; i++)
			visit(p, &btf_params(t)[i].name_off);
		break;
	}
}

static void count_string(struct writing *p, u32 *offset)
{
	p->strings_size += strlen(string_at(p->s->b, *offset)) + 1;
}

static void move_string(struct writing *p, u32 *offset)
{
	*offset = put_string(p, *offset);
}

/* Calls back for each type that a record refers to. */
static void each_type(struct btf_type *t, void (*visit)(struct writing *p, u32 *id), struct writing *p)
{
	u32 i, n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
		visit(p, &t->type);
		break;
	case BTF_KIND_ARRAY:
		visit(p, &btf_array(t)->type);
		visit(p, &btf_array(t)->index_type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (i = 0; i < n; i++)
			visit(p, &btf_members(t)[i].type);
		break;
	case BTF_KIND_FUNC_PROTO:
		visit(p, &t->type);
		for (i = 0; i < n; i++)
			visit(p, &btf_params(t)[i].type);
		break;
	case BTF_KIND_DATASEC:
		for (i = 0; i < n; i++)
			visit(p, &btf_var_secinfos(t)[i].type);
		break;
	}
}

/* Renumbers a type. A type that was not followed has no id in the part, and becomes void. */
static void move_type(struct writing *p, u32 *id)
{
	*id = *id < p->s->b->n && p->s->how[*id] ? btf_part__id(p->part, *id) : 0;
}

/* Returns the type's record, or the shortest possible record for a type that is left out. */
static const struct btf_type *record_of(const struct writing *p, u32 kernel_id)
{
	static const struct btf_type none = { .info = BTF_KIND_FWD << 24 };

	return p->s->how[kernel_id] ? btf_bytes__type(p->s->b, kernel_id) : &none;
}

static void measure(struct writing *p)
{
	u32 id;

	p->strings_size = 1;
	for (id = 1; id < p->part->n; id++) {
		const struct btf_type *t = record_of(p, p->part->kernel_id[id]);

		p->types_size += record_size(t);
		each_string((struct btf_type *)t, count_string, p);
	}
}

static void put_types(struct writing *p)
{
	u8 *to = p->data + sizeof(struct btf_header);
	u32 id;

	for (id = 1; id < p->part->n; id++) {
		const struct btf_type *t = record_of(p, p->part->kernel_id[id]);
		size_t size = record_size(t);

		memcpy(to, t, size);
		each_string((struct btf_type *)to, move_string, p);
		each_type((struct btf_type *)to, move_type, p);
		to += size;
	}
}

/* Numbers the types in the order of the kernel's ids. */
static int number_types(const struct search *s, struct btf_part *part)
{
	u32 id, last = 0;

	for (id = 1; id < s->b->n; id++)
		if (s->how[id])
			last = id;
	part->kernel_id = calloc((s->keeps_ids ? last : s->nkept) + 1, sizeof(u32));
	if (!part->kernel_id)
		return -ENOMEM;
	part->n = 1;
	for (id = 1; id <= last; id++)
		if (s->keeps_ids || s->how[id])
			part->kernel_id[part->n++] = id;
	return 0;
}

static int write_part(const struct search *s, struct btf_part *part)
{
	struct writing p = { .s = s, .part = part };
	struct btf_header *h;
	size_t all;

	if (number_types(s, part))
		return -ENOMEM;
	measure(&p);
	all = sizeof(*h) + (size_t)p.types_size + p.strings_size;
	p.data = all <= UINT32_MAX ? calloc(1, all) : NULL;
	if (!p.data)
		return -ENOMEM;
	h = (void *)p.data;
	*h = (struct btf_header){
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(*h),
		.type_len = p.types_size, .str_off = p.types_size, .str_len = p.strings_size,
	};
	p.strings_size = 1;
	put_types(&p);
	part->data = p.data;
	part->size = all;
	return 0;
}

/* True if none of the kernel's ids that libbpf receives is also an id of the part. */
static bool ids_are_apart(const struct search *s)
{
	size_t i;

	for (i = 0; i < s->names->n; i++) {
		const struct btf_wanted *w = &s->names->name[i];
		u32 id = w->by_id ? btf_bytes__find(s->b, w->name, w->kind) : 0;

		if (id && id <= s->nkept)
			return false;
	}
	return true;
}

int btf_bytes__make_part(const struct btf_bytes *b, struct btf_names *names, bool all, struct btf_part *part)
{
	struct search s = { .b = b, .names = names, .how = calloc(b->n, 1) };
	int err = -ENOMEM;

	*part = (struct btf_part){};
	/* A type is queued at most twice. */
	s.todo = malloc(2 * b->n * sizeof(*s.todo));
	if (!s.how || !s.todo)
		goto out;
	find_wanted(&s);
	while (s.ntodo)
		keep_held(&s, s.todo[--s.ntodo]);
	err = s.bad ? -EBADMSG : all && !all_found(names) ? -ENOENT : 0;
	s.keeps_ids = names->keep_ids || !ids_are_apart(&s);
	if (!err)
		err = write_part(&s, part);
	if (err)
		btf_part__free(part);
out:
	free(s.how);
	free(s.todo);
	return err;
}

/* --- its ids ----------------------------------------------------------------------------------- */

u32 btf_part__id(const struct btf_part *part, u32 kernel_id)
{
	u32 low = 1, high = part->n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (part->kernel_id[middle] < kernel_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < part->n && part->kernel_id[low] == kernel_id ? low : 0;
}

void btf_part__free(struct btf_part *part)
{
	free(part->data);
	free(part->kernel_id);
	*part = (struct btf_part){};
}
