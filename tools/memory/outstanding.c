// SPDX-License-Identifier: BSD-2-Clause
#include "memory/outstanding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "base/array.h"
#include "base/clock.h"
#include "report/units.h"

#include "bpf/lib/task_key.h"

/* Maximum number of functions of a stack shown in a row, from the innermost. */
#define FRAMES_IN_A_ROW 8

struct outstanding_stack {
	struct stack_id id;
	struct stack_path path;
	bool is_used;           /* used by an allocation in the last pass */
};

struct outstanding_group {
	u32 stack;              /* index into outstanding.stack */
	char name[TASK_KEY_COMM_LEN];
	u64 count;
	u64 bytes;
	u64 oldest_ns;          /* age */
};

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

static bool same_stack(const void *array, u32 index, const void *id)
{
	return !memcmp(&((const struct outstanding_stack *)array)[index].id, id,
		       sizeof(struct stack_id));
}

static int resolve(struct outstanding *o, const struct stack_id *id, struct stack_path *path)
{
	struct stack *stack = NULL;
	int err = id->hash ? stack_store__fetch(&o->stacks->store, id, &stack) : 0;

	/* Side-band records of its process may have arrived since the last poll. */
	if (!err && stack && stack->user)
		err = stacks__watch(o->stacks);
	if (!err)
		err = stack_names__resolve(&o->stacks->names, stack, o->stacks->kernel, path);
	free(stack);
	return err;
}

static int find_stack(struct outstanding *o, const struct stack_id *id, u32 *index)
{
	u64 hash = table_hash(0, id, sizeof(*id));
	s64 known = table__find(&o->by_id, hash, same_stack, o->stack, id);
	struct outstanding_stack new = { .id = *id, .is_used = true };
	int err;

	*index = known;
	if (known >= 0) {
		o->stack[known].is_used = true;
		return 0;
	}
	err = ARRAY_ROOM(o->stack, o->nstacks);
	if (!err && o->stacks)
		err = resolve(o, id, &new.path);
	if (!err)
		err = table__add(&o->by_id, hash, o->nstacks);
	if (err) {
		stack_path__free(&new.path);
		return err;
	}
	o->stack[o->nstacks] = new;
	*index = o->nstacks++;
	return 0;
}

/* Forgets the stacks that no allocation used in the last pass. */
static int drop_unused(struct outstanding *o)
{
	size_t i, n = 0;
	int err = 0;

	table__free(&o->by_id);
	o->by_id = (struct table){};
	for (i = 0; i < o->nstacks; i++) {
		if (!o->stack[i].is_used) {
			stack_path__free(&o->stack[i].path);
			continue;
		}
		o->stack[n] = o->stack[i];
		o->stack[n].is_used = false;
		err = err ?: table__add(&o->by_id, table_hash(0, &o->stack[n].id, sizeof(o->stack[n].id)), n);
		n++;
	}
	o->nstacks = n;
	return err;
}

int outstanding__begin(struct outstanding *o)
{
	struct stacks *s = o->stacks;
	size_t n;
	int err = drop_unused(o);

	o->young = 0;
	if (err || !s)
		return err;
	n = stack_store__in_maps(&s->store);
	o->turns = stack_store__is_due(&s->store, n, n > o->nstacks ? n - o->nstacks : 0) &&
		   !stack_store__begin_turn(&s->store);
	stacks__forget_ended(s);
	s->read_ns = monotonic_ns();
	return 0;
}

void outstanding__end(struct outstanding *o)
{
	if (o->turns)
		stack_store__end_turn(&o->stacks->store);
	o->turns = false;
}

/*
 * --- groups ------------------------------------------------------------------------------------
 */

struct wanted {
	const struct outstanding *o;
	const void *key;
	u32 stack;
};

static const struct stack_path *path_of(const struct outstanding *o, u32 stack)
{
	return &o->stack[stack].path;
}

static bool same_path(const struct stack_path *a, const struct stack_path *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->frame, b->frame, a->n * sizeof(*a->frame)));
}

static bool same_group(const void *array, u32 index, const void *key)
{
	const struct outstanding_group *g = &((const struct outstanding_group *)array)[index];
	const struct wanted *w = key;
	const struct outstanding *o = w->o;

	return !memcmp(o->keys + index * o->key_size, w->key, o->key_size) &&
	       (g->stack == w->stack || same_path(path_of(o, g->stack), path_of(o, w->stack)));
}

