// SPDX-License-Identifier: BSD-2-Clause
/* Layouts of the kernel's types. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "events/list/list.h"
#include "report/diag.h"
#include "types/btf.h"

/* One line of the answer. */
struct line {
	char *type, *name;
	const char *module;
	u64 bit_offset, size, value;
	u32 bits, depth;
	bool is_member, is_value, is_signed;
};

struct lines {
	struct line *line;
	size_t n;
};

/* Takes ownership of the line's texts. */
static int add_line(struct lines *l, const struct line *line)
{
	int err = line->type && line->name ? ARRAY_APPEND(l->line, l->n, *line) : -ENOMEM;

	if (err) {
		free(line->type);
		free(line->name);
	}
	return err;
}

static void lines__free(struct lines *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->line[i].type);
		free(l->line[i].name);
	}
	free(l->line);
}

static int add_layout(struct lines *l, const struct type_layout *from, u32 depth)
{
	size_t i;
	int err = 0;

	for (i = 0; i < from->n && !err; i++) {
		const struct type_member *m = &from->member[i];

		err = add_line(l, &(struct line){
			.type = strdup(m->type), .name = strdup(m->name),
			.bit_offset = m->bit_offset, .size = m->size, .bits = m->bits,
			.depth = depth + m->depth, .is_member = true,
		});
	}
	return err;
}

static int add_values(struct lines *l, const struct enum_values *from, u32 depth)
{
	size_t i;
	int err = 0;

	for (i = 0; i < from->n && !err; i++)
		err = add_line(l, &(struct line){
			.type = strdup(""), .name = strdup(from->value[i].name),
			.value = from->value[i].value, .is_value = true,
			.is_signed = from->is_signed, .depth = depth,
		});
	return err;
}

/* "struct sock", "typedef int pid_t" */
static char *title(const struct kernel_type *k)
{
	const struct btf_type *t = btf__type_by_id(k->btf, k->id);
	char *target, *text;
	int n;

	if (!btf_is_typedef(t))
		return btf_declaration(k->btf, k->id, "");
	target = btf_declaration(k->btf, t->type, btf__name_by_offset(k->btf, t->name_off));
	if (!target)
		return NULL;
	n = asprintf(&text, "typedef %s", target);
	free(target);
	return n < 0 ? NULL : text;
}

/* "typedef struct foo foo": the struct is also listed under its own name. */
static bool is_listed_too(const struct kernel_type *k, const struct kernel_type_list *all)
{
	const struct btf_type *t = btf__type_by_id(k->btf, k->id);
	u32 id;
	size_t i;

	if (!btf_is_typedef(t) || !btf_bare_type(k->btf, k->id, &id))
		return false;
	for (i = 0; i < all->n; i++)
		if (all->type[i].btf == k->btf && all->type[i].id == id)
			return true;
	return false;
}

static int add_type(struct lines *l, const struct kernel_type *k, bool only_title, bool deep)
{
	struct type_layout layout;
	struct enum_values values;
	s64 size = btf__resolve_size(k->btf, k->id);
	int err;

	err = add_line(l, &(struct line){
		.type = title(k), .name = strdup(""), .module = k->module,
		.size = size > 0 ? size : 0,
	});
	if (err || only_title)
		return err;
	err = type_layout__read(&layout, k->btf, k->id, deep);
	if (!err) {
		err = add_layout(l, &layout, 1);
		type_layout__free(&layout);
		return err;
	}
	if (err == -EINVAL)
		err = enum_values__read(&values, k->btf, k->id);
	if (!err) {
		err = add_values(l, &values, 1);
		enum_values__free(&values);
	}
	return err == -EINVAL ? 0 : err;
}

static void put_line(struct table *t, const struct line *l, bool indent)
{
	if (l->is_member)
		table__number(t, "offset", l->bit_offset / 8);
	else
		table__none(t, "offset");
	if (l->bits)
		table__number(t, "bit", l->bit_offset % 8);
	else
		table__none(t, "bit");
	if (l->bits)
		table__number(t, "bits", l->bits);
	else
		table__none(t, "bits");
	if (l->is_value)
		table__none(t, "size");
	else
		table__number(t, "size", l->size);
	if (l->is_value && l->is_signed)
		table__signed(t, "value", l->value);
	else if (l->is_value)
		table__number(t, "value", l->value);
	else
		table__none(t, "value");
	table__number(t, "depth", l->depth);
	table__hide(t);
	table__format(t, "type", "%*s%s", indent ? 4 * (int)l->depth : 0, "", l->type);
	table__text(t, "name", l->name);
	table__text(t, "module", l->module);
	table__end(t);
}

static int put_lines(struct report *r, const struct lines *l, bool indent)
{
	struct table t = { .report = r };
	size_t i;

	for (i = 0; i < l->n; i++)
		put_line(&t, &l->line[i], indent);
	return t.err;
}

static int no_type(const struct kernel_types *types, const char *name)
{
	const char *last = strrchr(name, ' '), **names;
	size_t n;

	diag_error("--type: this kernel has no type '%s'", name);
	if (!kernel_types__names(types, &names, &n)) {
		list_hint(last ? last + 1 : name, names, n);
		free(names);
	}
	return -ENOENT;
}

int list_type(struct report *r, const struct list_request *q, const char *name, bool indent)
{
	struct kernel_type_list found = {};
	struct kernel_types types;
	struct lines lines = {};
	size_t i;
	int err = kernel_types__open(&types);

	if (err == -ENOENT) {
		diag_error("this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): its types cannot be shown");
		return -EOPNOTSUPP;
	}
	if (err) {
		diag_error("/sys/kernel/btf/vmlinux: %s", strerror(-err));
		return err;
	}
	err = kernel_types__find(&types, name, &found);
	if (err == -ENOENT)
		err = no_type(&types, name);
	for (i = 0; i < found.n && !err; i++)
		err = add_type(&lines, &found.type[i], is_listed_too(&found.type[i], &found),
			       q->deep);
	if (!err)
		err = put_lines(r, &lines, indent);
	lines__free(&lines);
	kernel_type_list__free(&found);
	kernel_types__close(&types);
	return err;
}
