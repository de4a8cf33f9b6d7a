// SPDX-License-Identifier: BSD-2-Clause
#include "agg/variable.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "base/types.h"

static void *find(const struct bpf_object *obj, const char *section, const char *name,
		  u32 *var_size)
{
	const struct btf *btf = bpf_object__btf(obj);
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const struct btf_var_secinfo *var = type ? btf_var_secinfos(type) : NULL;
	struct bpf_map *map = bpf_object__find_map_by_name(obj, section);
	char *memory;
	size_t size;
	u32 i;

	/* const in some versions of libbpf, but it is the same writable memory that skeletons expose. */
	memory = map ? (char *)bpf_map__initial_value(map, &size) : NULL;
	for (i = 0; memory && var && i < btf_vlen(type); i++, var++)
		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, var->type)->name_off), name)) {
			*var_size = var->size;
			return memory + var->offset;
		}
	return NULL;
}

void *object_variable(const struct bpf_object *obj, const char *section, const char *name)
{
	u32 size;

	return find(obj, section, name, &size);
}

int object_set_bytes(const struct bpf_object *obj, const char *name, const void *value,
		     size_t size)
{
	u32 real_size;
	void *memory = find(obj, ".rodata", name, &real_size);

	if (!memory || real_size != size)
		return -ENOENT;
	memcpy(memory, value, size);
	return 0;
}
