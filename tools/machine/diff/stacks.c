// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merges the stacks of two runs into one set: equal stacks become one, with a value for each run.
 * The offset of a frame within its function is ignored.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "machine/diff/pair.h"
#include "report/tree.h"

#define MOST_FRAMES 4096        /* limit for one stack */

/* A set of stacks under construction, with hashes of its elements. */
struct merge {
	struct report_stacks *all;
	struct report_frame *frame;     /* the array also owns the texts of the frames */
	struct table frames, keys, stacks;
};

/*
 * --- reading -----------------------------------------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_frame(const void *array, u32 index, const void *key)
{
	const struct report_frame *a = (const struct report_frame *)array + index, *b = key;

	return same_text(a->name, b->name) && same_text(a->module, b->module) &&
	       a->offset == b->offset;
}

static u64 text_hash(u64 hash, const char *text)
{
	return text ? table_hash(hash, text, strlen(text)) : table_hash(hash, "", 1);
}

/* Takes ownership of the texts of f. Returns its index, or a negative errno. */
static s64 intern_frame(struct merge *m, struct report_frame *f)
{
	u64 hash = text_hash(text_hash(f->offset, f->name), f->module);
	s64 index = table__find(&m->frames, hash, is_frame, m->frame, f);

	if (index < 0) {
		if (!ARRAY_ROOM(m->frame, m->all->nframes) && !table__add(&m->frames, hash, m->all->nframes)) {
			m->frame[m->all->nframes] = *f;
			return m->all->nframes++;
		}
		index = -ENOMEM;
	}
	free((char *)f->name);
	free((char *)f->module);
	return index;
}

static s64 read_frame(struct merge *m, const json_t *o)
{
	const json_t *name = json_object_get(o, "name"), *module = json_object_get(o, "module");
	struct report_frame f = { .name = saved_text(name), .module = saved_text(module) };

	if ((!f.name && !json_is_null(name)) || (!f.module && !json_is_null(module)) ||
	    (!f.name && f.module && saved_member(o, "offset", &f.offset))) {
		free((char *)f.name);
		free((char *)f.module);
		return -EINVAL;
	}
	if (f.module && !strcmp(f.module, "[kernel]"))
		f.kind = FRAME_KERNEL;
	return intern_frame(m, &f);
}

static bool is_stack_key(const void *array, u32 index, const void *key)
{
	return same_key((const struct report_row *)array + index, key);
}

/* Takes ownership of a key. Returns its index, or a negative errno. */
static s64 intern_key(struct merge *m, struct report_row *key)
{
	u64 hash = key_hash(key);
	s64 index = table__find(&m->keys, hash, is_stack_key, m->all->key, key);

	if (index < 0) {
		if (!ARRAY_ROOM(m->all->key, m->all->nkeys) && !table__add(&m->keys, hash, m->all->nkeys)) {
			m->all->key[m->all->nkeys] = *key;
			return m->all->nkeys++;
		}
		index = -ENOMEM;
	}
	report_row__free(key);
	return index;
}

static bool is_stack(const void *array, u32 index, const void *key)
{
	const struct report_stack *a = (const struct report_stack *)array + index, *b = key;

	return a->key == b->key && a->nframes == b->nframes &&
	       !memcmp(a->frame, b->frame, a->nframes * sizeof(*a->frame));
}

/* Takes ownership of the frames of s, and adds value to the stack equal to s. */
static int add_value(struct merge *m, struct report_stack *s, enum side side, u64 value)
{
	u64 hash = table_hash(s->key, s->frame, s->nframes * sizeof(*s->frame));
	s64 index = table__find(&m->stacks, hash, is_stack, m->all->stack, s);
	struct report_stacks *all = m->all;

	if (index < 0) {
		if (ARRAY_ROOM(all->stack, all->n) || table__add(&m->stacks, hash, all->n)) {
			free(s->frame);
			return -ENOMEM;
		}
		index = all->n++;
		all->stack[index] = *s;
	} else {
		free(s->frame);
	}
	/* Sums are at most the total, so checking the total for overflow is enough. */
	if (side == BEFORE) {
		all->stack[index].before += value;
		return __builtin_add_overflow(all->before, value, &all->before) ? -EINVAL : 0;
	}
	all->stack[index].value += value;
	return __builtin_add_overflow(all->total, value, &all->total) ? -EINVAL : 0;
}

