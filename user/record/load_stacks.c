// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of a report. Each frame is loaded once, and remains until the store is closed. */
#include "record/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#ifdef HAVE_SQLITE

#define MOST_FRAMES 3072        /* per stack */

static bool same_frame(const void *array, u32 index, const void *key)
{
	return ((const struct store_frame *)array)[index].id == *(const s64 *)key;
}

static char *text_or_null(struct store *s, sqlite3_stmt *row, int index)
{
	char *text = store__column_text(s, row, index);

	if (text && *text)
		return text;
	free(text);
	return NULL;
}

static int load_frame(struct store *s, s64 id, struct store_frame *f)
{
	sqlite3_stmt *find;
	s64 kind;
	int err = store__prepare(s, &find, "SELECT name, module, offset, kind, file, line FROM frame WHERE id = ?");

	if (err)
		return err;
	s->sql->bind_int64(find, 1, id);
	err = s->sql->step(find) == SQLITE_ROW ? 0 : -EUCLEAN;
	kind = err ? 0 : s->sql->column_int64(find, 3);
	if (!err && (kind < 0 || kind >= FRAME_KINDS))
		err = -EUCLEAN;
	if (!err) {
		*f = (struct store_frame){
			.id = id, .name = text_or_null(s, find, 0), .module = text_or_null(s, find, 1),
			.file = text_or_null(s, find, 4),
		};
		f->frame = (struct report_frame){
			.name = f->name, .module = f->module, .file = f->file, .kind = kind,
			.offset = s->sql->column_int64(find, 2), .line = s->sql->column_int64(find, 5),
		};
	}
	s->sql->finalize(find);
	return err;
}

/* Finds or loads a frame. Sets *index to its index in the store. */
static int find_frame(struct store *s, s64 id, u32 *index)
{
	u64 hash = table_hash(0, &id, sizeof(id));
	s64 there = table__find(&s->frames, hash, same_frame, s->frame, &id);
	int err;

	*index = there;
	if (there >= 0)
		return 0;
	if (ARRAY_ROOM(s->frame, s->nframes))
		return -ENOMEM;
	err = load_frame(s, id, &s->frame[s->nframes]);
	if (!err)
		err = table__add(&s->frames, hash, s->nframes);
	*index = s->nframes;
	s->nframes += !err;
	return err;
}

/* Loads the frames of a stack, outermost first. The caller frees the contents of out. */
static int load_frames(struct store *s, s64 id, struct report_stack *out)
{
	u32 frame[MOST_FRAMES], n = 0, i;
	sqlite3_stmt *find;
	const char *p = NULL;
	char *end;
	int err = store__prepare(s, &find, "SELECT frames FROM stack WHERE id = ?");

	if (err)
		return err;
	s->sql->bind_int64(find, 1, id);
	if (s->sql->step(find) == SQLITE_ROW)
		p = (const char *)s->sql->column_text(find, 0);
	if (!p)
		err = -EUCLEAN;
	while (!err && *p && n < MOST_FRAMES) {
		s64 number = strtoll(p, &end, 10);

		err = end == p ? -EUCLEAN : find_frame(s, number, &frame[n++]);
		p = *end ? end + 1 : end;
	}
	s->sql->finalize(find);
	if (err)
		return err;
	out->frame = calloc(n ?: 1, sizeof(*out->frame));
	out->place = calloc(n ?: 1, sizeof(*out->place));
	if (!out->frame || !out->place)
		return -ENOMEM;
	out->nframes = n;
	for (i = 0; i < n; i++) {
		out->frame[i] = frame[i];
		out->place[i] = (struct report_place){
			.address = FRAME_PLACES,
			.offset = s->frame[frame[i]].name ? FRAME_PLACES : s->frame[frame[i]].frame.offset,
		};
	}
	return 0;
}

