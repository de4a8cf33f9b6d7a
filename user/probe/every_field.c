// SPDX-License-Identifier: BSD-2-Clause
#include "probe/every_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/types.h"
#include "expr/fields.h"
#include "jit/compile.h"

/* True for the names that tracepoints give to fields with code addresses. */
static bool leads_to_code(const struct tracepoint_field *f)
{
	static const char *const names[] = { "call_site", "caller", "callsite", "caller_ip",
					     "function",  "func",   "location", "ip" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return false;
}

/* True for a buffer that the system call fills: its contents before the call are meaningless. */
static bool is_filled_later(const struct tracepoint_field *f)
{
	return !strncmp(f->type, "char", 4) && strchr(f->type, '*');
}

static bool can_be_shown(const char *text, const struct place *place)
{
	struct operand_type t = {};
	struct complaint c;
	struct expr *e;
	int err = expr__parse(&e, text, &c);

	if (err)
		return false;
	err = expr__type(&t, e, place, &c);
	expr__free(e);
	return !err;
}

/* Returns an allocated text, or NULL if the field cannot be shown. */
static char *typed_text(const struct tracepoint_field *f, const struct place *place)
{
	const char *how = field__symbol_kind(place->format, f->name) ? ":enum" :
			  leads_to_code(f) ? ":symbol" : is_filled_later(f) ? ":x64" : "";
	char *text;

	if (asprintf(&text, "%s%s", f->name, how) < 0)
		return NULL;
	if (can_be_shown(text, place))
		return text;
	text[strlen(f->name)] = 0;
	if (can_be_shown(text, place))
		return text;
	free(text);
	return NULL;
}

static int add(struct probe_argument **argument, size_t *n, char *text)
{
	struct probe_argument a = { .text = text };
	struct complaint c;
	int err = ARRAY_ROOM(*argument, *n) ?: expr__parse(&a.expr, text, &c);

	if (!err)
		a.name = strndup(text, strcspn(text, ":"));
	if (err || !a.name) {
		expr__free(err ? NULL : a.expr);
		free(text);
		return err ?: -ENOMEM;
	}
	(*argument)[(*n)++] = a;
	return 0;
}

int every_field__of(struct probe_argument **argument, size_t *n, struct probe_plan *p, size_t i)
{
	struct spot spot;
	int err = spot__make(&spot, p, PROBE_END, i);
	size_t k;

	*argument = NULL;
	*n = 0;
	if (err)
		return err;
	for (k = 0; spot.place.format && k < spot.place.format->nfields && !err; k++) {
		const struct tracepoint_field *f = &spot.place.format->field[k];
		char *text = f->is_common || !strcmp(f->name, "__syscall_nr") ? NULL : typed_text(f, &spot.place);

		if (text)
			err = add(argument, n, text);
	}
	spot__free(&spot);
	return err;
}
