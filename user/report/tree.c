// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks as text: a tree, callers first. Shares refer to all samples, so any two shares can be compared. A chain of
 * frames with the same share is listed without figures and without further indentation, so that forks stand out. With
 * several events, each event has a column of shares.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/tree.h"

/* Branches below this many 1/1000 of the total are counted, but not drawn. */
#define LEAST_SHARE 5
#define HOTTEST 10              /* functions listed below the tree */
#define MOST_INDENT 40          /* levels of indentation */

/* A column of figures: for the whole report, or for one of several events. */
struct column {
	u64 total;              /* total to which the shares refer */
	char *title;            /* name of the event, with several events */
	int width;
};

struct drawing {
	FILE *file;
	enum unit unit;         /* of values: UNIT_COUNT or UNIT_NS */
	bool milliseconds;
	const struct report_stacks *stacks;
	const struct stack_labels *labels;
	const struct call_tree *tree;
	struct column column[REPORT_MOST_EVENTS];
	size_t ncolumns;        /* at least 1 */
	bool brief; /* for users at a terminal: no repetitions, and no frames that every system call passes */
};

static bool is_of_several(const struct drawing *d)
{
	return d->stacks->nevents;
}

/* Returns the heading of the values. Times carry units and need none. */
static const char *heading(const struct drawing *d)
{
	return d->unit == UNIT_NS ? "time" : d->stacks->unit;
}

/* Returns the figures of a node in a column. */
static struct call_share share_of(const struct drawing *d, const struct call_node *node, size_t column)
{
	if (!is_of_several(d))
		return (struct call_share){ node->total, node->self };
	return d->tree->share[(node - d->tree->node) * d->ncolumns + column];
}

static double percent(const struct drawing *d, size_t column, u64 value)
{
	return d->column[column].total ? 100.0 * value / d->column[column].total : 0;
}

static bool is_small_in(const struct drawing *d, size_t column, u64 value)
{
	unsigned __int128 share = (unsigned __int128)value * 1000;

	return share < (unsigned __int128)d->column[column].total * LEAST_SHARE || !value;
}

/* True if the value is small in every column. */
static bool is_small(const struct drawing *d, const u64 *value)
{
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		if (!is_small_in(d, i, value[i]))
			return false;
	return true;
}

static void read_totals(const struct drawing *d, const struct call_node *node, u64 *value)
{
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		value[i] = share_of(d, node, i).total;
}

static void read_selfs(const struct drawing *d, const struct call_node *node, u64 *value)
{
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		value[i] = share_of(d, node, i).self;
}

static bool same_totals(const struct drawing *d, const struct call_node *a, const struct call_node *b)
{
	u64 x[REPORT_MOST_EVENTS], y[REPORT_MOST_EVENTS];

	read_totals(d, a, x);
	read_totals(d, b, y);
	return !memcmp(x, y, d->ncolumns * sizeof(*x));
}

/* Returns the largest share of a node in any column. */
static double largest(const struct drawing *d, const u64 *value)
{
	double most = 0, share;
	size_t i;

	for (i = 0; i < d->ncolumns; i++) {
		share = percent(d, i, value[i]);
		if (share > most)
			most = share;
	}
	return most;
}

static const char *module_of(const struct drawing *d, const struct call_node *node)
{
	const struct report_frame *f;

	if (node->frame >= d->stacks->nframes)
		return "";
	f = &d->stacks->frame[node->frame];
	return f->name && f->module ? f->module : "";
}

/* Shows the module only where it changes. */
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

static void put_shares(const struct drawing *d, const u64 *value)
{
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		if (value[i])
			fprintf(d->file, "%*.1f%%", d->column[i].width - 1, percent(d, i, value[i]));
		else
			fprintf(d->file, "%*s", d->column[i].width, "");
	fputs("  ", d->file);
}

/* self: NULL without self time. A tree of several events has no column for self time. */
static void put_figures(const struct drawing *d, const u64 *total, const u64 *self)
{
	char n[UNITS_SPACE];

	if (is_of_several(d)) {
		put_shares(d, total);
		return;
	}
	fprintf(d->file, "%6.1f%% ", percent(d, 0, *total));
	if (self && *self)
		fprintf(d->file, "%6.1f%%", percent(d, 0, *self));
	else
		fprintf(d->file, "%7s", "");
	fprintf(d->file, " %11s  ", format_value(n, *total, d->unit, d->milliseconds));
}

static int width_of_figures(const struct drawing *d)
{
	int width = 2;
	size_t i;

	if (!is_of_several(d))
		return 29;
	for (i = 0; i < d->ncolumns; i++)
		width += d->column[i].width;
	return width;
}

/* Nodes and functions are listed by their largest share, ties by name. */
struct ranked_node {
	const struct call_node *node;
	double share;
	u64 total;              /* exact, unlike shares; 0 with several events */
};

