// SPDX-License-Identifier: BSD-2-Clause
/* Compares addresses with function names: the names become address ranges at compile time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "sym/kallsyms.h"

#define MOST_BOUNDS 900         /* two per range of functions; limited by the program size */
#define PADDING                                                                                    \
	16 /* bytes before functions since 6.2 (CALL_PADDING), never returned to */
#define LAST_FUNCTION 4096      /* bytes assumed for a function of unknown size */

static bool is_symbol(const struct expr *e)
{
	return (e->op == EXPR_SPECIAL && !strcmp(e->text, "caller")) ||
	       (e->op == EXPR_TYPED && (!strcmp(e->text, "symbol") || !strcmp(e->text, "usymbol")));
}

bool expr_compares_symbols(const struct compiler *f, const struct expr *e)
{
	return e->right->op == EXPR_STRING && is_symbol(compiler__follow(f, e->left));
}

struct ranges {
	s64 *bound;             /* start, end, start, end, ... in ascending order */
	size_t n;
};

/* Makes ranges from functions that are sorted by address. Adjacent functions form one range. */
static int make_ranges(struct ranges *r, const struct kernel_functions *found)
{
	size_t i;

	*r = (struct ranges){ calloc(2 * found->n + 1, sizeof(*r->bound)), 0 };
	if (!r->bound)
		return -ENOMEM;
	for (i = 0; i < found->n; i++) {
		s64 begin = found->function[i].address;
		s64 end = begin + (found->function[i].size ?: LAST_FUNCTION);

		if (r->n && begin <= r->bound[r->n - 1] + PADDING) {
			if (end > r->bound[r->n - 1])
				r->bound[r->n - 1] = end;
			continue;
		}
		r->bound[r->n++] = begin;
		r->bound[r->n++] = end;
	}
	return 0;
}

static int find_ranges(struct compiler *f, const struct expr *text, struct ranges *r)
{
	struct kernel_functions found;
	int err = kernel_functions__find(&found, text->text, NULL);

	if (!err && found.n && !found.function[0].address)
		err = -EPERM;
	if (err == -EPERM)
		return compiler__refuse(f, text, "the kernel hides its addresses (kptr_restrict)");
	if (err)
		return err;
	if (!found.n)
		err = complain(f->c, -EINVAL, text->at, text->len,
			       "no kernel function matches this");
	if (!err)
		err = make_ranges(r, &found);
	if (!err && r->n > MOST_BOUNDS) {
		err = complain(f->c, -EINVAL, text->at, text->len,
			       "%zu functions match this, in too many places", found.n);
		free(r->bound);
	}
	kernel_functions__free(&found);
	return err;
}

int compiler__symbol_condition(struct compiler *f, const struct expr *e, bool wanted, int label)
{
	bool like = e->op == EXPR_LIKE || e->op == EXPR_EQUAL;
	int done = code__label(f->code), err;
	struct ranges ranges = {};
	struct operand o;

	if (!like && e->op != EXPR_NOT_LIKE && e->op != EXPR_NOT_EQUAL)
		return complain(f->c, -EINVAL, e->op_at, e->op_len,
				"names have no order; use ==, !=, ~ or !~");
	if (f->place->is_user || !strcmp(compiler__follow(f, e->left)->text, "usymbol"))
		return compiler__refuse(f, e, "only kernel functions can be named here");
	err = find_ranges(f, e->right, &ranges);
	if (err)
		return err;
	err = compiler__value(f, e->left, &o);
	compiler__bucket(f, ranges.bound, 0, ranges.n, done);
	code__place(f->code, done);
	/* An odd number of lower bounds means inside a range. */
	code__op_number(f->code, BPF_AND, BPF_REG_1, 1);
	code__jump_if_number(f->code, like == wanted ? BPF_JNE : BPF_JEQ, BPF_REG_1, 0, label);
	free(ranges.bound);
	return err;
}