/* Stacks that look alike in the output share a group. */
static int find_group(struct outstanding *o, const void *key, u32 stack, u32 *index)
{
	const struct stack_path *path = path_of(o, stack);
	const struct wanted wanted = { o, key, stack };
	u64 hash = table_hash(table_hash(0, key, o->key_size), path->frame,
			      path->n * sizeof(*path->frame));
	s64 known = table__find(&o->by_key_and_stack, hash, same_group, o->group, &wanted);
	size_t n = o->ngroups;

	*index = known;
	if (known >= 0)
		return 0;
	if (ARRAY_ROOM(o->group, n) || array__grow(&o->keys, n, 1, o->key_size) ||
	    table__add(&o->by_key_and_stack, hash, n))
		return -ENOMEM;
	o->group[n] = (struct outstanding_group){ .stack = stack };
	memcpy(o->keys + n * o->key_size, key, o->key_size);
	*index = o->ngroups++;
	return 0;
}

int outstanding__add(struct outstanding *o, const void *key, const char *name,
		     const struct outstanding_item *item, u64 now_ns)
{
	u64 age_ns = now_ns > item->since_ns ? now_ns - item->since_ns : 0;
	struct outstanding_group *g;
	u32 stack, index;
	int err;

	/*
	 * This includes allocations that are still too young: their process, and thus its names,
	 * may be gone later.
	 */
	err = find_stack(o, &item->stack, &stack);
	if (o->turns)
		stack_store__hold(&o->stacks->store, &item->stack);
	if (!err && age_ns < o->older_ns) {
		o->young++;
		return 0;
	}
	if (!err)
		err = find_group(o, key, stack, &index);
	if (err)
		return err;
	g = &o->group[index];
	g->count++;
	add_saturating(&g->bytes, item->bytes);
	if (age_ns > g->oldest_ns)
		g->oldest_ns = age_ns;
	memcpy(g->name, name, sizeof(g->name));
	return 0;
}

