// SPDX-License-Identifier: BSD-2-Clause
/* The types of the running kernel and its modules. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "types/btf_common.h"

static int add_module(struct kernel_types *t, const char *name)
{
	if (ARRAY_ROOM(t->module, t->nmodules))
		return -ENOMEM;
	t->module[t->nmodules] = (struct module_types){ .name = strdup(name) };
	if (!t->module[t->nmodules].name)
		return -ENOMEM;
	t->nmodules++;
	return 0;
}

/* sysfs has module BTF since 5.11. Older kernels do not expose the types of modules. */
static int find_modules(struct kernel_types *t)
{
	DIR *dir = opendir("/sys/kernel/btf");
	struct dirent *e;
	int err = 0;

	if (!dir)
		return 0;
	while (!err && (e = readdir(dir)))
		if (*e->d_name != '.' && strcmp(e->d_name, "vmlinux"))
			err = add_module(t, e->d_name);
	closedir(dir);
	return err;
}

int kernel_types__open(struct kernel_types *out)
{
	struct kernel_types t = { .vmlinux = btf__load_vmlinux_btf() };
	int err;

	if (!t.vmlinux) {
		switch (errno) {
		case EACCES:
		case EPERM:
			return -EPERM;
		case ENOMEM:
			return -ENOMEM;
		default:
			return -ENOENT;
		}
	}
	err = find_modules(&t);
	if (err)
		kernel_types__close(&t);
	else
		*out = t;
	return err;
}

void kernel_types__close(struct kernel_types *t)
{
	size_t i;

	for (i = 0; i < t->nmodules; i++) {
		btf__free(t->module[i].btf);
		free(t->module[i].name);
	}
	free(t->module);
	btf__free(t->vmlinux);
	*t = (struct kernel_types){};
}

struct kernel_types *kernel_types__on_first_use(struct kernel_types *t)
{
	if (!t->is_tried && kernel_types__open(t))
		*t = (struct kernel_types){};
	t->is_tried = true;
	return t->vmlinux ? t : NULL;
}

/* Returns NULL if the module has no readable BTF, or has been unloaded. */
static const struct btf *read_module(struct kernel_types *t, struct module_types *m)
{
	if (!m->btf)
		m->btf = btf__load_module_btf(m->name, t->vmlinux);
	return m->btf;
}

/* A name without its keyword, and a mask of the kinds it may have. */
struct sought {
	const char *name;
	u64 kinds;
};

#define KIND(k) (1ULL << BTF_KIND_##k)
#define ENUMS (KIND(ENUM) | KIND(ENUM64))

static struct sought read_name(const char *name)
{
	static const struct sought keywords[] = {
		{ "struct ", KIND(STRUCT) },
		{ "union ", KIND(UNION) },
		{ "enum ", ENUMS },
		{ "typedef ", KIND(TYPEDEF) },
	};
	size_t i, n;

	name += strspn(name, " ");
	for (i = 0; i < ARRAY_SIZE(keywords); i++) {
		n = strlen(keywords[i].name);
		if (!strncmp(name, keywords[i].name, n))
			return (struct sought){ name + n + strspn(name + n, " "),
						keywords[i].kinds };
	}
	return (struct sought){
		name, KIND(STRUCT) | KIND(UNION) | ENUMS | KIND(TYPEDEF) | KIND(INT),
	};
}

/* Searches the types of one BTF, excluding its base. */
static int find_in(const struct btf *btf, const char *module, const struct sought *s,
		   struct kernel_type_list *found)
{
	const struct btf *base = btf__base_btf(btf);
	u32 id = base ? btf__type_cnt(base) : 1, end = btf__type_cnt(btf);

	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!(s->kinds >> btf_kind(t) & 1) || strcmp(btf_name(btf, t->name_off), s->name))
			continue;
		/* An enum without values is a forward declaration. */
		if (btf_is_any_enum(t) && !btf_vlen(t))
			continue;
		if (ARRAY_ROOM(found->type, found->n))
			return -ENOMEM;
		found->type[found->n++] = (struct kernel_type){ btf, id, module };
	}
	return 0;
}

int kernel_types__find(struct kernel_types *t, const char *name, struct kernel_type_list *out)
{
	struct sought s = read_name(name);
	struct kernel_type_list found = {};
	const struct btf *btf;
	size_t i;
	int err;

	if (!*s.name)
		return -ENOENT;
	err = find_in(t->vmlinux, NULL, &s, &found);
	for (i = 0; i < t->nmodules && !err && !found.n; i++) {
		btf = read_module(t, &t->module[i]);
		if (btf)
			err = find_in(btf, t->module[i].name, &s, &found);
	}
	if (!err && !found.n)
		err = -ENOENT;
	if (err)
		kernel_type_list__free(&found);
	else
		*out = found;
	return err;
}

void kernel_type_list__free(struct kernel_type_list *l)
{
	free(l->type);
	*l = (struct kernel_type_list){};
}

int kernel_types__function(struct kernel_types *t, const char *name, const char *module,
			   struct kernel_type *found)
{
	const struct sought s = { name, KIND(FUNC) };
	struct kernel_type_list list = {};
	const struct btf *btf = module ? NULL : t->vmlinux;
	size_t i;
	int err;

	for (i = 0; module && i < t->nmodules; i++)
		if (!strcmp(t->module[i].name, module))
			btf = read_module(t, &t->module[i]);
	if (!btf)
		return -ENOENT;
	err = find_in(btf, module, &s, &list);
	if (!err && !list.n)
		err = -ENOENT;
	if (!err)
		*found = list.type[0];
	kernel_type_list__free(&list);
	return err;
}

/* __traceiter_NAME() has argument names. It exists since 5.10 (commit d25e37d89dd2), but BTF may lack it. */
int kernel_types__tracepoint(struct kernel_types *t, const char *name, struct kernel_type *found)
{
	struct kernel_type_list list = {};
	char text[160];
	int err;

	snprintf(text, sizeof(text), "typedef btf_trace_%s", name);
	err = kernel_types__find(t, text, &list);
	if (err)
		return err;
	*found = list.type[0];
	snprintf(text, sizeof(text), "__traceiter_%s", name);
	kernel_types__function(t, text, found->module, found);
	kernel_type_list__free(&list);
	return 0;
}

int kernel_types__names(const struct kernel_types *t, const char ***names, size_t *n)
{
	const struct sought s = read_name("");
	u32 id, end = btf__type_cnt(t->vmlinux);
	const char **list = calloc(end, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (id = 1; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(t->vmlinux, id);

		if (s.kinds >> btf_kind(type) & 1 && *btf_name(t->vmlinux, type->name_off))
			list[count++] = btf_name(t->vmlinux, type->name_off);
	}
	*names = list;
	*n = count;
	return 0;
}