static u64 hash_key(const struct report_row *key)
{
	u64 hash = 0;
	size_t i;

	for (i = 0; i < key->ncells; i++) {
		const struct field *f = &key->cell[i];

		hash = f->text ? table_hash(hash, f->text, strlen(f->text) + 1) :
				 table_hash(hash, &f->number, sizeof(f->number));
	}
	return hash;
}

static bool same_key(const void *array, u32 index, const void *key)
{
	const struct report_row *a = &((const struct report_row *)array)[index], *b = key;
	size_t i;

	if (a->ncells != b->ncells)
		return false;
	for (i = 0; i < a->ncells; i++) {
		const struct field *x = &a->cell[i], *y = &b->cell[i];

		if (strcmp(x->name, y->name) || !x->text != !y->text || x->number != y->number ||
		    (x->text && strcmp(x->text, y->text)))
			return false;
	}
	return true;
}

/* Finds or adds a key. Takes ownership of key, and sets *index to the key's index in the report. */
static int find_key(struct report_stacks *stacks, struct table *keys, struct report_row *key, u32 *index)
{
	const u64 hash = hash_key(key);
	const s64 known = table__find(keys, hash, same_key, stacks->key, key);
	int err;

	if (known >= 0) {
		report_row__free(key);
		*index = known;
		return 0;
	}
	err = ARRAY_ROOM(stacks->key, stacks->nkeys) ?: table__add(keys, hash, stacks->nkeys);
	if (err) {
		report_row__free(key);
		return err;
	}
	stacks->key[stacks->nkeys] = *key;
	*index = stacks->nkeys++;
	return 0;
}

/* Sets the event of a stack. With several events, the key of a stack begins with its event. */
static int find_event(const struct report_stacks *stacks, struct report_stack *stack)
{
	const struct report_row *key = &stacks->key[stack->key];

	if (!stacks->nevents)
		return 0;
	for (stack->event = 0; key->ncells && key->cell[0].text && stack->event < stacks->nevents; stack->event++)
		if (!strcmp(stacks->event[stack->event].name, key->cell[0].text))
			return 0;
	return -EUCLEAN;
}

int load__stack(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report_stacks *stacks,
		struct table *keys)
{
	struct report_stack stack = { .value = s->sql->column_int64(row, 2) };
	struct report_row key = {};
	int err = load__cells(s, shape, row, 4, &key);

	report_row__end_key(&key);
	if (err)
		report_row__free(&key);
	else
		err = find_key(stacks, keys, &key, &stack.key);
	if (!err)
		err = find_event(stacks, &stack);
	if (!err)
		err = load_frames(s, s->sql->column_int64(row, 3), &stack);
	if (!err)
		err = ARRAY_APPEND(stacks->stack, stacks->n, stack);
	if (err) {
		free(stack.frame);
		free(stack.place);
	}
	return err;
}

/* Loads the events of a report. The caller frees s->event. */
static int new_events(struct report_stacks *s, const json_t *list)
{
	size_t n = json_array_size(list), i;

	if (n > REPORT_MOST_EVENTS)
		return -EUCLEAN;
	if (!n)
		return 0;
	s->event = calloc(n, sizeof(*s->event));
	if (!s->event)
		return -ENOMEM;
	s->nevents = n;
	for (i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);

		s->event[i].name = s->event[i].share_name = load__text(o, "name") ?: "?";
		s->event[i].unit = load__text(o, "unit") ?: "";
		s->event[i].period = load__number(o, "period");
	}
	return 0;
}

int load__new_stacks(struct report *r, const json_t *head)
{
	const json_t *o = json_object_get(head, "stacks");

	if (!o)
		return 0;
	r->stacks = calloc(1, sizeof(*r->stacks));
	if (!r->stacks)
		return -ENOMEM;
	r->stacks->unit = load__text(o, "unit") ?: "";
	r->stacks->type = load__text(o, "type");
	r->stacks->period = load__number(o, "period");
	r->stacks->callee_first = load__flag(o, "callee_first");
	return new_events(r->stacks, json_object_get(o, "events"));
}

#endif
