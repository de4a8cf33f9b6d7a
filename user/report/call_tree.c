// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "base/array.h"
#include "report/escape.h"
#include "report/short_name.h"
#include "report/tree.h"

/*
 * --- names -------------------------------------------------------------------------------------
 */

/* Also escapes ';', which escape() leaves alone. Takes ownership of text. */
static char *fold(char *text)
{
	size_t n = 0, i;
	char *folded, *end;

	for (i = 0; text && text[i]; i++)
		n += text[i] == ';';
	if (!n)
		return text;
	folded = end = malloc(i + 3 * n + 1);
	for (i = 0; folded && text[i]; i++) {
		if (text[i] == ';')
			end = stpcpy(end, "\\x3b");
		else
			*end++ = text[i];
	}
	if (folded)
		*end = 0;
	free(text);
	return folded;
}

const char *report_frame__file(const struct report_frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;

	return slash ? slash + 1 : f->file;
}

static char *frame_label(const struct report_frame *f, enum label_style style)
{
	static const char *const suffixes[FRAME_KINDS] = {
		[FRAME_USER] = "", [FRAME_KERNEL] = "_[k]", [FRAME_JIT] = "_[j]",
		[FRAME_INLINED] = "_[i]", [FRAME_NOTE] = "", [FRAME_PYTHON] = "_[p]",
	};
	bool drawn = style == LABELS_DRAWN || style == LABELS_SHORT;
	char *raw = NULL, *text, *brief = NULL, line[16] = "";
	const char *name = f->name;
	const char *suffix = !drawn ? suffixes[f->kind] : f->kind == FRAME_INLINED ? " (inlined)" : "";
	int n;

	if (f->line)
		snprintf(line, sizeof(line), ":%u", f->line);
	if (name && style == LABELS_SHORT && (f->kind == FRAME_USER || f->kind == FRAME_INLINED)) {
		name = brief = short_name(name);
		if (!brief)
			return NULL;
	}
	if (name && f->file && style != LABELS_NAMED)
		n = asprintf(&raw, "%s %s%s%s", name, report_frame__file(f), line, suffix);
	else if (name)
		n = asprintf(&raw, "%s%s", name, suffix);
	else if (f->module && drawn)
		n = asprintf(&raw, "%s [no symbol]", f->module);
	else if (f->module)
		n = asprintf(&raw, "%s+0x%llx", f->module, f->offset);
	else
		n = asprintf(&raw, "[unknown]");
	free(brief);
	if (n < 0)
		return NULL;
	text = escape_string(raw);
	free(raw);
	return style == LABELS_FOLDED ? fold(text) : text;
}

/*
 * Formats a key: "nginx", "pid 12 nginx" or "cpu 3, comm nginx". A single name needs no label. first: index of the
 * first field.
 */
static char *key_label(const struct report_row *key, size_t first, bool folded)
{
	char *text = NULL, *escaped;
	size_t n = 0, shown = 0, i;
	FILE *f = open_memstream(&text, &n);

	for (i = first; i < key->ncells; i++)
		shown += !key->cell[i].machine;
	for (i = first; f && i < key->ncells; i++) {
		const struct field *cell = &key->cell[i];

		if (cell->machine)
			continue;
		if (cell->role == ROLE_LABEL)
			fputc(' ', f);
		else if (shown > 1 || !cell->text)
			fprintf(f, "%s%s ", i > first ? ", " : "", cell->name);
		if (cell->text)
			fputs(cell->text, f);
		else
			fprintf(f, "%llu", cell->number);
	}
	if (!f || fclose(f)) {
		free(text);
		return NULL;
	}
	escaped = escape_string(text);
	free(text);
	return folded ? fold(escaped) : escaped;
}

struct ranked_label {
	const char *label;
	u32 index;
};

static int by_label(const void *a, const void *b)
{
	const struct ranked_label *x = a, *y = b;
	int d = strcmp(x->label, y->label);

	return d ?: (int)(x->index > y->index) - (int)(x->index < y->index);
}

static void unite(struct stack_labels *l, struct ranked_label *list, size_t n)
{
	size_t i;

	qsort(list, n, sizeof(*list), by_label);
	for (i = 1; i < n; i++)
		if (!strcmp(list[i].label, list[i - 1].label))
			l->same[list[i].index] = l->same[list[i - 1].index];
}