static int larger_first(const void *a, const void *b)
{
	const struct ranked_node *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static struct ranked_node rank_node(const struct drawing *d, const struct call_node *node, const u64 *value)
{
	return (struct ranked_node){ node, largest(d, value), is_of_several(d) ? 0 : *value };
}

/* Returns the children to draw, largest first. *rest and *nrest receive the totals and the number of the others. */
static struct ranked_node *children(const struct drawing *d, const struct call_node *node, size_t *n, u64 *rest,
				    size_t *nrest)
{
	const struct call_node *end = node + node->span, *child;
	struct ranked_node *list;
	u64 value[REPORT_MOST_EVENTS];
	size_t all = 0, i;

	*n = *nrest = 0;
	memset(rest, 0, d->ncolumns * sizeof(*rest));
	for (child = node + 1; child < end; child += child->span)
		all++;
	list = calloc(all ?: 1, sizeof(*list));
	for (child = node + 1; list && child < end; child += child->span) {
		read_totals(d, child, value);
		if (!is_small(d, value)) {
			list[(*n)++] = rank_node(d, child, value);
			continue;
		}
		for (i = 0; i < d->ncolumns; i++)
			rest[i] += value[i];
		++*nrest;
	}
	if (list)
		qsort(list, *n, sizeof(*list), larger_first);
	return list;
}

static int put_node(const struct drawing *d, const struct call_node *node,
		    const struct call_node *parent, u32 indent);

static int put_children(const struct drawing *d, const struct call_node *node, u32 indent)
{
	u64 rest[REPORT_MOST_EVENTS];
	size_t n, nrest, i;
	struct ranked_node *list = children(d, node, &n, rest, &nrest);
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++)
		err = put_node(d, list[i].node, node, indent);
	if (nrest && !err && !is_small(d, rest)) {
		put_figures(d, rest, NULL);
		fprintf(d->file, "%*s... %zu more\n", 2 * (int)indent, "", nrest);
	}
	free(list);
	return err;
}

