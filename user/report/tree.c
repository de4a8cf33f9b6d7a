// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks for people: a tree, callers first. Shares are of all samples, so that any two can be
 * compared. Frames with one and the same share stand under each other without figures and
 * without a further step to the right: the eye goes from fork to fork.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/tree.h"

/* Branches below so many 1/1000 of all are counted, but not drawn. */
#define LEAST_SHARE 5
#define HOTTEST 10              /* functions listed below the tree */
#define MOST_INDENT 40          /* steps to the right */

struct drawing {
	FILE *file;
	enum unit unit;         /* of values: UNIT_COUNT or UNIT_NS */
	bool milliseconds;
	const struct report_stacks *stacks;
	const struct stack_labels *labels;
	const struct call_tree *tree;
};

/* What stands above values: times have their units with them. */
static const char *heading(const struct drawing *d)
{
	return d->unit == UNIT_NS ? "time" : d->stacks->unit;
}

static double percent(const struct drawing *d, u64 value)
{
	return d->stacks->total ? 100.0 * value / d->stacks->total : 0;
}

static bool is_small(const struct drawing *d, u64 value)
{
	return value * 1000 < d->stacks->total * LEAST_SHARE;
}

static const char *module_of(const struct drawing *d, const struct call_node *node)
{
	const struct report_frame *f;

	if (node->frame >= d->stacks->nframes)
		return "";
	f = &d->stacks->frame[node->frame];
	return f->name && f->module ? f->module : "";
}

/* The module stands where it changes, and nowhere else. */
static void put_name(const struct drawing *d, const struct call_node *node,
		     const struct call_node *parent)
{
	const char *module = module_of(d, node);
	struct stack_labels one = {};
	struct report_frame f = { .name = module };
	struct report_stacks s = { .frame = &f, .nframes = 1 };

	fputs(call_node__label(node, d->labels), d->file);
	if (*module && (!parent->depth || strcmp(module, module_of(d, parent))) &&
	    !stack_labels__make(&one, &s, LABELS_DRAWN))
		fprintf(d->file, "  (%s)", one.frame[0]);
	stack_labels__free(&one);
	fputc('\n', d->file);
}

static void put_figures(const struct drawing *d, u64 total, u64 self)
{
	char n[UNITS_SPACE];

	fprintf(d->file, "%6.1f%% ", percent(d, total));
	if (self)
		fprintf(d->file, "%6.1f%%", percent(d, self));
	else
		fprintf(d->file, "%7s", "");
	fprintf(d->file, " %11s  ", format_value(n, total, d->unit, d->milliseconds));
}

static int larger_first(const void *a, const void *b)
{
	const struct call_node *x = *(const struct call_node *const *)a;
	const struct call_node *y = *(const struct call_node *const *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x < y ? -1 : x > y;      /* by name */
}

/* The children worth drawing, the largest first; what the others hold in *rest and *nrest. */
static struct call_node const **children(const struct drawing *d, const struct call_node *node,
					 size_t *n, u64 *rest, size_t *nrest)
{
	const struct call_node *end = node + node->span, *child, **list;
	size_t all = 0;

	*n = *nrest = 0;
	*rest = 0;
	for (child = node + 1; child < end; child += child->span)
		all++;
	list = calloc(all ?: 1, sizeof(*list));
	for (child = node + 1; list && child < end; child += child->span) {
		if (is_small(d, child->total)) {
			*rest += child->total;
			++*nrest;
		} else {
			list[(*n)++] = child;
		}
	}
	if (list)
		qsort(list, *n, sizeof(*list), larger_first);
	return list;
}

static int put_node(const struct drawing *d, const struct call_node *node,
		    const struct call_node *parent, u32 indent);

static int put_children(const struct drawing *d, const struct call_node *node, u32 indent)
{
	size_t n, nrest, i;
	u64 rest;
	const struct call_node **list = children(d, node, &n, &rest, &nrest);
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++)
		err = put_node(d, list[i], node, indent);
	if (nrest && !err && !is_small(d, rest)) {
		put_figures(d, rest, 0);
		fprintf(d->file, "%*s... %zu more\n", 2 * (int)indent, "", nrest);
	}
	free(list);
	return err;
}

static int put_node(const struct drawing *d, const struct call_node *node,
		    const struct call_node *parent, u32 indent)
{
	bool only = parent->depth && node->total == parent->total;
	bool forks = node->span > 1 && node[1].total != node->total;
	/* Turned over, the first level is all of self, and a caller has none in its callee. */
	u64 self = d->stacks->callee_first ? 0 : node->self;

	if (only && !self)
		fprintf(d->file, "%29s", "");
	else
		put_figures(d, node->total, self);
	fprintf(d->file, "%*s", 2 * (int)indent, "");
	put_name(d, node, parent);
	/* Keys stand out at the left. */
	if ((forks || node->frame >= d->stacks->nframes) && indent < MOST_INDENT)
		indent++;
	return put_children(d, node, indent);
}

/*
 * --- the functions themselves ------------------------------------------------------------------
 */

struct hot {
	u32 frame;
	u64 self;
};

static int hotter_first(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int put_hottest(const struct drawing *d)
{
	size_t n = d->stacks->nframes, i;
	struct hot *hot = calloc(n ?: 1, sizeof(*hot));
	char count[UNITS_SPACE];

	if (!hot)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		hot[i].frame = i;
	for (i = 1; i < d->tree->n; i++)
		if (d->tree->node[i].frame < n)
			hot[d->tree->node[i].frame].self += d->tree->node[i].self;
	qsort(hot, n, sizeof(*hot), hotter_first);
	fprintf(d->file, "\n   self %19s  functions, without what they call\n", heading(d));
	for (i = 0; i < n && i < HOTTEST && hot[i].self && !is_small(d, hot[i].self); i++) {
		struct call_node node = { .frame = hot[i].frame, .depth = 1 }, root = {};

		fprintf(d->file, "%6.1f%% %19s  ", percent(d, hot[i].self),
			format_value(count, hot[i].self, d->unit, d->milliseconds));
		put_name(d, &node, &root);
	}
	free(hot);
	return 0;
}

int write_tree(struct writer *w, const struct report *r)
{
	const struct report_stacks *s = r->stacks;
	struct stack_labels labels = {};
	struct call_tree tree = {};
	struct drawing d = { w->file, r->unit, w->milliseconds, s, &labels, &tree };
	int err = stack_labels__make(&labels, s, LABELS_DRAWN);

	if (!err)
		err = call_tree__make(&tree, s, &labels);
	if (!err && s->n) {
		fprintf(w->file, "\n  share %7s %11s\n", s->callee_first ? "" : "self", heading(&d));
		err = put_children(&d, &tree.node[0], 0);
		if (!err && !s->callee_first)
			err = put_hottest(&d);
	}
	call_tree__free(&tree);
	stack_labels__free(&labels);
	return err;
}
