// SPDX-License-Identifier: BSD-2-Clause
#include "base/ends_with.h"
#include "report/listing.h"
#include "report/report.h"
#include "report/role.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const struct report_percentile report_percentiles[4] = {
	{ "p50", "p50", 5000 },
	{ "p90", "p90", 9000 },
	{ "p99", "p99", 9900 },
	{ "p999", "p99.9", 9990 },
};

static void fields__free(struct field *f, size_t n)
{
	size_t i;

	for (i = 0; f && i < n; i++)
		free(f[i].text);
	free(f);
}

void report_group__free(struct report_group *g)
{
	fields__free(g->key, g->nkey);
	histogram__free(&g->hist);
	memset(g, 0, sizeof(*g));
}

void report_row__free(struct report_row *row)
{
	fields__free(row->cell, row->ncells);
	if (row->hist)
		histogram__free(row->hist);
	free(row->hist);
	memset(row, 0, sizeof(*row));
}

int report_row__add_field(struct report_row *row, const struct field *f)
{
	return ARRAY_APPEND(row->cell, row->ncells, *f);
}

int report_row__add_fields(struct report_row *row, const struct field *f, size_t n)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = report_row__add_field(row, &f[i]);
	return err;
}

int report_row__add_number(struct report_row *row, const char *name, u64 number,
			   enum field_kind kind)
{
	const struct field f = { .name = name, .number = number, .kind = kind };

	return report_row__add_field(row, &f);
}

int report_row__add_figure(struct report_row *row, const char *name, u64 number, enum field_kind kind,
			   enum field_role role)
{
	const struct field f = { .name = name, .number = number, .kind = kind, .role = role };

	return report_row__add_field(row, &f);
}

int report_row__add_sum(struct report_row *row, const char *name, u64 number, enum field_kind kind)
{
	return report_row__add_figure(row, name, number, kind, ROLE_COUNTER);
}

int report_row__add_mean(struct report_row *row, const char *name, u64 number, enum field_kind kind, const char *of,
			 const char *per)
{
	const struct field f = {
		.name = name, .number = number, .kind = kind, .role = ROLE_MEAN, .of = of, .per = per,
	};

	return report_row__add_field(row, &f);
}

bool report_frame__is_off_cpu(const struct report_frame *f)
{
	return f->kind == FRAME_NOTE && f->name && !strncmp(f->name, NOTE_OFF_CPU, strlen(NOTE_OFF_CPU));
}

int report_row__add_text_as(struct report_row *row, const struct field *f, const char *text)
{
	struct field copy = *f;
	int err;

	copy.text = text ? strdup(text) : NULL;
	if (text && !copy.text)
		return -ENOMEM;
	if (!text)
		copy.kind = FIELD_NONE;
	err = report_row__add_field(row, &copy);
	if (err)
		free(copy.text);
	return err;
}

int report_row__add_text(struct report_row *row, const char *name, const char *text)
{
	const struct field f = { .name = name, .kind = FIELD_NONE, .role = ROLE_KEY };

	return report_row__add_text_as(row, &f, text);
}

void report_row__end_key(struct report_row *row)
{
	size_t i;

	for (i = 0; i < row->ncells; i++)
		row->cell[i].role = row->cell[i].role ?: ROLE_KEY;
}

int report__add_group(struct report *r, struct report_group *g)
{
	if (ARRAY_ROOM(r->group, r->ngroups)) {
		report_group__free(g);
		return -ENOMEM;
	}
	report_row__end_key(&(struct report_row){ .cell = g->key, .ncells = g->nkey });
	r->group[r->ngroups++] = *g;
	memset(g, 0, sizeof(*g));
	return 0;
}

static enum field_role usual_role(const struct field *f, bool after_figure)
{
	if (f->text || f->kind == FIELD_ID || (f->kind == FIELD_NONE && !after_figure))
		return ROLE_KEY;
	return ROLE_GAUGE;
}

/* Assigns default roles to cells without a role. A cell without a value belongs to the key until the first figure. */
static void settle_roles(struct report_row *row)
{
	bool after_figure = false;
	size_t i;

	for (i = 0; i < row->ncells; i++) {
		struct field *f = &row->cell[i];

		f->role = f->role ?: usual_role(f, after_figure);
		after_figure |= field_is_figure(f);
	}
}

int report__add_row(struct report *r, struct report_row *row)
{
	if (ARRAY_ROOM(r->row, r->nrows)) {
		report_row__free(row);
		return -ENOMEM;
	}
	settle_roles(row);
	r->row[r->nrows++] = *row;
	memset(row, 0, sizeof(*row));
	return 0;
}

