// SPDX-License-Identifier: BSD-2-Clause
#include "report/timechart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/text.h"

#define LABEL 32                /* columns of a row's label */
#define FIGURES 22              /* after a row */

/*
 * --- coarser -----------------------------------------------------------------------------------
 */

static void add_slot(struct timechart_slot *to, const struct timechart_slot *from)
{
	u32 i;

	for (i = 0; i < PARTS; i++)
		to->ns[i] += from->ns[i];
	to->known_ns += from->known_ns;
	/* The row that ran most in any of the merged slots or CPUs is the one that ran most in the result. */
	if (from->most_ns > to->most_ns) {
		to->most = from->most;
		to->most_ns = from->most_ns;
	}
}

/* rows_less: amount by which indexes of task rows decrease. */
static void add_row(struct timechart_row *sum, const struct timechart_row *row, u32 by_slots,
		    u32 nslots, u32 rows_less)
{
	u32 i;

	for (i = 0; i < PARTS; i++)
		sum->total[i] += row->total[i];
	for (i = 0; i < nslots; i++) {
		struct timechart_slot slot = row->slot[i];

		if (slot.most)
			slot.most -= rows_less;
		add_slot(&sum->slot[i / by_slots], &slot);
	}
}

int timechart__squeeze(const struct timechart *c, u32 by_slots, u32 by_cpus, struct timechart *out)
{
	u32 nslots = (c->nslots + by_slots - 1) / by_slots;
	u32 ncpus = (c->ncpus + by_cpus - 1) / by_cpus;
	size_t i, at;

	*out = (struct timechart){
		.ncpus = ncpus, .nslots = nslots, .slot_ns = c->slot_ns * by_slots,
		.duration_ns = c->duration_ns,
	};
	out->row = calloc(c->n ?: 1, sizeof(*out->row));
	if (!out->row)
		return -ENOMEM;
	for (i = 0; i < c->n; i++) {
		struct timechart_row *sum;

		at = i < c->ncpus ? i / by_cpus : i - c->ncpus + ncpus;
		sum = &out->row[at];
		if (at == out->n) {
			*sum = c->row[i];
			memset(sum->total, 0, sizeof(sum->total));
			sum->slot = calloc(nslots ?: 1, sizeof(*sum->slot));
			if (!sum->slot) {
				timechart__free(out);
				return -ENOMEM;
			}
			out->n++;
		} else {
			sum->ncpus += c->row[i].ncpus;
		}
		add_row(sum, &c->row[i], by_slots, c->nslots, c->ncpus - ncpus);
	}
	return 0;
}

void timechart__free(struct timechart *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->row[i].slot);
	free(c->row);
	*c = (struct timechart){};
}

u64 timechart__span(const struct timechart *c, u32 first, u32 n)
{
	u64 from = first * c->slot_ns, to = (u64)(first + n) * c->slot_ns;

	if (to > c->duration_ns)
		to = c->duration_ns;
	return to > from ? to - from : 0;
}

double timechart__percent(u64 ns, u64 span_ns)
{
	double percent = span_ns ? 100.0 * ns / span_ns : 0;

	return percent < 100 ? percent : 100;
}

u32 timechart__most(const struct timechart_slot *slot)
{
	return slot->most_ns + slot->known_ns >= slot->ns[PART_RUN] ? slot->most : 0;
}

void timechart__label(const struct timechart_row *row, char text[TIMECHART_LABEL])
{
	char name[ESCAPE_SPACE(sizeof(row->name))];

	escape(name, row->name, strnlen(row->name, sizeof(row->name)));
	if (row->kind == TIMECHART_CPU && row->ncpus == 1)
		snprintf(text, TIMECHART_LABEL, "CPU %u", row->cpu);
	else if (row->kind == TIMECHART_CPU)
		snprintf(text, TIMECHART_LABEL, "CPUs %u-%u", row->cpu, row->cpu + row->ncpus - 1);
	else if (row->kind == TIMECHART_OTHERS)
		snprintf(text, TIMECHART_LABEL,
			 row->ncpus == 1 ? "others (%llu tasks)" : "others (%llu tasks), of %u CPUs",
			 row->tasks, row->ncpus);
	else if (row->tid == row->pid)
		snprintf(text, TIMECHART_LABEL, "%s[%u]", name, row->tid);
	else
		snprintf(text, TIMECHART_LABEL, "%s[%u/%u]", name, row->tid, row->pid);
}

