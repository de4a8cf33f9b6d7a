// SPDX-License-Identifier: BSD-2-Clause
#include "machine/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/bootstrap.h"
#include "report/diag.h"
#include "report/units.h"

#define CAVEAT_SPACE 160

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Rejects runs of different measurements. */
static int check(const struct saved *a, const struct saved *b, bool flame)
{
	if (strcmp(a->tool, b->tool) || a->kind != b->kind || !same_text(a->value, b->value)) {
		diag_error("%s is from %s (%s), %s from %s (%s): different measurements cannot be compared",
			   a->path, a->tool, a->value ?: "a list", b->path, b->tool,
			   b->value ?: "a list");
		return -EINVAL;
	}
	if (!same_text(a->unit, b->unit)) {
		diag_error("%s is in %s, but %s is in %s", a->path, a->unit ?: "no unit", b->path,
			   b->unit ?: "no unit");
		return -EINVAL;
	}
	if (flame && a->kind != SAVED_STACKS) {
		diag_error("--format flame needs stacks, and %s has none", a->tool);
		return -EINVAL;
	}
	return 0;
}

static void put_run(FILE *f, const char *when, const struct saved *s, bool apart)
{
	char time[UNITS_SPACE], events[UNITS_SPACE], lost[UNITS_SPACE], inexact[UNITS_SPACE];

	fprintf(f, "%s: %s, %s, %s events, lost %s", when, s->path,
		format_value(time, s->duration_ns, UNIT_NS, false), format_count(events, s->events),
		format_count(lost, s->lost));
	if (s->inexact)
		fprintf(f, ", inexact %s", format_count(inexact, s->inexact));
	if (apart)
		fprintf(f, ", %zu intervals in blocks of %zu", s->n, bootstrap__block(s->n));
	else if (s->n > 1)
		fprintf(f, ", %zu reports added up", s->n);
}

/* "runqlat, wait for a CPU; before: a.json, 5.00 s, ...; after: ..." */
static char *source_of(const struct saved *a, const struct saved *b, bool apart)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fputs(a->tool, f);
	if (a->value)
		fprintf(f, ", %s", a->value);
	put_run(f, "; before", a, apart);
	put_run(f, "; after", b, apart);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* The reason why counts cannot be compared directly, or NULL. */
static const char *caveat_of(const struct saved *a, const struct saved *b, char text[CAVEAT_SPACE])
{
	char before[UNITS_SPACE], after[UNITS_SPACE];
	u64 by = a->duration_ns > b->duration_ns ? a->duration_ns - b->duration_ns
						 : b->duration_ns - a->duration_ns;

	if (a->hidden || b->hidden)
		return "--top left entries out of the files: they may look new or gone";
	if (by <= a->duration_ns / 50)
		return NULL;
	snprintf(text, CAVEAT_SPACE, "the runs took %s and %s: counts and sums differ for that reason alone",
		 format_value(before, a->duration_ns, UNIT_NS, false),
		 format_value(after, b->duration_ns, UNIT_NS, false));
	return text;
}

int diff__write(struct writer *w, const struct saved *before, const struct saved *after, size_t top)
{
	const struct saved *const run[] = { before, after };
	bool flame = w->format == FORMAT_FLAME;
	char *source = NULL, caveat[CAVEAT_SPACE];
	struct report r = { .tool = "diff", .caveat = caveat_of(before, after, caveat), .table = true };
	int err = check(before, after, flame);

	if (err)
		return err;
	r.source = source = source_of(before, after, false);
	if (before->kind == SAVED_GROUPS)
		err = diff_groups(&r, run, top);
	else if (before->kind == SAVED_ROWS)
		err = diff_rows(&r, run, top);
	else
		err = diff_stacks(&r, run, flame ? w : NULL, top);
	if (!err && !flame)
		err = writer__write(w, &r);
	report__free(&r);
	free(source);
	return err;
}

int diff__test(struct writer *w, const struct saved *before, const struct saved *after, size_t top,
	       struct diff_test *test)
{
	const struct saved *const run[] = { before, after };
	struct report r = { .tool = "diff", .table = true };
	char *source = NULL;
	int err = check(before, after, false);

	if (err)
		return err;
	if (before->hidden || after->hidden)
		r.caveat = "--top left rows out of the files: a row counts as 0 in intervals without it";
	r.source = source = source_of(before, after, true);
	err = diff_test(&r, run, top, test);
	if (!err)
		err = writer__write(w, &r);
	report__free(&r);
	free(source);
	return err;
}