int report__end_row(struct report *r, struct report_row *row, int err)
{
	if (!err)
		return report__add_row(r, row);
	report_row__free(row);
	return err;
}

int report_row__begin_total(struct report_row *row, const struct report *r, size_t nkeys)
{
	int err = 0;
	size_t i;

	*row = (struct report_row){ .is_total = true };
	for (i = 0; i < nkeys && !err; i++)
		err = report_row__add_text(row, r->row[0].cell[i].name, i ? NULL : "total");
	return err;
}

int report__end_columns(struct report *r, struct report_row *row, int err)
{
	report_row__free(&r->columns);
	if (err)
		report_row__free(row);
	else
		r->columns = *row;
	*row = (struct report_row){};
	return err;
}

int report__keep_columns(struct report *r, int err)
{
	if (err)
		return err;
	report_row__free(&r->columns);
	r->columns = r->row[--r->nrows];
	return 0;
}

int report__add_texts(struct report *r, const char *const *names, const char *const *texts,
		      size_t n)
{
	struct report_row row = { .cell = calloc(n, sizeof(*row.cell)), .ncells = n };
	size_t i;

	for (i = 0; row.cell && i < n; i++) {
		row.cell[i] = (struct field){ .name = names[i], .text = strdup(texts[i]) };
		if (!row.cell[i].text)
			break;
	}
	if (!row.cell || i < n) {
		report_row__free(&row);
		return -ENOMEM;
	}
	return report__add_row(r, &row);
}

static const char *const columns[] = {
	"key", "count", "sum", "min", "avg", "max", "p50", "p90", "p99", "p999",
};

int report_sort_column(const char *name)
{
	size_t i;

	if (!strcmp(name, "total"))     /* "total" is the name in text and tables */
		name = "sum";
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(name, columns[i]))
			return i;
	return -EINVAL;
}

const char *report_sort_columns(void)
{
	return "key, count, sum, min, avg, max, p50, p90, p99, p999; total is sum";
}

const char *report_sort_column_name(size_t i)
{
	return i < ARRAY_SIZE(columns) ? columns[i] : NULL;
}

static __int128 wide(const struct histogram *h, u64 value)
{
	return h->bound ? (__int128)(s64)value : (__int128)value;
}

/* Returns the average in units of 2^-32, so that averages of small numbers differ. */
static __int128 fine_average(const struct histogram *h)
{
	__int128 count = h->count, unit = 1LL << 32;

	return count ? h->sum / count * unit + h->sum % count * unit / count : 0;
}

/* Returns the value by which groups are sorted. */
static __int128 figure(const struct histogram *h, int column)
{
	switch (column) {
	case 1:
		return h->count;
	case 2:
		return h->sum;
	case 3:
		return wide(h, h->min);
	case 4:
		return fine_average(h);
	case 5:
		return wide(h, h->max);
	default:
		return wide(
			h, histogram__percentile(h, report_percentiles[column - 6].per_10k));
	}
}

static int compare_fields(const struct field *a, const struct field *b)
{
	if (a->text && b->text)
		return strcmp(a->text, b->text);
	if (field_is_signed(a->kind) && field_is_signed(b->kind))
		return (s64)a->number < (s64)b->number ? -1 : (s64)a->number > (s64)b->number;
	return a->number < b->number ? -1 : a->number > b->number;
}

struct sort_entry {
	__int128 figure;
	struct report_group group;
};

static int by_figure_then_key(const void *a, const void *b)
{
	const struct sort_entry *x = a, *y = b;
	size_t i;
	int d;

	if (x->figure != y->figure)
		return x->figure > y->figure ? -1 : 1;
	for (i = 0; i < x->group.nkey && i < y->group.nkey; i++) {
		d = compare_fields(&x->group.key[i], &y->group.key[i]);
		if (d)
			return d;
	}
	return 0;
}

const char *report__usual_column(const struct report *r)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; r->nrows && i < r->row[0].ncells; i++) {
		const struct field *f = &r->row[0].cell[i];

		if (f->role == ROLE_COUNTER && !strcmp(f->name, "total"))
			return f->name;
		if (f->role == ROLE_COUNTER && !first)
			first = f->name;
	}
	return first;
}