/* Merges frames without a symbol that share a name, and keys that differ only in the event. */
static int find_same(struct stack_labels *l, const struct report_stacks *s)
{
	struct ranked_label *list = calloc(l->nframes + l->nkeys ?: 1, sizeof(*list));
	size_t n = 0, i;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < l->nframes + l->nkeys; i++)
		l->same[i] = i;
	for (i = 0; i < l->nframes; i++)
		if (!s->frame[i].name)
			list[n++] = (struct ranked_label){ l->frame[i], i };
	unite(l, list, n);
	for (i = n = 0; s->nevents && i < l->nkeys; i++)
		list[n++] = (struct ranked_label){ l->key[i], l->nframes + i };
	unite(l, list, n);
	free(list);
	return 0;
}

static char *event_label(const char *name, bool folded)
{
	char *text = escape_string(name);

	return folded ? fold(text) : text;
}

static int label_events(struct stack_labels *l, const struct report_stacks *s, bool folded)
{
	size_t i;

	if (!s->nevents)
		return 0;
	l->event = calloc(s->nevents, sizeof(*l->event));
	if (!l->event)
		return -ENOMEM;
	l->nevents = s->nevents;
	for (i = 0; i < s->nevents; i++) {
		l->event[i] = event_label(s->event[i].name, folded);
		if (!l->event[i])
			return -ENOMEM;
	}
	return 0;
}

int stack_labels__make(struct stack_labels *l, const struct report_stacks *s,
		       enum label_style style)
{
	size_t i;

	*l = (struct stack_labels){
		.nframes = s->nframes, .nkeys = s->nkeys, .callee_first = s->callee_first,
		.frame = calloc(s->nframes ?: 1, sizeof(*l->frame)),
		.key = calloc(s->nkeys ?: 1, sizeof(*l->key)),
		.same = calloc(s->nframes + s->nkeys ?: 1, sizeof(*l->same)),
	};
	if (!l->frame || !l->key || !l->same || label_events(l, s, style == LABELS_FOLDED))
		return -ENOMEM;
	for (i = 0; i < l->nframes; i++) {
		l->frame[i] = frame_label(&s->frame[i], style);
		if (!l->frame[i])
			return -ENOMEM;
	}
	for (i = 0; i < l->nkeys; i++) {
		l->key[i] = key_label(&s->key[i], s->nevents ? 1 : 0, style == LABELS_FOLDED);
		if (!l->key[i])
			return -ENOMEM;
	}
	return find_same(l, s);
}

void stack_labels__free(struct stack_labels *l)
{
	size_t i;

	for (i = 0; l->frame && i < l->nframes; i++)
		free(l->frame[i]);
	for (i = 0; l->key && i < l->nkeys; i++)
		free(l->key[i]);
	for (i = 0; l->event && i < l->nevents; i++)
		free(l->event[i]);
	free(l->event);
	free(l->frame);
	free(l->key);
	free(l->same);
}

void put_folded_stack(FILE *f, const struct stack_labels *l, const struct report_stack *s)
{
	const char *gap = "";
	u32 i;

	if (l->event) {
		fputs(l->event[s->event], f);
		gap = ";";
	}
	if (*l->key[s->key]) {
		fprintf(f, "%s%s", gap, l->key[s->key]);
		gap = ";";
	}
	for (i = 0; i < s->nframes; i++, gap = ";")
		fprintf(f, "%s%s", gap, l->frame[s->frame[i]]);
}

/*
 * --- the tree ----------------------------------------------------------------------------------
 */

/* Sort key of a stack. Labels are compared once; stacks are then compared by the ranks of their labels. */
struct ranked {
	const struct report_stack *stack;
	const u32 *rank;        /* per label */
	const struct stack_labels *labels;
};

