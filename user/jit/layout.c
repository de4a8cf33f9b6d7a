// SPDX-License-Identifier: BSD-2-Clause
#include "jit/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/errno_name.h"

/* include/linux/err.h: results from -MAX_ERRNO to -1 are errors. */
#define MAX_ERRNO 4095

#include "bpf/lib/probe.h"
#include "host/cgroup.h"

void layout_field__free(struct layout_field *f)
{
	shape__free(f->shape);
	free(f->name);
}

void layout_names__free(struct layout_names *names)
{
	symbols__free(names->symbols);
	free(names->cgroup_path);
	names->symbols = NULL;
	names->cgroup_path = NULL;
}

static u64 number_at(const struct layout_field *f, const void *bytes)
{
	u64 wide = 0;
	u32 narrow;

	if (f->size == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return f->kind == LAYOUT_SIGNED || f->kind == LAYOUT_ERRNO ? (u64)(s64)(int)narrow : narrow;
	}
	if (f->size == sizeof(wide))
		memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

static char *hex_text(u64 number)
{
	char *text;

	return asprintf(&text, "0x%llx", number) < 0 ? NULL : text;
}

static char *symbol_text(struct layout_names *names, u64 address)
{
	struct symbol found = {};
	char *text;
	int n;

	if (!names->symbols && symbols__new(&names->symbols))
		names->symbols = NULL;
	if (!names->symbols || symbols__kernel(names->symbols, address, &found) || !found.name)
		return hex_text(address);
	n = found.offset ? asprintf(&text, "%s+0x%llx", found.name, found.offset) :
			   asprintf(&text, "%s", found.name);
	return n < 0 ? NULL : text;
}

static char *cgroup_text(struct layout_names *names, u64 id)
{
	char *text;

	if (!names->cgroup_path || names->cgroup != id) {
		free(names->cgroup_path);
		names->cgroup = id;
		names->cgroup_path = cgroup__path(names->hierarchy, id);
	}
	if (names->cgroup_path)
		return strdup(names->cgroup_path);
	return asprintf(&text, "(removed, id %llu)", id) < 0 ? NULL : text;
}

/* Returns the name of the container or the unit of a cgroup. */
static char *group_text(struct layout_names *names, enum layout_kind kind, u64 id)
{
	const struct cgroup_name *n = cgroup_names__find(names->cgroups, id);

	return n ? strdup(kind == LAYOUT_CONTAINER ? n->container : n->unit) : NULL;
}

static char *address_text(struct layout_names *names, u64 address)
{
	return names->name_address ? names->name_address(names->name_arg, address) : hex_text(address);
}

static char *errno_text(s64 result)
{
	const char *name = result < 0 && result >= -MAX_ERRNO ? errno_name(-result) : NULL;
	char *text;

	if (name)
		return strdup(name);
	return asprintf(&text, "%lld", result) < 0 ? NULL : text;
}

/* Splits the number like MAJOR() and MINOR() of include/linux/kdev_t.h. */
static char *device_text(u64 device)
{
	char *text;

	return asprintf(&text, "%llu:%llu", device >> 20, device & 0xfffff) < 0 ? NULL : text;
}

static char *event_text(const struct layout_names *names, u64 number)
{
	char *text;

	if (number < names->nevents)
		return strdup(names->event[number]);
	return asprintf(&text, "%llu", number) < 0 ? NULL : text;
}

/* A text that fills its field was truncated, or has exactly that length, as in streams. */
static char *key_text(const char *bytes, u32 size)
{
	size_t n = strnlen(bytes, size);
	char *text;

	if (n < PROBE_TEXT_MOST - 1)
		return strndup(bytes, n);
	return asprintf(&text, "%.*s...", (int)n, bytes) < 0 ? NULL : text;
}

int layout_field__show(struct field *out, const struct layout_field *f, const void *bytes,
		       struct layout_names *names)
{
	struct field new = { .name = f->name };

	if (f->kind < LAYOUT_TEXT)
		new.number = number_at(f, bytes);
	switch (f->kind) {
	case LAYOUT_UNSIGNED:
		break;
	case LAYOUT_SIGNED:
		new.kind = FIELD_SIGNED;
		break;
	case LAYOUT_ID:
		new.kind = FIELD_ID;
		break;
	case LAYOUT_TIME:
		new.kind = FIELD_TIME;
		break;
	case LAYOUT_HEX:
		new.word = true;
		new.text = hex_text(new.number);
		break;
	case LAYOUT_SYMBOL:
		new.word = true;
		new.text = symbol_text(names, new.number);
		break;
	case LAYOUT_EVENT:
		new.text = event_text(names, new.number);
		break;
	case LAYOUT_DEVICE:
		new.word = true;
		new.text = device_text(new.number);
		break;
	case LAYOUT_ERRNO:
		new.word = true;
		new.text = errno_text(new.number);
		break;
	case LAYOUT_CGROUP:
		new.text = cgroup_text(names, new.number);
		break;
	case LAYOUT_CONTAINER:
	case LAYOUT_UNIT:
		new.text = group_text(names, f->kind, new.number);
		break;
	case LAYOUT_USER_SYMBOL:
		new.word = true;
		new.text = address_text(names, new.number);
		break;
	case LAYOUT_TEXT:
		new.text = key_text(bytes, f->size);
		break;
	case LAYOUT_VALUE:
	case LAYOUT_ENUM:
		new.word = true;
		new.text = shape__text(f->shape, bytes, f->size);
		break;
	}
	if (f->kind >= LAYOUT_SYMBOL || f->kind == LAYOUT_HEX) {
		if (!new.text)
			return -ENOMEM;
		new.number = 0;
	}
	*out = new;
	return 0;
}

static int add_cell(struct report_row *row, struct field *f)
{
	int err = report_row__add_field(row, f);

	if (err)
		free(f->text);
	return err;
}

/*
 * --- cgroups with the same name ----------------------------------------------------------------
 */

/* Returns the names by which cgroups are merged: enum cgroup_names_part, ORed. */
static u32 merged_parts(const struct layout *l)
{
	u32 parts = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		parts |= l->field[i].kind == LAYOUT_CONTAINER ? CGROUP_CONTAINER :
			 l->field[i].kind == LAYOUT_UNIT ? CGROUP_UNIT : 0;
	return parts;
}

bool layout__merges(const struct layout *l)
{
	return merged_parts(l);
}

int layout__merge_key(const struct layout *l, void *key, struct layout_names *names)
{
	u32 parts = merged_parts(l);
	char *bytes = key;
	int err = 0;
	size_t i;
	u64 id;

	for (i = 0; i < l->n && !err; i++) {
		if (l->field[i].kind != LAYOUT_CONTAINER && l->field[i].kind != LAYOUT_UNIT)
			continue;
		memcpy(&id, bytes + l->field[i].offset, sizeof(id));
		err = cgroup_names__first(names->cgroups, id, parts, &id);
		memcpy(bytes + l->field[i].offset, &id, sizeof(id));
	}
	return err;
}

size_t layout__ncells(const struct layout *l)
{
	size_t n = l->n + l->has_name, i;

	for (i = 0; i < l->n; i++)
		n += l->field[i].kind == LAYOUT_CONTAINER;
	return n;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* Adds the id for machine-readable output only; text output shows only the name. As in cli/task_key.c. */
static int add_container_id(struct report_row *row, const struct layout_field *of, const char *key,
			    struct layout_names *names)
{
	struct field f = { .name = "container_id", .role = ROLE_LABEL, .machine = true };
	const struct cgroup_name *n = cgroup_names__find(names->cgroups, number_at(of, key + of->offset));

	f.text = n ? strdup(n->has_several ? "several" : n->container_id) : NULL;
	return f.text ? add_cell(row, &f) : -ENOMEM;
}

/* Returns the last pid or tid field, or the number of fields if there is none: the name then goes last. */
static size_t task_field(const struct layout *l)
{
	size_t i, last = l->n;

	for (i = 0; i < l->n; i++)
		if (!strcmp(l->field[i].name, "pid") || !strcmp(l->field[i].name, "tid"))
			last = i;
	return last;
}

static int add_name(struct report_row *row, const char *name)
{
	struct field f = { .name = "comm", .role = ROLE_LABEL };

	f.text = strndup(name, HIST_NAME_LEN);
	return f.text ? add_cell(row, &f) : -ENOMEM;
}

int layout__add_cells(struct report_row *row, const struct layout *l, const void *key,
		      const char *name, struct layout_names *names)
{
	size_t named = l->has_name ? task_field(l) : SIZE_MAX, i;
	struct field f;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		err = layout_field__show(&f, &l->field[i], (const char *)key + l->field[i].offset,
					 names);
		if (!err)
			err = add_cell(row, &f);
		if (!err && l->field[i].kind == LAYOUT_CONTAINER)
			err = add_container_id(row, &l->field[i], key, names);
		if (!err && i == named)
			err = add_name(row, name);
	}
	if (!err && named == l->n)
		err = add_name(row, name);
	report_row__end_key(row);
	if (err)
		report_row__free(row);
	return err;
}