void report__sort_groups(struct report *r, int column, size_t top)
{
	struct sort_entry *order = calloc(r->ngroups ?: 1, sizeof(*order));
	size_t i;

	if (!order)
		return;         /* no memory: unsorted is still correct */
	for (i = 0; i < r->ngroups; i++) {
		order[i].group = r->group[i];
		order[i].figure = column ? figure(&r->group[i].hist, column) : 0;
	}
	qsort(order, r->ngroups, sizeof(*order), by_figure_then_key);
	for (i = 0; i < r->ngroups; i++)
		r->group[i] = order[i].group;
	free(order);
	while (top && r->ngroups > top) {
		report_group__free(&r->group[--r->ngroups]);
		r->hidden++;
	}
}

struct row_entry {
	size_t nkeys;
	const struct field *figure;     /* NULL without a cell to sort by */
	struct report_row row;
};

static bool is_known(const struct field *f)
{
	return f && (f->text || f->kind != FIELD_NONE);
}

const char *field_real_text(char *text, const struct field *f)
{
	char digits[UNITS_SPACE];

	if (field_is_wide(f)) {
		format_count(digits, f->exact < 0 ? -(unsigned __int128)f->exact : (unsigned __int128)f->exact);
		snprintf(text, UNITS_SPACE, "%s%.60s", f->exact < 0 ? "-" : "", digits);
		return text;
	}
	return f->exact_per && f->decimals == 2 ? format_mean(text, f->exact, f->exact_per) :
						  format_real(text, f->real, f->decimals);
}

/* long double represents every 64-bit number exactly. */
static long double real_of(const struct field *f)
{
	if (f->kind == FIELD_REAL)
		return f->real;
	return field_is_signed(f->kind) ? (long double)(s64)f->number : (long double)f->number;
}

/* Compares cells of the same name: > 0 if a is greater. */
static int compare_cells(const struct field *a, const struct field *b)
{
	if (!is_known(a) || !is_known(b))
		return is_known(a) - is_known(b);
	if (!a->text && !b->text && (a->kind == FIELD_REAL || b->kind == FIELD_REAL))
		return real_of(a) < real_of(b) ? -1 : real_of(a) > real_of(b);
	return compare_fields(a, b);
}

static int by_cell_then_key(const void *a, const void *b)
{
	const struct row_entry *x = a, *y = b;
	int d = x->row.later - y->row.later ?: compare_cells(y->figure, x->figure);
	size_t i;

	for (i = 0; !d && i < x->nkeys && i < x->row.ncells && i < y->row.ncells; i++)
		d = compare_cells(&x->row.cell[i], &y->row.cell[i]);
	return d;
}

static const struct field *cell_named(const struct report_row *row, const char *name)
{
	size_t i;

	for (i = 0; name && i < row->ncells; i++)
		if (!strcmp(row->cell[i].name, name))
			return &row->cell[i];
	return NULL;
}

void report__sort_rows(struct report *r, const char *column, size_t nkeys, size_t top)
{
	struct row_entry *order = calloc(r->nrows ?: 1, sizeof(*order));
	size_t i;

	if (!order)
		return;         /* no memory: unsorted is still correct */
	for (i = 0; i < r->nrows; i++)
		order[i] = (struct row_entry){ nkeys, cell_named(&r->row[i], column), r->row[i] };
	qsort(order, r->nrows, sizeof(*order), by_cell_then_key);
	for (i = 0; i < r->nrows; i++)
		r->row[i] = order[i].row;
	free(order);
	while (top && r->nrows > top) {
		report_row__free(&r->row[--r->nrows]);
		r->hidden++;
	}
}

struct stack_entry {
	const struct report_stacks *all;
	struct report_stack stack;
};

static int compare_names(const char *a, const char *b)
{
	return strcmp(a ?: "", b ?: "");
}

static int compare_frames(const struct report_frame *a, const struct report_frame *b)
{
	int d = compare_names(a->name, b->name);

	if (!d)
		d = compare_names(a->module, b->module);
	if (!d && a->offset != b->offset)
		d = a->offset < b->offset ? -1 : 1;
	if (!d)
		d = compare_names(a->file, b->file);
	if (!d)
		d = (int)(a->line > b->line) - (int)(a->line < b->line);
	return d;
}

u64 report_stacks__total(const struct report_stacks *s, const struct report_stack *stack)
{
	return s->nevents ? s->event[stack->event].total : s->total;
}

/* Sorts larger shares first. */
static int compare_shares(const struct report_stacks *s, const struct report_stack *a, const struct report_stack *b)
{
	unsigned __int128 x = (unsigned __int128)a->value * report_stacks__total(s, b),
			  y = (unsigned __int128)b->value * report_stacks__total(s, a);

	return x == y ? 0 : x > y ? -1 : 1;
}