/* Returns the ranks of the frames, followed by the ranks of the keys. NULL without memory. */
static u32 *rank_labels(const struct stack_labels *l)
{
	size_t n = l->nframes + l->nkeys, i;
	struct ranked_label *order = calloc(n ?: 1, sizeof(*order));
	u32 *rank = calloc(n ?: 1, sizeof(*rank));

	for (i = 0; order && i < n; i++) {
		order[i].label = i < l->nframes ? l->frame[i] : l->key[i - l->nframes];
		order[i].index = i;
	}
	if (order && rank) {
		qsort(order, n, sizeof(*order), by_label);
		for (i = 0; i < n; i++)
			rank[order[i].index] = i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(order);
	return rank;
}

/* True if the key has a name. Level 0 is then the key, and the frames follow. */
static bool has_key(const struct stack_labels *l, const struct report_stack *s)
{
	return *l->key[s->key];
}

static u32 levels(const struct stack_labels *l, const struct report_stack *s)
{
	return s->nframes + has_key(l, s);
}

static u32 at_level(const struct stack_labels *l, const struct report_stack *s, u32 level)
{
	if (has_key(l, s) && !level)
		return l->same[l->nframes + s->key];
	level -= has_key(l, s);
	return l->same[s->frame[l->callee_first ? s->nframes - 1 - level : level]];
}

static int by_path(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const struct stack_labels *l = x->labels;
	u32 nx = levels(l, x->stack), ny = levels(l, y->stack), i, p, q;

	for (i = 0; i < nx && i < ny; i++) {
		p = x->rank[at_level(l, x->stack, i)];
		q = x->rank[at_level(l, y->stack, i)];
		if (p != q)
			return p < q ? -1 : 1;
	}
	return nx < ny ? -1 : nx > ny;
}

struct path {
	u32 *node;      /* per level */
	u32 depth;
};

static int make_room(struct call_tree *t, size_t n, size_t *room)
{
	size_t shares_room = *room;
	int err = ARRAY_RESERVE(t->node, *room, t->n + n);

	if (err || !t->nevents)
		return err;
	return array__reach(&t->share, &shares_room, *room, t->nevents * sizeof(*t->share));
}

static void add_shares(struct call_tree *t, const struct path *path, u32 n, const struct report_stack *s)
{
	u32 i;

	for (i = 0; i <= n; i++)
		add_saturating(&t->share[path->node[i] * t->nevents + s->event].total, s->value);
	add_saturating(&t->share[path->node[n] * t->nevents + s->event].self, s->value);
}

/* Adds a stack; stacks must come in the order of by_path(). */
static int add_stack(struct call_tree *t, struct path *path, size_t *room,
		     const struct stack_labels *l, const struct report_stack *s)
{
	u32 n = levels(l, s), level = 0, i;

	while (level < n && level < path->depth &&
	       t->node[path->node[level + 1]].frame == at_level(l, s, level))
		level++;
	if (make_room(t, n, room))
		return -ENOMEM;
	for (; level < n; level++) {
		t->node[t->n] = (struct call_node){ at_level(l, s, level), 0, level + 1, 0, 0, 0 };
		path->node[level + 1] = t->n++;
	}
	path->depth = n;
	for (i = 0; i <= n; i++) {
		add_saturating(&t->node[path->node[i]].total, s->value);
		t->node[path->node[i]].before += s->before;
	}
	add_saturating(&t->node[path->node[n]].self, s->value);
	if (t->nevents)
		add_shares(t, path, n, s);
	if (n > t->depth)
		t->depth = n;
	return 0;
}

/* Sets the span of each node: its subtree ends at the next node that is not deeper. */
static int set_spans(struct call_tree *t)
{
	u32 *open = calloc(t->depth + 2, sizeof(*open)), depth = 0, i;

	if (!open)
		return -ENOMEM;
	for (i = 1; i <= t->n; i++) {
		u32 next = i < t->n ? t->node[i].depth : 0;

		for (; depth + 1 > next; depth--) {
			t->node[open[depth]].span = i - open[depth];
			if (!depth)
				break;
		}
		if (i < t->n) {
			depth = next;
			open[depth] = i;
		}
	}
	free(open);
	return 0;
}

int call_tree__make(struct call_tree *t, const struct report_stacks *s,
		    const struct stack_labels *l)
{
	struct ranked *order = calloc(s->n ?: 1, sizeof(*order));
	u32 *rank = rank_labels(l), deepest = 0;
	size_t room = 256, i;
	struct path path = {};
	int err = -ENOMEM;

	*t = (struct call_tree){
		.node = calloc(room, sizeof(*t->node)), .n = 1, .nevents = s->nevents,
		.share = calloc(room * s->nevents ?: 1, sizeof(*t->share)),
	};
	for (i = 0; order && i < s->n; i++) {
		order[i] = (struct ranked){ &s->stack[i], rank, l };
		if (s->stack[i].nframes > deepest)
			deepest = s->stack[i].nframes;
	}
	path.node = calloc(deepest + 2, sizeof(*path.node));
	if (order && rank && t->node && t->share && path.node) {
		qsort(order, s->n, sizeof(*order), by_path);
		err = 0;
	}
	for (i = 0; i < s->n && !err; i++)
		err = add_stack(t, &path, &room, l, order[i].stack);
	if (!err)
		err = set_spans(t);
	free(path.node);
	free(rank);
	free(order);
	if (err)
		call_tree__free(t);
	return err;
}

void call_tree__free(struct call_tree *t)
{
	free(t->node);
	free(t->share);
	memset(t, 0, sizeof(*t));
}

const char *call_node__label(const struct call_node *node, const struct stack_labels *l)
{
	return node->frame < l->nframes ? l->frame[node->frame] : l->key[node->frame - l->nframes];
}

enum frame_kind call_node__kind(const struct call_node *node, const struct report_stacks *s)
{
	return node->frame < s->nframes ? s->frame[node->frame].kind : FRAME_NOTE;
}