static int add_stack(struct merge *m, enum side side, const json_t *o, const json_t *columns)
{
	const json_t *frames = json_object_get(o, "frames");
	struct report_stack s = {};
	struct report_row key;
	u64 value;
	s64 index;
	size_t i;
	int err;

	if (!json_is_array(frames) || json_array_size(frames) > MOST_FRAMES ||
	    saved_member(o, "value", &value))
		return -EINVAL;
	err = saved_fields(&key, json_object_get(o, "key"), columns);
	if (err)
		return err;
	index = intern_key(m, &key);
	if (index < 0)
		return index;
	s.key = index;
	s.frame = calloc(json_array_size(frames) ?: 1, sizeof(*s.frame));
	if (!s.frame)
		return -ENOMEM;
	for (i = 0; i < json_array_size(frames); i++) {
		index = read_frame(m, json_array_get(frames, i));
		if (index < 0) {
			free(s.frame);
			return index;
		}
		s.frame[s.nframes++] = index;
	}
	return add_value(m, &s, side, value);
}

static int add_run(struct merge *m, enum side side, const struct saved *run)
{
	const json_t *list;
	size_t i, k;
	int err;

	for (i = 0; i < run->n; i++) {
		list = saved__list(run, i);
		for (k = 0; k < json_array_size(list); k++) {
			err = add_stack(m, side, json_array_get(list, k),
					json_object_get(run->report[i], "columns"));
			if (err == -EINVAL)
				saved__wrong(run, i, "a stack is malformed");
			if (err)
				return err;
		}
	}
	return 0;
}

/*
 * --- comparing ---------------------------------------------------------------------------------
 */

/* A frame or a stack with its shares before and after. */
struct share {
	u32 index;              /* index of the frame or the stack */
	u64 value[SIDES];
	double points;          /* gain in percentage points */
};

struct comparison {
	struct report *report;
	const struct report_stacks *all;
	enum unit unit;
	size_t top;
};

static double percent(const struct comparison *c, enum side side, u64 value)
{
	u64 total = side == BEFORE ? c->all->before : c->all->total;

	return total ? 100.0 * value / total : 0;
}

static int farther_first(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	double p = fabs(x->points), q = fabs(y->points);

	if (p != q)
		return p > q ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void put_frame_name(FILE *f, const struct report_frame *frame)
{
	if (frame->name)
		fputs(frame->name, f);
	else if (frame->module)
		fprintf(f, "%s [no symbol]", frame->module);
	else
		fputs("[unknown]", f);
}

static void put_stack_name(FILE *f, const struct report_stacks *all, const struct report_stack *s)
{
	const struct report_row *key = &all->key[s->key];
	size_t i;

	for (i = 0; i < key->ncells; i++) {
		const struct field *cell = &key->cell[i];

		if (i)
			fputc(' ', f);
		if (cell->text)
			fputs(cell->text, f);
		else
			fprintf(f, "%s %llu", cell->name, cell->number);
	}
	for (i = 0; i < s->nframes; i++) {
		if (i || key->ncells)
			fputc(';', f);
		put_frame_name(f, &all->frame[s->frame[i]]);
	}
}

/* The name of a share, allocated. is_whole: the name of a stack, otherwise of a function. */
static char *name_of(const struct comparison *c, u32 index, bool is_whole)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f && is_whole)
		put_stack_name(f, c->all, &c->all->stack[index]);
	else if (f)
		put_frame_name(f, &c->all->frame[index]);
	if (!f || fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int add_named(const struct comparison *c, const char *part, const struct share *s, const char *name)
{
	enum field_kind kind = c->unit == UNIT_NS ? FIELD_DURATION : FIELD_NUMBER;
	double before = percent(c, BEFORE, s->value[BEFORE]);
	double after = percent(c, AFTER, s->value[AFTER]);
	const struct field cell[] = {
		{ .name = "before_percent", .kind = FIELD_REAL, .real = before, .decimals = 2 },
		{ .name = "after_percent", .kind = FIELD_REAL, .real = after, .decimals = 2 },
		{ .name = "points", .kind = FIELD_REAL, .real = s->points, .decimals = 2 },
		{ .name = "before", .kind = kind, .number = s->value[BEFORE] },
		{ .name = "after", .kind = kind, .number = s->value[AFTER] },
	};
	struct report_row row = {};
	int err = report_row__add_text(&row, "part", part);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cell) && !err; i++)
		err = report_row__add_field(&row, &cell[i]);
	if (!err)
		err = report_row__add_text(&row, "name", name);
	return report__end_row(c->report, &row, err);
}

