// SPDX-License-Identifier: BSD-2-Clause
/*
 * btf_has: reads lines and prints those that name something that the running kernel's BTF lacks.
 *
 *   struct NAME [MEMBER]     typedef NAME [MEMBER]     enum NAME [VALUE]     enum - VALUE
 *
 * A member may be inside anonymous structs and unions of the type. "enum -" searches all enums.
 */
#include <bpf/btf.h>

#include "trigger.h"

static const struct btf *btf;

static bool has_member(uint32_t id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;
	const char *found;
	int i;

	while (t && (btf_is_typedef(t) || btf_is_mod(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_composite(t))
		return false;
	for (i = 0, m = btf_members(t); i < btf_vlen(t); i++, m++) {
		found = btf__name_by_offset(btf, m->name_off);
		if (*found ? !strcmp(found, name) : has_member(m->type, name))
			return true;
	}
	return false;
}

static bool has_value(const struct btf_type *t, const char *name)
{
	bool wide = btf_kind(t) == BTF_KIND_ENUM64;
	uint32_t offset;
	int i;

	for (i = 0; i < btf_vlen(t); i++) {
		offset = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;
		if (!strcmp(btf__name_by_offset(btf, offset), name))
			return true;
	}
	return false;
}

static bool is_enum(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_ENUM || btf_kind(t) == BTF_KIND_ENUM64;
}

/* Is the value in an enum of that name, or in any enum if the name is "-"? */
static bool enum_has(const char *name, const char *value)
{
	const struct btf_type *t;
	uint32_t id;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		t = btf__type_by_id(btf, id);
		if (!is_enum(t))
			continue;
		if (*name != '-' && strcmp(btf__name_by_offset(btf, t->name_off), name))
			continue;
		if (!*value || has_value(t, value))
			return true;
	}
	return false;
}

static bool has(const char *kind, const char *name, const char *member)
{
	int id;

	if (!strcmp(kind, "enum"))
		return enum_has(name, member);
	id = btf__find_by_name_kind(btf, name, !strcmp(kind, "typedef") ? BTF_KIND_TYPEDEF : BTF_KIND_STRUCT);
	return id > 0 && (!*member || has_member(id, member));
}

int main(void)
{
	char line[256], kind[64], name[64], member[64];

	btf = btf__load_vmlinux_btf();
	if (!btf)
		error(1, errno, "no BTF");
	while (fgets(line, sizeof(line), stdin)) {
		*member = 0;
		if (sscanf(line, "%63s %63s %63s", kind, name, member) < 2)
			error(2, 0, "%s", line);
		if (!has(kind, name, member))
			fputs(line, stdout);
	}
	return 0;
}
