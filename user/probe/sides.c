// SPDX-License-Identifier: BSD-2-Clause
#include "probe/sides.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"

/* True if the expression needs the end of a span: only the end knows the result and the elapsed time. */
static bool mentions_end(const struct probe_plan *p, const struct expr *e, const struct place *begin)
{
	struct place named = *begin;
	const struct expr *other;

	named.alias = p->alias;
	named.naliases = p->naliases;
	other = place__stands_for_other(&named, e);

	if (e->op == EXPR_SPECIAL && (!strcmp(e->text, "retval") || !strcmp(e->text, "elapsed")))
		return true;
	if (other)
		return mentions_end(p, other, begin);
	return (e->left && mentions_end(p, e->left, begin)) || (e->right && mentions_end(p, e->right, begin));
}

/* True if the expression is a number at this place. Conditions are numbers, even if they compare texts. */
static bool is_number(const struct expr *e, const struct place *place, struct operand_type *t)
{
	struct complaint ignored;
	struct code code = {};
	bool known = !expr__type(t, e, place, &ignored);

	if (known)
		return t->kind < LAYOUT_TEXT;
	known = !filter__compile(&code, e, place, &ignored);
	code__free(&code);
	*t = (struct operand_type){ .kind = LAYOUT_UNSIGNED, .size = 8 };
	return known;
}

bool side__belongs_to_begin(const struct probe_plan *p, const struct expr *e,
			    const struct place *begin)
{
	struct operand_type t = {};

	if (!begin || p->returns || mentions_end(p, e, begin))
		return false;
	return p->calls || is_number(e, begin, &t) || t.kind >= LAYOUT_TEXT;
}

/*
 * --- dividing ----------------------------------------------------------------------------------
 */

struct divider {
	struct probe_plan *p;
	const struct place *begin;
	int err;
};

static struct expr *node(struct divider *d, const struct expr *e)
{
	struct expr *new = malloc(sizeof(*new));

	if (!new) {
		d->err = -ENOMEM;
		return NULL;
	}
	*new = *e;
	new->left = new->right = NULL;
	new->text = e->text ? strdup(e->text) : NULL;
	if (e->text && !new->text)
		d->err = -ENOMEM;
	return new;
}

static bool is_constant(const struct expr *e)
{
	return e->op <= EXPR_STRING || ((e->op == EXPR_NEGATE || e->op == EXPR_COMPLEMENT) &&
					is_constant(e->left));
}

/* Replaces e by the name of a kept value. The name contains parentheses, so that it cannot be typed. */
static struct expr *keep(struct divider *d, const struct expr *e, const struct operand_type *t)
{
	struct probe_plan *p = d->p;
	char *text = expr__format(e);
	struct expr *new;

	if (p->nkept == PROBE_KEPT_MOST) {
		diag_error("--filter: at most %d values can be kept from a begin for its end",
			   PROBE_KEPT_MOST);
		d->err = -EINVAL;
		free(text);
		return NULL;
	}
	new = node(d, e);
	if (!new || !text) {
		d->err = d->err ?: -ENOMEM;
		free(text);
		return new;
	}
	free(new->text);
	new->op = EXPR_NAME;
	if (asprintf(&new->text, *text == '(' ? "%s" : "(%s)", text) < 0) {
		new->text = NULL;
		d->err = -ENOMEM;
	}
	free(text);
	p->kept[p->nkept++] = (struct probe_kept){ e, new->text, t->is_signed };
	return new;
}

/* Copies e. For the end, replaces the parts that are known only at the begin. */
static struct expr *copy(struct divider *d, const struct expr *e, bool for_end)
{
	struct operand_type t = {};
	struct expr *new;

	if (d->err)
		return NULL;
	if (for_end && d->begin && !is_constant(e) && !mentions_end(d->p, e, d->begin) &&
	    is_number(e, d->begin, &t))
		return keep(d, e, &t);
	new = node(d, e);
	if (new && e->left)
		new->left = copy(d, e->left, for_end);
	if (new && e->right)
		new->right = copy(d, e->right, for_end);
	return new;
}

/* Returns the operands of && in e that belong to this side, or NULL if there are none. */
static struct expr *part(struct divider *d, const struct expr *e, bool begin)
{
	struct expr *left, *right, *both;

	if (e->op != EXPR_AND) {
		if (side__belongs_to_begin(d->p, e, d->begin) != begin)
			return NULL;
		return copy(d, e, !begin);
	}
	left = part(d, e->left, begin);
	right = part(d, e->right, begin);
	if (!left || !right)
		return left ?: right;
	both = node(d, e);
	if (!both) {
		expr__free(left);
		expr__free(right);
		return NULL;
	}
	both->left = left;
	both->right = right;
	return both;
}

void side__free_filter(struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < PROBE_SIDES; i++)
		expr__free(p->part[i]);
	memset(p->part, 0, sizeof(p->part));
	p->nkept = 0;
}

int side__divide_filter(struct probe_plan *p, const struct place *begin)
{
	struct divider d = { .p = p, .begin = begin };

	side__free_filter(p);
	if (!p->filter)
		return 0;
	p->part[PROBE_BEGIN] = part(&d, p->filter, true);
	p->part[PROBE_END] = part(&d, p->filter, false);
	return d.err;
}

int side__add_kept(struct place *end, const struct probe_plan *p)
{
	size_t i;
	int err = 0;

	for (i = 0; i < p->nkept && !err; i++) {
		struct place_variable v = {
			.name = (char *)p->kept[i].name, .where = AT_FRAME,
			.offset = p->kept_at + 8 * i,
			.type = c_type__integer(8, p->kept[i].is_signed),
		};

		err = place__add(end, &v);
	}
	return err;
}
