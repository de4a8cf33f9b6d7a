// SPDX-License-Identifier: BSD-2-Clause
#include "types/btf_names.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

size_t btf_essential_length(const char *name)
{
	size_t n = strlen(name), i;

	for (i = n; i >= 5; i--) {
		const char *s = name + i - 5;

		if (s[0] != '_' && !strncmp(s + 1, "___", 3) && s[4] != '_')
			return i - 4;
	}
	return n;
}

static int add_name(struct btf_names *names, const char *prefix, const char *name, u32 kind, bool by_id)
{
	char *text;
	size_t i;
	int err;

	if (asprintf(&text, "%s%s", prefix, name) < 0)
		return -ENOMEM;
	for (i = 0; i < names->n; i++)
		if (names->name[i].kind == kind && !strcmp(names->name[i].name, text)) {
			names->name[i].by_id |= by_id;
			free(text);
			return 0;
		}
	err = ARRAY_APPEND(names->name, names->n,
			   (struct btf_wanted){ .name = text, .length = strlen(text), .kind = kind, .by_id = by_id });
	if (err)
		free(text);
	return err;
}

void btf_names__free(struct btf_names *names)
{
	while (names->n)
		free(names->name[--names->n].name);
	free(names->name);
	*names = (struct btf_names){};
}

int btf_names__add(struct btf_names *names, const char *name, u32 kind)
{
	return add_name(names, "", name, kind, false);
}

/* Returns the name of one of the object's types, or NULL if it has none. */
static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return name && *name ? name : NULL;
}

static int add_root(struct btf_names *names, const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name = name_of(btf, t);
	char *text;
	int err;

	if (!name)
		return -EOPNOTSUPP;
	text = strndup(name, btf_essential_length(name));
	if (!text)
		return -ENOMEM;
	err = add_name(names, "", text, btf_plain_kind(t), false);
	free(text);
	return err;
}

/* Refuses flavours: the names that libbpf looks up for a function's flavour depend on its version. */
static int add_whole_name(struct btf_names *names, const char *prefix, const char *name, u32 kind)
{
	if (name[btf_essential_length(name)])
		return -EOPNOTSUPP;
	return add_name(names, prefix, name, kind, true);
}

static int add_ksyms(struct btf_names *names, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, ".ksyms", BTF_KIND_DATASEC), err = 0;
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, id) : NULL;
	u32 i;

	for (i = 0; section && i < btf_vlen(section) && !err; i++) {
		const struct btf_type *t = btf__type_by_id(btf, btf_var_secinfos(section)[i].type);
		const char *name = name_of(btf, t);

		err = name ? add_whole_name(names, "", name, btf_kind(t)) : -EOPNOTSUPP;
	}
	return err;
}

/* Returns the prefix that libbpf adds to the name of a program's target, by attach type, or NULL if it has none. */
static const char *target_prefix(const struct bpf_program *prog)
{
	switch (bpf_program__expected_attach_type(prog)) {
	case BPF_TRACE_RAW_TP:
		return "btf_trace_";
	case BPF_TRACE_ITER:
		return "bpf_iter_";
	case BPF_LSM_MAC:
		return "bpf_lsm_";
	case BPF_TRACE_FENTRY:
	case BPF_TRACE_FEXIT:
	case BPF_MODIFY_RETURN:
		return "";
	default:
		return NULL;
	}
}

static int add_targets(struct btf_names *names, const struct bpf_object *obj)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj) {
		const char *prefix = target_prefix(prog);
		const char *target = strchr(bpf_program__section_name(prog), '/');

		if (!err && prefix && target)
			err = add_whole_name(names, prefix, target + 1,
					     bpf_program__expected_attach_type(prog) ==
					     BPF_TRACE_RAW_TP ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC);
	}
	return err;
}

/* --- relocations: .BTF.ext, Documentation/bpf/btf.rst ------------------------------------------- */

