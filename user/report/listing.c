// SPDX-License-Identifier: BSD-2-Clause
/* Text listings: one instruction per line, share first, hot ones in colour. */
#include "report/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/report.h"

#define FOLD 8                  /* shortest run of cold lines that is folded */
#define AROUND 2                /* cold lines shown at either end of a fold */

#define FIGURES 21              /* columns before the offset */
#define MNEMONIC 8              /* columns of the mnemonic, unless it is longer */

#define HOT_PERCENT 5.0
#define WARM_PERCENT 1.0
#define HOT "\033[1;31m"
#define WARM "\033[33m"
#define SOURCE "\033[36m"
#define PLAIN "\033[0m"

void listing__free(struct listing *l)
{
	size_t i;

	for (i = 0; l->line && i < l->n; i++)
		free(l->line[i].source);
	free(l->line);
	free(l->texts);
	free(l->stubs);
	*l = (struct listing){};
}

void report_listings__free(struct report_listings *all)
{
	size_t i;

	for (i = 0; all && i < all->n; i++)
		listing__free(&all->listing[i]);
	if (all)
		free(all->listing);
	free(all);
}

/* Output state. */
struct drawing {
	FILE *file;
	const struct report_listings *all;
	const struct listing *listing;
	int width;              /* width of offsets */
	const char *source;     /* last source file written */
	u32 source_line;
};

static void put_text(FILE *file, const char *text)
{
	char *shown = escape_string(text);

	fputs(shown ?: "?", file);
	free(shown);
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void put_title(const struct drawing *d)
{
	const struct listing *l = d->listing;
	char n[UNITS_SPACE], all[UNITS_SPACE];

	fputc('\n', d->file);
	put_text(d->file, l->name);
	fputs("  (", d->file);
	put_text(d->file, l->path ?: l->module ?: "[unknown]");
	fprintf(d->file, ")  at 0x%llx, %llu bytes\n", l->address, l->size);
	fprintf(d->file, "%s of %s %s in all, %.1f%%\n", format_count(n, l->count),
		format_count(all, d->all->total), d->all->unit, percent(l->count, d->all->total));
	if (l->why)
		fprintf(d->file, "no instructions: %s\n", l->why);
	fprintf(d->file, "\n  share %11s  %*s%s\n", d->all->unit, d->width, "offset",
		l->why ? "" : "  instruction");
}

/* Writes the source position if it differs from the last one. */
static void put_source(struct drawing *d, const struct listing_line *line)
{
	const char *slash = line->file ? strrchr(line->file, '/') : NULL;

	if (!line->file)
		return;
	if (d->source && line->line == d->source_line && !strcmp(line->file, d->source))
		return;
	d->source = line->file;
	d->source_line = line->line;
	fprintf(d->file, "%*s%s", FIGURES + d->width + 2, "", d->all->colour ? SOURCE : "");
	put_text(d->file, slash ? slash + 1 : line->file);
	fprintf(d->file, ":%u", line->line);
	if (line->source)
		fputs("  ", d->file);
	if (line->source)
		put_text(d->file, line->source);
	fprintf(d->file, "%s\n", d->all->colour ? PLAIN : "");
}

static void put_target(const struct drawing *d, const struct listing_line *line)
{
	const struct listing *l = d->listing;

	if (line->target >= l->address && line->target - l->address < l->size) {
		fprintf(d->file, "+0x%llx", line->target - l->address);
		return;
	}
	if (!line->target_name) {
		fprintf(d->file, "0x%llx", line->target);
		return;
	}
	put_text(d->file, line->target_name);
	if (line->target_offset)
		fprintf(d->file, "+0x%llx", line->target_offset);
}

static void put_instruction(const struct drawing *d, const struct listing_line *line)
{
	int len;

	if (!line->size) {
		if (!d->listing->why)
			fputs("(no instruction begins here)", d->file);
		return;
	}
	put_text(d->file, line->mnemonic);
	if (!line->operands[0])
		return;
	len = strlen(line->mnemonic);
	fprintf(d->file, "%*s", len < MNEMONIC ? MNEMONIC - len : 1, "");
	if (!line->target_is_operand)
		put_text(d->file, line->operands);
	if (line->has_target && !line->target_is_operand)
		fputs("  # ", d->file);
	if (line->has_target)
		put_target(d, line);
}

static void put_line(struct drawing *d, const struct listing_line *line)
{
	double share = percent(line->count, d->listing->count);
	const char *colour = !d->all->colour	      ? ""
			     : share >= HOT_PERCENT  ? HOT
			     : share >= WARM_PERCENT ? WARM
						     : "";
	char n[UNITS_SPACE], offset[UNITS_SPACE];

	put_source(d, line);
	snprintf(offset, sizeof(offset), "+0x%llx", line->offset);
	fputs(colour, d->file);
	if (line->count)
		fprintf(d->file, "%6.1f%% %11s", share, format_count(n, line->count));
	else
		fprintf(d->file, "%*s", FIGURES - 2, "");
	fprintf(d->file, "  %*s%s", d->width, offset, d->listing->why ? "" : "  ");
	put_instruction(d, line);
	fprintf(d->file, "%s\n", *colour ? PLAIN : "");
}

/* Returns the number of consecutive lines without counts, starting at line i. */
static size_t cold_from(const struct listing *l, size_t i)
{
	size_t n = 0;

	while (i + n < l->n && !l->line[i + n].count)
		n++;
	return n;
}

static void put_lines(struct drawing *d, size_t i, size_t n)
{
	for (; n && i < d->listing->n; n--)
		put_line(d, &d->listing->line[i++]);
}

static void put_listing(FILE *file, const struct report_listings *all, const struct listing *l)
{
	struct drawing d = { .file = file, .all = all, .listing = l };
	size_t i, cold;

	d.width = snprintf(NULL, 0, "+0x%llx", l->n ? l->line[l->n - 1].offset : 0);
	if (d.width < (int)strlen("offset"))
		d.width = strlen("offset");
	put_title(&d);
	for (i = 0; i < l->n; i += cold + 1) {
		cold = cold_from(l, i);
		if (cold < FOLD) {
			put_lines(&d, i, cold + 1);
			continue;
		}
		put_lines(&d, i, AROUND);
		fprintf(file, "%*s... %zu without %s\n", FIGURES + d.width + 2, "",
			cold - 2 * AROUND, all->unit);
		put_lines(&d, i + cold - AROUND, AROUND + 1);
	}
}

void write_listings(struct writer *w, const struct report *r)
{
	size_t i;

	for (i = 0; i < r->listings->n; i++)
		put_listing(w->file, r->listings, &r->listings->listing[i]);
}