static int by_value_then_frames(const void *a, const void *b)
{
	const struct stack_entry *x = a, *y = b;
	const struct report_frame *frame = x->all->frame;
	u32 i;
	int d = compare_shares(x->all, &x->stack, &y->stack);

	if (d)
		return d;
	for (i = 0; !d && i < x->stack.nframes && i < y->stack.nframes; i++)
		if (x->stack.frame[i] != y->stack.frame[i])
			d = compare_frames(&frame[x->stack.frame[i]], &frame[y->stack.frame[i]]);
	if (!d && x->stack.nframes != y->stack.nframes)
		d = x->stack.nframes < y->stack.nframes ? -1 : 1;
	return d ?: (int)(x->stack.key > y->stack.key) - (int)(x->stack.key < y->stack.key);
}

static void report_stack__free(struct report_stack *s)
{
	free(s->frame);
	free(s->place);
}

void report__sort_stacks(struct report *r, size_t top)
{
	struct report_stacks *all = r->stacks;
	struct stack_entry *order = calloc(all->n ?: 1, sizeof(*order));
	size_t i;

	if (!order)
		return;         /* no memory: unsorted is still correct */
	for (i = 0; i < all->n; i++)
		order[i] = (struct stack_entry){ all, all->stack[i] };
	qsort(order, all->n, sizeof(*order), by_value_then_frames);
	for (i = 0; i < all->n; i++)
		all->stack[i] = order[i].stack;
	free(order);
	while (top && all->n > top) {
		report_stack__free(&all->stack[--all->n]);
		r->hidden++;
	}
}

void report_stacks__free(struct report_stacks *s)
{
	size_t i;

	for (i = 0; s && i < s->n; i++)
		report_stack__free(&s->stack[i]);
	for (i = 0; s && i < s->nkeys; i++)
		report_row__free(&s->key[i]);
	if (s) {
		free(s->stack);
		free(s->key);
	}
	free(s);
}

void report__free(struct report *r)
{
	size_t i;

	for (i = 0; i < r->ngroups; i++)
		report_group__free(&r->group[i]);
	for (i = 0; i < r->nrows; i++)
		report_row__free(&r->row[i]);
	report_row__free(&r->columns);
	report_stacks__free(r->stacks);
	report_listings__free(r->listings);
	free(r->group);
	free(r->row);
	memset(r, 0, sizeof(*r));
}

enum unit field_unit(const struct field *f)
{
	if (f->kind == FIELD_TIME || f->kind == FIELD_DURATION || ends_with(f->name, "_ns"))
		return UNIT_NS;
	if (f->kind == FIELD_SIZE || f->kind == FIELD_SIGNED_SIZE || ends_with(f->name, "bytes"))
		return UNIT_BYTES;
	return UNIT_COUNT;
}

const char *report_format_name(enum report_format format)
{
	static const char *const names[FORMATS] = {
		[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CSV] = "csv",
		[FORMAT_FOLDED] = "folded", [FORMAT_FLAME] = "flame", [FORMAT_SVG] = "svg",
		[FORMAT_PPROF] = "pprof", [FORMAT_SPEEDSCOPE] = "speedscope",
		[FORMAT_OPENMETRICS] = "openmetrics", [FORMAT_PROMETHEUS] = "prometheus",
		[FORMAT_HTML] = "html",
	};

	return names[format];
}

static int format_named(const char *name)
{
	int i;

	for (i = 0; i < FORMATS; i++)
		if (!strcmp(name, report_format_name(i)))
			return i;
	return -EINVAL;
}

int report_format(const char *name)
{
	int format = format_named(name);

	return format < FORMAT_FOLDED || format == FORMAT_SVG ? format : -EINVAL;
}

int report_stack_format(const char *name)
{
	int format = strcmp(name, "tree") ? format_named(name) : FORMAT_TEXT;

	return format == FORMAT_SVG ? FORMAT_FLAME : format;
}

const char *report__when(const struct report *r, char room[REPORT_NOTE_SPACE])
{
	char time[UNITS_SPACE];

	snprintf(room, REPORT_NOTE_SPACE, "%s %s", r->read_ns ? ", read in" : " during",
		 format_value(time, r->read_ns ?: r->duration_ns, UNIT_NS, false));
	return room;
}

const char *report__note(const struct report *r, char room[REPORT_NOTE_SPACE])
{
	char part[UNITS_SPACE], whole[UNITS_SPACE];

	if (!r->measured_ns)
		return r->caveat;
	snprintf(room, REPORT_NOTE_SPACE, "estimated: events were observed for %s of %s",
		 format_value(part, r->measured_ns, UNIT_NS, false),
		 format_value(whole, r->duration_ns, UNIT_NS, false));
	return room;
}