struct ext_header {
	__u16 magic;
	u8 version, flags;
	u32 hdr_len, func_info_off, func_info_len, line_info_off, line_info_len, core_off, core_len;
};

struct ext_section {
	u32 name_off, n;
};

static int add_relocations(struct btf_names *names, const struct btf *btf, const u8 *data,
			   size_t size)
{
	struct bpf_core_relo relo;
	struct ext_section section;
	size_t at = 0;
	u32 record, i;
	int err = 0;

	if (size < sizeof(record))
		return size ? -EBADMSG : 0;
	memcpy(&record, data, sizeof(record));
	at += sizeof(record);
	if (record < sizeof(relo))
		return -EBADMSG;
	while (at < size && !err) {
		if (size - at < sizeof(section))
			return -EBADMSG;
		memcpy(&section, data + at, sizeof(section));
		at += sizeof(section);
		if (section.n > (size - at) / record)
			return -EBADMSG;
		for (i = 0; i < section.n && !err; i++, at += record) {
			memcpy(&relo, data + at, sizeof(relo));
			/* Later kinds compare the types that pointers point to. */
			if (relo.kind > BPF_CORE_ENUMVAL_VALUE)
				return -EOPNOTSUPP;
			names->keep_ids |= relo.kind == BPF_CORE_TYPE_ID_TARGET;
			if (relo.kind != BPF_CORE_TYPE_ID_LOCAL)
				err = add_root(names, btf, relo.type_id);
		}
	}
	return err;
}

static int add_ext(struct btf_names *names, const struct btf *btf, const u8 *data, size_t size)
{
	struct ext_header h;

	if (size < sizeof(h))
		return -EOPNOTSUPP;
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len > size ||
	    h.core_off > size - h.hdr_len || h.core_len > size - h.hdr_len - h.core_off)
		return -EOPNOTSUPP;
	return add_relocations(names, btf, data + h.hdr_len + h.core_off, h.core_len);
}

/* Returns NULL if there is no such section. */
static const u8 *find_section(const u8 *file, size_t size, const char *name, size_t *section_size)
{
	const Elf64_Ehdr *e = (const void *)file;
	const Elf64_Shdr *s, *names;
	u32 i;

	if ((uintptr_t)file % 8 || size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shoff > size || e->e_shoff % 8 ||
	    e->e_shnum > (size - e->e_shoff) / sizeof(*s) || e->e_shstrndx >= e->e_shnum)
		return NULL;
	s = (const void *)(file + e->e_shoff);
	names = &s[e->e_shstrndx];
	if (names->sh_offset > size || names->sh_size > size - names->sh_offset)
		return NULL;
	for (i = 0; i < e->e_shnum; i++, s++) {
		size_t n = strlen(name) + 1;

		if (s->sh_name > names->sh_size || names->sh_size - s->sh_name < n ||
		    memcmp(file + names->sh_offset + s->sh_name, name, n))
			continue;
		if (s->sh_offset > size || s->sh_size > size - s->sh_offset)
			return NULL;
		*section_size = s->sh_size;
		return file + s->sh_offset;
	}
	return NULL;
}

int btf_names__add_object(struct btf_names *names, const struct bpf_object *obj, const void *file,
			  size_t size)
{
	size_t btf_size, ext_size;
	const u8 *btf_bytes = find_section(file, size, ".BTF", &btf_size);
	const u8 *ext = find_section(file, size, ".BTF.ext", &ext_size);
	/* Not bpf_object__btf(): libbpf renames ksyms there when it opens an object. */
	struct btf *btf = btf_bytes && ext ? btf__new(btf_bytes, btf_size) : NULL;
	int err;

	if (!btf)
		return -EOPNOTSUPP;
	err = add_ext(names, btf, ext, ext_size);
	if (!err)
		err = add_ksyms(names, btf);
	if (!err)
		err = add_targets(names, obj);
	btf__free(btf);
	return err;
}
