// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "expr/expr.h"

void bounds__free(struct bounds *b)
{
	free(b->bound);
	*b = (struct bounds){};
}

static int add(struct bounds *b, s64 bound)
{
	return ARRAY_APPEND(b->bound, b->n, bound);
}

/* Parses the number in text[at..at + len). */
static int number(s64 *value, const char *text, size_t at, size_t len, struct complaint *c)
{
	char *part = strndup(text + at, len);
	const struct expr *sign;
	struct complaint ignored;
	struct expr *e = NULL;
	int err;

	if (!part)
		return -ENOMEM;
	err = expr__parse(&e, part, &ignored);
	sign = !err && e->op == EXPR_NEGATE ? e->left : e;
	if (err || (sign->op != EXPR_NUMBER && sign->op != EXPR_TIME) || sign->number > INT64_MAX)
		err = complain(c, -EINVAL, at, len ?: 1, "expected a number");
	else
		*value = sign == e ? (s64)e->number : -(s64)sign->number;
	expr__free(e);
	free(part);
	return err;
}

int bounds__linear(struct bounds *b, const char *text, struct complaint *c)
{
	size_t first = strcspn(text, ":"), second;
	s64 from, to, step, at;
	int err;

	*b = (struct bounds){};
	if (!text[first] || !text[second = first + 1 + strcspn(text + first + 1, ":")])
		return complain(c, -EINVAL, 0, strlen(text), "expected FROM:TO:STEP, as in 0:100:10");
	err = number(&from, text, 0, first, c);
	if (!err)
		err = number(&to, text, first + 1, second - first - 1, c);
	if (!err)
		err = number(&step, text, second + 1, strlen(text) - second - 1, c);
	if (err)
		return err;
	if (step <= 0 || to <= from)
		return complain(c, -EINVAL, 0, strlen(text), "FROM must be below TO, and STEP above 0");
	if (((u64)to - (u64)from) / (u64)step >= BOUNDS_MOST)
		return complain(c, -EINVAL, 0, strlen(text), "more than %d buckets", BOUNDS_MOST);
	for (at = from; !err && at < to; at += step) {
		err = add(b, at);
		if (at > INT64_MAX - step)
			break;
	}
	if (!err)
		err = add(b, to);
	if (err)
		bounds__free(b);
	return err;
}

int bounds__powers(struct bounds *b, const char *text, struct complaint *c)
{
	s64 base, at;
	int err;

	*b = (struct bounds){};
	err = number(&base, text, 0, strlen(text), c);
	if (!err && base < 2)
		err = complain(c, -EINVAL, 0, strlen(text), "expected a base of 2 or more");
	if (!err)
		err = add(b, 0);
	for (at = 1; !err; at *= base) {
		err = add(b, at);
		if (at > INT64_MAX / base)
			break;
	}
	if (err)
		bounds__free(b);
	return err;
}

int bounds__list(struct bounds *b, const char *text, struct complaint *c)
{
	static const char separators[] = " ,\t";
	size_t at = strspn(text, separators), len;
	s64 bound;
	int err = 0;

	*b = (struct bounds){};
	for (; !err && text[at]; at += strspn(text + at, separators)) {
		len = strcspn(text + at, separators);
		err = number(&bound, text, at, len, c);
		if (!err && b->n && bound <= b->bound[b->n - 1])
			err = complain(c, -EINVAL, at, len, "each bound must be above the previous bound");
		if (!err && b->n == BOUNDS_MOST)
			err = complain(c, -EINVAL, at, len, "%d bounds at most", BOUNDS_MOST);
		if (!err)
			err = add(b, bound);
		at += len;
	}
	if (!err && !b->n)
		err = complain(c, -EINVAL, 0, 1, "expected bounds, as in \"100 1000 10000\"");
	if (err)
		bounds__free(b);
	return err;
}