/* True for frames that lead into the kernel's code for a system call or an interrupt. */
static bool is_entry(const struct drawing *d, const struct call_node *node)
{
	static const char *const names[] = {
		"entry_SYSCALL_64_after_hwframe",
		"entry_SYSCALL_64",
		"do_syscall_64",
		"x64_sys_call",
		"el0t_64_sync",
		"el0t_64_sync_handler",
		"el0_svc",
		"do_el0_svc",
		"el0_svc_common.constprop.0",
		"invoke_syscall",
	};
	const struct report_frame *f = node->frame < d->stacks->nframes ? &d->stacks->frame[node->frame] : NULL;
	size_t i;

	for (i = 0; f && f->name && f->kind == FRAME_KERNEL && i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return false;
}

static bool repeats(const struct drawing *d, const struct call_node *node, const struct call_node *parent)
{
	const char *label = call_node__label(node, d->labels);

	return node->frame < d->stacks->nframes && !d->stacks->frame[node->frame].name && parent->depth &&
	       !strcmp(label, call_node__label(parent, d->labels));
}

/* True for a frame that is left out: an inner frame of a chain, without self time. */
static bool is_passed_over(const struct drawing *d, const struct call_node *node, const struct call_node *parent,
			   bool only, bool forks, u64 self)
{
	return d->brief && only && !self && !forks && node->span > 1 && (is_entry(d, node) || repeats(d, node, parent));
}

static int put_node(const struct drawing *d, const struct call_node *node,
		    const struct call_node *parent, u32 indent)
{
	bool only = parent->depth && same_totals(d, node, parent);
	bool forks = node->span > 1 && !same_totals(d, &node[1], node);
	u64 total[REPORT_MOST_EVENTS];
	/* In a callee-first tree, the whole first level is self time, and callers have none. */
	u64 self = d->stacks->callee_first || is_of_several(d) ? 0 : node->self;

	if (is_passed_over(d, node, parent, only, forks, node->self))
		return put_node(d, &node[1], parent, indent);
	read_totals(d, node, total);
	if (only && !self)
		fprintf(d->file, "%*s", width_of_figures(d), "");
	else
		put_figures(d, total, &self);
	fprintf(d->file, "%*s", 2 * (int)indent, "");
	put_name(d, node, parent);
	/* Stacks are always indented below their key. */
	if ((forks || node->frame >= d->stacks->nframes) && indent < MOST_INDENT)
		indent++;
	return put_children(d, node, indent);
}

/*
 * --- the functions themselves ------------------------------------------------------------------
 */

struct hot {
	u32 frame;
	u64 self[REPORT_MOST_EVENTS];
	double share;           /* largest share of all columns */
};

static int hotter_first(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static struct hot *find_hottest(const struct drawing *d)
{
	size_t n = d->stacks->nframes, i, k;
	struct hot *hot = calloc(n ?: 1, sizeof(*hot));
	u64 self[REPORT_MOST_EVENTS];

	if (!hot)
		return NULL;
	for (i = 0; i < n; i++)
		hot[i].frame = i;
	for (i = 1; i < d->tree->n; i++) {
		const struct call_node *node = &d->tree->node[i];

		if (node->frame >= n)
			continue;
		read_selfs(d, node, self);
		for (k = 0; k < d->ncolumns; k++)
			hot[node->frame].self[k] += self[k];
	}
	for (i = 0; i < n; i++)
		hot[i].share = largest(d, hot[i].self);
	qsort(hot, n, sizeof(*hot), hotter_first);
	return hot;
}

static void put_hot(const struct drawing *d, const struct hot *hot)
{
	struct call_node node = { .frame = hot->frame, .depth = 1 }, root = {};
	char count[UNITS_SPACE];

	if (is_of_several(d))
		put_shares(d, hot->self);
	else
		fprintf(d->file, "%6.1f%% %19s  ", percent(d, 0, hot->self[0]),
			format_value(count, hot->self[0], d->unit, d->milliseconds));
	put_name(d, &node, &root);
}

static int put_hottest(const struct drawing *d)
{
	struct hot *hot = find_hottest(d);
	size_t i;

	if (!hot)
		return -ENOMEM;
	if (is_of_several(d))
		fprintf(d->file, "\n%*s\n", width_of_figures(d) + (int)strlen("functions, without callees"),
			"functions, without callees");
	else
		fprintf(d->file, "\n"
				 "   self %19s  functions, without callees\n", heading(d));
	for (i = 0; i < d->stacks->nframes && i < HOTTEST && hot[i].share && !is_small(d, hot[i].self); i++)
		put_hot(d, &hot[i]);
	free(hot);
	return 0;
}

/*
 * --- headings ----------------------------------------------------------------------------------
 */

#define NARROWEST 9             /* column */
#define WIDEST 20

/* Returns "sched_switch" of "sched:sched_switch" if the name is too long, cut if still too long. */
static char *title_of(const struct stack_labels *l, size_t event)
{
	const char *name = l->event[event], *colon = strchr(name, ':');
	char *title;

	if (strlen(name) >= WIDEST && colon && colon[1])
		name = colon + 1;
	if (strlen(name) < WIDEST)
		return strdup(name);
	return asprintf(&title, "%.*s..", WIDEST - 3, name) < 0 ? NULL : title;
}

static int make_columns(struct drawing *d)
{
	size_t i;

	d->ncolumns = d->stacks->nevents ?: 1;
	if (d->ncolumns > REPORT_MOST_EVENTS)
		return -EINVAL;
	d->column[0].total = d->stacks->total;
	for (i = 0; i < d->stacks->nevents; i++) {
		struct column *c = &d->column[i];

		c->total = d->stacks->event[i].total;
		c->title = title_of(d->labels, i);
		if (!c->title)
			return -ENOMEM;
		c->width = strlen(c->title) + 2 < NARROWEST ? NARROWEST : (int)strlen(c->title) + 2;
	}
	return 0;
}

static void put_headings(const struct drawing *d)
{
	char n[UNITS_SPACE];
	size_t i;

	if (!is_of_several(d)) {
		fprintf(d->file, "\n  share %7s %11s\n", d->stacks->callee_first ? "" : "self", heading(d));
		return;
	}
	fputc('\n', d->file);
	for (i = 0; i < d->ncolumns; i++)
		fprintf(d->file, "%*s", d->column[i].width, d->column[i].title);
	fputc('\n', d->file);
	for (i = 0; i < d->ncolumns; i++)
		fprintf(d->file, "%*s", d->column[i].width, d->stacks->event[i].unit);
	fputc('\n', d->file);
	for (i = 0; i < d->ncolumns; i++)
		fprintf(d->file, "%*s", d->column[i].width, format_count(n, d->column[i].total));
	fputs("  all\n", d->file);
}

static int draw(struct drawing *d)
{
	int err = make_columns(d);

	if (err || !d->stacks->n)
		return err;
	put_headings(d);
	err = put_children(d, &d->tree->node[0], 0);
	return err ?: d->stacks->callee_first ? 0 : put_hottest(d);
}

int write_tree(struct writer *w, const struct report *r)
{
	const struct report_stacks *s = r->stacks;
	struct stack_labels labels = {};
	struct call_tree tree = {};
	struct drawing d = {
		.file = w->file, .unit = r->unit, .milliseconds = w->milliseconds, .stacks = s, .labels = &labels,
		.tree = &tree, .brief = w->brief,
	};
	size_t i;
	int err = stack_labels__make(&labels, s, w->brief ? LABELS_SHORT : LABELS_DRAWN);

	if (!err)
		err = call_tree__make(&tree, s, &labels);
	if (!err)
		err = draw(&d);
	for (i = 0; i < d.ncolumns; i++)
		free(d.column[i].title);
	call_tree__free(&tree);
	stack_labels__free(&labels);
	return err;
}