static void forget_groups(struct outstanding *o)
{
	free(o->group);
	free(o->keys);
	table__free(&o->by_key_and_stack);
	o->group = NULL;
	o->keys = NULL;
	o->ngroups = 0;
	o->by_key_and_stack = (struct table){};
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static void put_frame(FILE *f, const struct report_frame *frame)
{
	if (frame->name)
		fputs(frame->name, f);
	else
		fprintf(f, "%s+0x%llx", frame->module ?: "?", frame->offset);
	if (frame->file)
		fprintf(f, " (%s:%u)", frame->file, frame->line);
}

/* "leak < work < main", allocated; NULL without memory. */
static char *stack_text(const struct outstanding *o, const struct stack_path *path)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	u32 i;

	if (!f)
		return NULL;
	for (i = 0; i < path->n && i < FRAMES_IN_A_ROW; i++) {
		fputs(i ? " < " : "", f);
		put_frame(f, &o->stacks->names.frame[path->frame[path->n - 1 - i]]);
	}
	fputs(i < path->n ? " < ..." : "", f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* stack: its text, or NULL if there are no stacks. */
static int fill_row(struct outstanding *o, const struct outstanding_group *g, const void *key, const char *stack,
		    struct report *r, size_t *nkeys)
{
	const struct field figures[] = {
		{ .name = "bytes", .number = g->bytes, .kind = FIELD_NUMBER },
		{ .name = "count", .number = g->count, .kind = FIELD_NUMBER },
		{ .name = "oldest", .number = g->oldest_ns, .kind = FIELD_DURATION, .role = ROLE_MAXIMUM },
	};
	struct report_row row = {};
	int err = o->add_key(o->context, key, g->name, &row);

	*nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = report_row__add_fields(&row, figures, ARRAY_SIZE(figures));
	if (!err && stack)
		err = report_row__add_text(&row, "stack", stack);
	return report__end_row(r, &row, err);
}

struct alike {
	const struct outstanding *o;
	size_t group;
};

static bool is_alike(const void *texts, u32 index, const void *key)
{
	char *const *text = texts;
	const struct alike *a = key;

	return !strcmp(text[index], text[a->group]) &&
	       !memcmp(a->o->keys + index * a->o->key_size, a->o->keys + a->group * a->o->key_size, a->o->key_size);
}

static void add_group(struct outstanding_group *to, struct outstanding_group *g)
{
	to->count += g->count;
	add_saturating(&to->bytes, g->bytes);
	if (g->oldest_ns > to->oldest_ns)
		to->oldest_ns = g->oldest_ns;
	g->count = 0;
}

/*
 * Sets the text of each group's stack. Since a row shows no modules and few frames, different stacks may have the same
 * text. Their groups are added to the first one, and get a count of 0.
 */
static int merge_alike(struct outstanding *o, char **text)
{
	struct table by_text = {};
	int err = 0;
	size_t i;

	for (i = 0; i < o->ngroups && !err; i++) {
		const struct alike alike = { o, i };
		s64 known;
		u64 hash;

		text[i] = stack_text(o, path_of(o, o->group[i].stack));
		if (!text[i]) {
			err = -ENOMEM;
			break;
		}
		hash = table_hash(table_hash(0, o->keys + i * o->key_size, o->key_size), text[i], strlen(text[i]));
		known = table__find(&by_text, hash, is_alike, text, &alike);
		if (known >= 0)
			add_group(&o->group[known], &o->group[i]);
		else
			err = table__add(&by_text, hash, i);
	}
	table__free(&by_text);
	return err;
}

static const char *why_nothing(struct outstanding *o)
{
	char n[UNITS_SPACE], age[UNITS_SPACE];

	if (!o->young)
		return o->nothing;
	format_value(age, o->older_ns, UNIT_NS, false);
	snprintf(o->all_young, sizeof(o->all_young), "everything outstanding is younger than %s (--older): %s %s", age,
		 format_count(n, o->young), o->young == 1 ? "allocation" : "allocations");
	return o->all_young;
}

static int add_columns(struct outstanding *o, struct report *r)
{
	static const struct outstanding_group none;
	void *key = calloc(1, o->key_size);
	size_t nkeys;
	int err = key ? fill_row(o, &none, key, o->stacks ? "" : NULL, r, &nkeys) : -ENOMEM;

	free(key);
	return report__keep_columns(r, err);
}

int outstanding__report_rows(struct outstanding *o, struct report *r, const char *order, size_t top)
{
	char **text = calloc(o->ngroups ?: 1, sizeof(*text));
	size_t i, nkeys = 0;
	int err = text ? 0 : -ENOMEM;

	r->nothing = why_nothing(o);
	r->table = true;
	r->standing = true;
	if (!err && o->stacks)
		err = merge_alike(o, text);
	for (i = 0; i < o->ngroups && !err; i++) {
		r->events += o->group[i].count;
		if (o->group[i].count)
			err = fill_row(o, &o->group[i], o->keys + i * o->key_size, text[i], r, &nkeys);
	}
	for (i = 0; text && i < o->ngroups; i++)
		free(text[i]);
	free(text);
	if (!err && !r->nrows)
		err = add_columns(o, r);
	report__sort_rows(r, order, nkeys, top);
	forget_groups(o);
	return err;
}

/* Finds the index of a group's key in out->key. Adds the fields of a new key. */
static int find_key(struct outstanding *o, struct report_stacks *out, size_t *first, size_t group,
		    u32 *index)
{
	const char *key = o->keys + group * o->key_size;
	u32 i;

	/* Searches linearly, since there are few keys: one per process or thread. */
	for (i = 0; i < out->nkeys; i++)
		if (!memcmp(o->keys + first[i] * o->key_size, key, o->key_size))
			break;
	*index = i;
	if (i < out->nkeys)
		return 0;
	first[out->nkeys++] = group;
	return o->add_key(o->context, key, o->group[group].name, &out->key[i]);
}

static int add_stacks(struct outstanding *o, struct report *r, size_t *first)
{
	struct table by_path = {};
	size_t i;
	u32 key;
	int err = 0;

	for (i = 0; i < o->ngroups && !err; i++) {
		const struct outstanding_group *g = &o->group[i];

		r->events += g->count;
		err = find_key(o, r->stacks, first, i, &key);
		if (!err)
			err = stacks__add_path(o->stacks, r, &by_path, key, 0,
					       o->by_count ? g->count : g->bytes,
					       path_of(o, g->stack));
	}
	table__free(&by_path);
	return err;
}

static int add_key_columns(struct outstanding *o, struct report *r)
{
	struct report_row row = {};
	void *key = calloc(1, o->key_size);
	int err = key ? o->add_key(o->context, key, "", &row) : -ENOMEM;

	free(key);
	return report__end_columns(r, &row, err);
}

int outstanding__report_stacks(struct outstanding *o, struct report *r, size_t top)
{
	size_t *first = calloc(o->ngroups ?: 1, sizeof(*first));
	int err = -ENOMEM;

	r->nothing = why_nothing(o);
	r->stacks = calloc(1, sizeof(*r->stacks));
	if (first && r->stacks) {
		r->stacks->key = calloc(o->ngroups ?: 1, sizeof(*r->stacks->key));
		if (r->stacks->key)
			err = add_stacks(o, r, first);
	}
	free(first);
	if (!err && !o->ngroups)
		err = add_key_columns(o, r);
	forget_groups(o);
	if (err)
		return err;
	r->unit = o->by_count ? UNIT_COUNT : UNIT_BYTES;
	r->stacks->unit = o->by_count ? "allocations" : "bytes";
	r->stacks->type = o->by_count ? "inuse_objects" : "inuse_space";
	r->stacks->frame = o->stacks->names.frame;
	r->stacks->nframes = o->stacks->names.n;
	report__sort_stacks(r, top);
	return stacks__add_notes(o->stacks, r);
}

void outstanding__free(struct outstanding *o)
{
	size_t i;

	forget_groups(o);
	for (i = 0; i < o->nstacks; i++)
		stack_path__free(&o->stack[i].path);
	free(o->stack);
	table__free(&o->by_id);
}