/*
 * --- text --------------------------------------------------------------------------------------
 */

/* Returns the letter of a column's dominant state. Running is a shade of its share, from 1 % upwards. */
static char letter_of(const struct timechart_slot *slot, u64 span_ns)
{
	static const char shades[] = ".:-=+*%#@";
	double run = timechart__percent(slot->ns[PART_RUN], span_ns);
	u64 wait = slot->ns[PART_WAIT], block = slot->ns[PART_BLOCK];
	u64 most = wait > block ? wait : block;
	size_t shade;

	if (most > slot->ns[PART_RUN] && timechart__percent(most, span_ns) >= 10)
		return wait > block ? 'w' : 'D';
	if (run < 1)
		return ' ';
	shade = run / 100 * (sizeof(shades) - 1);
	return shades[shade < sizeof(shades) - 2 ? shade : sizeof(shades) - 2];
}

/* Returns the width in screen columns: escape() produces UTF-8 without invisible characters. */
static u32 width_of(const char *text)
{
	u32 width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void put_row(FILE *f, const struct timechart *c, const struct timechart_row *row)
{
	u64 whole = c->duration_ns * row->ncpus;
	char label[TIMECHART_LABEL];
	u32 width, i;

	timechart__label(row, label);
	fputs(label, f);
	for (width = width_of(label); width < LABEL; width++)
		fputc(' ', f);
	fputs(" |", f);
	for (i = 0; i < c->nslots; i++) {
		struct timechart_slot slot = row->slot[i];

		/* The waits of all other tasks together may exceed any column. */
		if (row->kind == TIMECHART_OTHERS)
			slot.ns[PART_WAIT] = slot.ns[PART_BLOCK] = 0;
		fputc(letter_of(&slot, timechart__span(c, i, 1) * row->ncpus), f);
	}
	fprintf(f, "| %5.1f", timechart__percent(row->total[PART_RUN], whole));
	if (row->kind == TIMECHART_TASK)
		fprintf(f, " %5.1f %5.1f", timechart__percent(row->total[PART_WAIT], whole),
			timechart__percent(row->total[PART_BLOCK], whole));
	fputc('\n', f);
}

static void put_rows(FILE *f, const struct timechart *c)
{
	char width[UNITS_SPACE];
	size_t i;

	fprintf(f, "\n%-*s |%-*s| run %%  wait block\n", LABEL, "", (int)c->nslots, "time");
	for (i = 0; i < c->n; i++) {
		if (i == c->ncpus)
			fputc('\n', f);
		if (c->row[i].kind != TIMECHART_OTHERS || c->row[i].tasks)
			put_row(f, c, &c->row[i]);
	}
	fprintf(f,
		"\n"
		"A column is %s. Share of time running, from 1 %% to 100 %%: .:-=+*%%#@\n"
		"w: waits for a CPU longer than it runs; D: blocked (uninterruptible sleep)\n"
		"blank: idle, asleep\n",
		format_value(width, c->slot_ns, UNIT_NS, false));
}

int write_timechart_text(struct writer *w, const struct report *r, const struct timechart *c,
			 u32 width)
{
	struct timechart coarse;
	u32 room, by;
	int err;

	room = width > LABEL + FIGURES + 20 ? width - LABEL - FIGURES : 20;
	by = (c->nslots + room - 1) / room ?: 1;
	err = timechart__squeeze(c, by, 1, &coarse);
	if (err)
		return err;
	text_put_header(w, r);
	put_rows(w->file, &coarse);
	fputc('\n', w->file);
	text_put_footer(w, r);
	timechart__free(&coarse);
	return 0;
}
