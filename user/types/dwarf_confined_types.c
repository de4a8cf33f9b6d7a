// SPDX-License-Identifier: BSD-2-Clause
/* Types of programs, from the process that reads them (types/dwarf_server.c), as untrusted BTF. */
#include "types/dwarf_wire.h"

#ifdef HAVE_LIBDW

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "types/dwarf_libdw.h"

/* Each answer has all types so far. Earlier versions are kept, since callers still use their types. */
struct types_version {
	struct types_version *former;
	struct btf *btf;
};

struct dwarf_types {
	struct dwarf *d;
	struct direct_types *direct;    /* if the files are read directly */
	struct types_version *latest;
};

int dwarf_types__new(struct dwarf_types **out, struct dwarf *d)
{
	struct dwarf_types *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	if (!err && !d->is_confined)
		err = direct_types__new(&t->direct, d);
	if (err) {
		free(t);
		return err;
	}
	t->d = d;
	*out = t;
	return 0;
}

/* True if a chain of nested arrays ends. */
static bool array_ends(const struct btf *btf, const struct btf_type *type)
{
	u32 depth;

	for (depth = 0; type && depth < DWARF_MAX_DEPTH; depth++) {
		if (!btf_is_array(type))
			return true;
		type = btf__type_by_id(btf, btf_array(type)->type);
	}
	return false;
}

/* True if our server generates types of this kind, and the references are valid. */
static bool is_sound(const struct btf *btf, const struct btf_type *type)
{
	u32 most = btf__type_cnt(btf), i;

	if (!btf__name_by_offset(btf, type->name_off))
		return false;
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
		return type->type < most;
	case BTF_KIND_ARRAY:
		return btf_array(type)->index_type < most && array_ends(btf, type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (i = 0; i < btf_vlen(type); i++)
			if (btf_members(type)[i].type >= most ||
			    !btf__name_by_offset(btf, btf_members(type)[i].name_off))
				return false;
		return true;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* Both layouts have the name at the same offset, but differ in size. */
		for (i = 0; i < btf_vlen(type); i++)
			if (!btf__name_by_offset(btf, btf_is_enum(type)
							      ? btf_enum(type)[i].name_off
							      : btf_enum64(type)[i].name_off))
				return false;
		return true;
	case BTF_KIND_TYPE_TAG:         /* a reference; never nested */
		return type->type < most &&
		       btf_kind(btf__type_by_id(btf, type->type)) != BTF_KIND_TYPE_TAG;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return true;
	default:
		return false;
	}
}

static struct btf *take_types(const void *data, u64 size)
{
	struct btf *btf = size <= UINT32_MAX ? btf__new(data, size) : NULL;
	u32 i;

	if (!btf)
		return NULL;
	for (i = 1; i < btf__type_cnt(btf); i++) {
		if (!is_sound(btf, btf__type_by_id(btf, i))) {
			btf__free(btf);
			return NULL;
		}
	}
	return btf;
}

static int take_version(struct dwarf_types *t, struct unwire *u, u32 *id)
{
	u64 number = unwire__number(u), size;
	void *data = unwire__array(u, &size, 1);
	struct types_version *v = calloc(1, sizeof(*v));

	if (v && data && !u->err)
		v->btf = take_types(data, size);
	free(data);
	if (!v || !v->btf || number >= btf__type_cnt(v->btf)) {
		if (v)
			btf__free(v->btf);
		free(v);
		return v ? u->err ?: -EBADMSG : -ENOMEM;
	}
	v->former = t->latest;
	t->latest = v;
	*id = number;
	return 0;
}

int dwarf_types__add(struct dwarf_types *t, u64 entry, u32 *id)
{
	struct wire w = {};
	struct unwire u;
	void *data;
	int err;

	if (t->direct)
		return direct_types__add(t->direct, entry, id);
	wire__number(&w, entry);
	err = dwarf__ask(t->d, ASK_TYPE, &w, &data, &u);
	if (err)
		return err;
	err = take_version(t, &u, id);
	free(data);
	return err;
}

const struct btf *dwarf_types__btf(const struct dwarf_types *t)
{
	if (t->direct)
		return direct_types__btf(t->direct);
	return t->latest ? t->latest->btf : NULL;
}

void dwarf_types__free(struct dwarf_types *t)
{
	struct types_version *v;

	if (!t)
		return;
	while ((v = t->latest)) {
		t->latest = v->former;
		btf__free(v->btf);
		free(v);
	}
	if (t->direct)
		direct_types__free(t->direct);
	free(t);
}

#endif /* HAVE_LIBDW */