static int add_share(const struct comparison *c, const char *part, const struct share *s)
{
	char *name = name_of(c, s->index, !strcmp(part, "stack"));
	int err = name ? add_named(c, part, s, name) : -ENOMEM;

	free(name);
	return err;
}

/* Adds the shares that changed most. */
static int add_shares(const struct comparison *c, const char *part, struct share *share, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		share[i].points = percent(c, AFTER, share[i].value[AFTER]) -
				  percent(c, BEFORE, share[i].value[BEFORE]);
	if (n)
		qsort(share, n, sizeof(*share), farther_first);
	for (i = 0; i < n && (!c->top || i < c->top) && !err; i++)
		if (share[i].value[BEFORE] || share[i].value[AFTER])
			err = add_share(c, part, &share[i]);
	return err;
}

/* A function that appears in a stack several times counts once. */
static void sum_frames(const struct report_stacks *all, const u32 *same, struct share *self,
		       struct share *total, u32 *last_seen)
{
	size_t i;
	u32 k, frame;

	for (i = 0; i < all->n; i++) {
		const struct report_stack *s = &all->stack[i];

		for (k = 0; k < s->nframes; k++) {
			frame = same[s->frame[k]];
			if (last_seen[frame] == i + 1)
				continue;
			last_seen[frame] = i + 1;
			total[frame].value[BEFORE] += s->before;
			total[frame].value[AFTER] += s->value;
		}
		if (!s->nframes)
			continue;
		frame = same[s->frame[s->nframes - 1]];
		self[frame].value[BEFORE] += s->before;
		self[frame].value[AFTER] += s->value;
	}
}

static int compare_functions(const struct comparison *c)
{
	size_t n = c->all->nframes, i;
	struct share *self = calloc(n ?: 1, sizeof(*self)), *total = calloc(n ?: 1, sizeof(*total));
	u32 *last_seen = calloc(n ?: 1, sizeof(*last_seen));
	struct stack_labels labels = {};
	int err = self && total && last_seen ? stack_labels__make(&labels, c->all, LABELS_DRAWN)
					     : -ENOMEM;

	for (i = 0; i < n && !err; i++)
		self[i].index = total[i].index = i;
	if (!err) {
		sum_frames(c->all, labels.same, self, total, last_seen);
		err = add_shares(c, "self", self, n);
	}
	if (!err)
		err = add_shares(c, "total", total, n);
	stack_labels__free(&labels);
	free(self);
	free(total);
	free(last_seen);
	return err;
}

static int compare_stacks(const struct comparison *c)
{
	struct share *share = calloc(c->all->n ?: 1, sizeof(*share));
	size_t i;
	int err;

	if (!share)
		return -ENOMEM;
	for (i = 0; i < c->all->n; i++)
		share[i] = (struct share){
			i, { c->all->stack[i].before, c->all->stack[i].value }, 0,
		};
	err = add_shares(c, "stack", share, c->all->n);
	free(share);
	return err;
}

static void free_frames(struct merge *m)
{
	size_t i;

	for (i = 0; m->frame && i < m->all->nframes; i++) {
		free((char *)m->frame[i].name);
		free((char *)m->frame[i].module);
	}
	free(m->frame);
	table__free(&m->frames);
	table__free(&m->keys);
	table__free(&m->stacks);
}

int diff_stacks(struct report *r, const struct saved *const run[SIDES], struct writer *flame,
		size_t top)
{
	struct merge m = { .all = calloc(1, sizeof(*m.all)) };
	struct comparison c = { r, m.all, UNIT_COUNT, top };
	int err;

	if (!m.all)
		return -ENOMEM;
	m.all->compared = true;
	if (run[AFTER]->unit && !strcmp(run[AFTER]->unit, unit_name(UNIT_NS)))
		c.unit = UNIT_NS;
	m.all->unit = c.unit == UNIT_NS ? "ns" : "events";
	err = add_run(&m, BEFORE, run[BEFORE]);
	if (!err)
		err = add_run(&m, AFTER, run[AFTER]);
	m.all->frame = m.frame;
	if (!err && flame) {
		r->stacks = m.all;
		err = writer__write(flame, r);
		r->stacks = NULL;
	} else if (!err) {
		err = compare_functions(&c);
		if (!err)
			err = compare_stacks(&c);
		if (!err && !r->nrows)
			err = report__keep_columns(r, add_named(&c, "", &(struct share){}, ""));
	}
	free_frames(&m);
	report_stacks__free(m.all);
	return err;
}
