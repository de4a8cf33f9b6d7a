// SPDX-License-Identifier: BSD-2-Clause
#include "triage/rule.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/shell.h"
#include "report/stream.h"

/* Initial room for the keys of a rule. Equal keys are merged whenever the room is full. */
#define ROOM_AT_FIRST 256

struct keys {
	struct triage_key *key;
	size_t n, room, merged; /* the first merged keys are distinct */
	u64 duration_ns;        /* total of its tool's reports; 0 if none yet */
	u64 nothers;            /* keys moved to the others, and their total */
	double others;
};

struct triage {
	const struct triage_rule *rule;
	struct keys *keys;      /* per rule */
	size_t n;
	u32 pid;
};

struct triage *triage__new(const struct triage_rule *rule, size_t n)
{
	struct triage *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct triage){ .rule = rule, .n = n, .keys = calloc(n, sizeof(*t->keys)) };
	if (t->keys)
		return t;
	free(t);
	return NULL;
}

void triage__reset(struct triage *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->keys[i].n; k++)
			report_row__free(&t->keys[i].key[k].row);
		free(t->keys[i].key);
		t->keys[i] = (struct keys){};
	}
}

void triage__free(struct triage *t)
{
	if (!t)
		return;
	triage__reset(t);
	free(t->keys);
	free(t);
}

void triage__leave_out(struct triage *t, u32 pid)
{
	t->pid = pid;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static const struct field *cell_of(const struct report_row *row, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < row->ncells; i++)
		if (!strncmp(row->cell[i].name, name, len) && !row->cell[i].name[len])
			return &row->cell[i];
	return NULL;
}

static const struct field *cell(const struct report_row *row, const char *name)
{
	return cell_of(row, name, strlen(name));
}

static double number_of(const struct field *f)
{
	if (!f || f->text || f->kind == FIELD_NONE)
		return 0;
	return isfinite(field_real(f)) ? field_real(f) : 0;
}

bool triage_word_is_in(const char *word, const char *list)
{
	size_t len = strlen(word), n;

	for (;; list += n + 1) {
		n = strcspn(list, "|");
		if (n == len && !strncmp(list, word, n))
			return true;
		if (!list[n])
			return false;
	}
}

bool triage_shows_cell(const struct triage_rule *rule, const char *cell)
{
	return triage_word_is_in(cell, rule->by) || (!strcmp(cell, "comm") && triage_word_is_in("pid", rule->by));
}

static bool holds(const struct triage_condition *c, const struct report_row *row, u64 duration_ns)
{
	const struct field *f = cell(row, c->cell);
	const char *text = f ? f->text : NULL;

	if (c->is)
		return text && triage_word_is_in(text, c->is);
	if (c->is_not)
		return text && !triage_word_is_in(text, c->is_not);
	if (c->differs_from) {
		const struct field *other = cell(row, c->differs_from);

		return text && other && other->text && strcmp(text, other->text);
	}
	if (c->below > 0)
		return number_of(f) < c->below * duration_ns;
	return number_of(f) >= c->least;
}

static bool is_wanted(const struct triage *t, const struct triage_rule *r, const struct report_row *row,
		      u64 duration_ns)
{
	const struct field *pid = cell(row, "pid");
	size_t i;

	if (t->pid && pid && !pid->text && pid->number == t->pid)
		return false;
	for (i = 0; i < TRIAGE_CONDITIONS && r->where[i].cell; i++)
		if (!holds(&r->where[i], row, duration_ns))
			return false;
	return true;
}

static bool adds_up(const struct triage_rule *r)
{
	return r->per != TRIAGE_LONGEST && r->per != TRIAGE_LEVEL && r->per != TRIAGE_LARGEST;
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

static int compare_cells(const struct field *a, const struct field *b)
{
	if (!a || !b)
		return !!a - !!b;
	if (a->text || b->text)
		return strcmp(a->text ?: "", b->text ?: "");
	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_keys(const void *a, const void *b, void *rule)
{
	const struct triage_rule *r = rule;
	const struct triage_key *ka = a, *kb = b;
	const char *name = r->by;
	int order = 0;
	size_t n;

	while (name && !order) {
		n = strcspn(name, "|");
		order = compare_cells(cell_of(&ka->row, name, n), cell_of(&kb->row, name, n));
		name = name[n] ? name + n + 1 : NULL;
	}
	return order;
}

/* Adds b to a. Both have the same key. */
static void merge_key(const struct triage_rule *r, struct triage_key *a, struct triage_key *b)
{
	double sum = a->figure + b->figure;

	if (b->figure > a->figure) {
		struct triage_key larger = *b;

		*b = *a;
		*a = larger;
	}
	if (adds_up(r))
		a->figure = sum;
	report_row__free(&b->row);
}

static void merge(const struct triage_rule *r, struct keys *k)
{
	size_t to = 0, i;

	if (k->merged == k->n)
		return;
	qsort_r(k->key, k->n, sizeof(*k->key), compare_keys, (void *)r);
	for (i = 1; i < k->n; i++) {
		if (!compare_keys(&k->key[to], &k->key[i], (void *)r))
			merge_key(r, &k->key[to], &k->key[i]);
		else if (++to != i)
			k->key[to] = k->key[i];
	}
	k->n = k->merged = to + 1;
}

static int by_figure(const void *a, const void *b)
{
	double x = ((const struct triage_key *)a)->figure, y = ((const struct triage_key *)b)->figure;

	return (y > x) - (y < x);
}

static double with(const struct triage_rule *r, double all, double figure)
{
	return adds_up(r) ? all + figure : fmax(all, figure);
}

/* Moves the smaller half of the keys to the others. */
static void give_up_half(const struct triage_rule *r, struct keys *k)
{
	size_t half = k->n / 2, i;

	qsort(k->key, k->n, sizeof(*k->key), by_figure);
	for (i = half; i < k->n; i++) {
		k->others = with(r, k->others, k->key[i].figure);
		report_row__free(&k->key[i].row);
	}
	k->nothers += k->n - half;
	k->n = half;
	k->merged = 0;          /* no longer sorted by key */
}

static int make_room(const struct triage_rule *r, struct keys *k)
{
	if (k->n < k->room)
		return 0;
	merge(r, k);
	if (k->n > TRIAGE_KEYS / 2)
		give_up_half(r, k);
	if (k->n < k->room / 2 || k->room == TRIAGE_KEYS)
		return 0;
	return ARRAY_RESERVE(k->key, k->room, k->room ? 2 * k->room : ROOM_AT_FIRST);
}

static int copy_cells(struct report_row *to, const struct report_row *from)
{
	int err = 0;
	size_t i;

	for (i = 0; i < from->ncells && !err; i++) {
		struct field f = from->cell[i];

		if (f.text)
			f.text = strdup(f.text);
		if (!f.text && from->cell[i].text)
			return -ENOMEM;
		err = report_row__add_field(to, &f);
		if (err)
			free(f.text);
	}
	return err;
}

/*
 * Returns the figure of a row. Percentages are weighted by the report's duration, so that their sum is the time they
 * represent.
 */
static double figure_of(const struct triage_rule *r, const struct report_row *row, u64 duration_ns)
{
	double figure = r->figure ? number_of(cell(row, r->figure)) : 1;

	return r->per == TRIAGE_PERCENT ? figure * duration_ns : figure;
}

static bool counts(const struct triage_rule *r, const struct report_row *row, double figure)
{
	const struct field *f = r->zeros ? cell(row, r->figure) : NULL;

	return figure > 0 || (f && !f->text && f->kind != FIELD_NONE);
}

/* Borrows row and copies the parts it keeps. duration_ns: duration of the report; 0 for a single event. */
static int take_row(struct triage *t, size_t i, const struct report_row *row, u64 duration_ns)
{
	const struct triage_rule *r = &t->rule[i];
	struct keys *k = &t->keys[i];
	struct triage_key key = {};
	int err;

	if (!is_wanted(t, r, row, duration_ns))
		return 0;
	key.figure = figure_of(r, row, duration_ns);
	if (!counts(r, row, key.figure))
		return 0;
	err = make_room(r, k);
	if (!err)
		err = copy_cells(&key.row, row);
	if (err) {
		report_row__free(&key.row);
		return err;
	}
	k->key[k->n++] = key;
	return 0;
}

/*
 * --- reports and events ------------------------------------------------------------------------
 */

/* Takes a histogram as a row of its key and its figures. */
static int take_group(struct triage *t, size_t i, const struct report_group *g, u64 duration_ns)
{
	const struct histogram *h = &g->hist;
	struct field f[16];
	struct report_row row = { .cell = f };
	const struct field figures[] = {
		{ .name = "count", .number = h->count },
		{ .name = "avg", .number = histogram__average(h), .kind = FIELD_DURATION },
		{ .name = "p50", .number = histogram__percentile(h, 5000), .kind = FIELD_DURATION },
		{ .name = "p99", .number = histogram__percentile(h, 9900), .kind = FIELD_DURATION },
		{ .name = "max", .number = h->max, .kind = FIELD_DURATION },
	};
	size_t k;

	for (k = 0; k < ARRAY_SIZE(figures); k++)
		f[row.ncells++] = figures[k];
	for (k = 0; k < g->nkey && row.ncells < ARRAY_SIZE(f); k++)
		f[row.ncells++] = g->key[k];
	return take_row(t, i, &row, duration_ns);
}

/* Takes a stack as a row of its key and its value. */
static int take_stack(struct triage *t, size_t i, const struct report_stacks *s, const struct report_stack *stack,
		      u64 duration_ns)
{
	const struct report_row *key = &s->key[stack->key];
	struct field f[16] = { { .name = "value", .number = stack->value } };
	struct report_row row = { .cell = f, .ncells = 1 };
	size_t k;

	for (k = 0; k < key->ncells && row.ncells < ARRAY_SIZE(f); k++)
		f[row.ncells++] = key->cell[k];
	return take_row(t, i, &row, duration_ns);
}

static bool checks(const struct triage_rule *rule, const struct report *r)
{
	return !strcmp(rule->tool, r->tool) && (!rule->option || !r->command || strstr(r->command, rule->option));
}

int triage__take(struct triage *t, const struct report *r)
{
	size_t i, k;
	int err = 0;

	for (i = 0; i < t->n && !err; i++) {
		if (!checks(&t->rule[i], r))
			continue;
		t->keys[i].duration_ns += r->duration_ns;
		for (k = 0; k < r->nrows && !err; k++)
			err = take_row(t, i, &r->row[k], r->duration_ns);
		for (k = 0; k < r->ngroups && !err; k++)
			err = take_group(t, i, &r->group[k], r->duration_ns);
		for (k = 0; r->stacks && k < r->stacks->n && !err; k++)
			err = take_stack(t, i, r->stacks, &r->stacks->stack[k], r->duration_ns);
	}
	return err;
}

int triage__take_line(struct triage *t, const char *tool, const struct stream_line *line)
{
	struct field f[32] = {
		{ .name = "comm", .text = (char *)line->comm },
		{ .name = "pid", .number = line->pid, .kind = FIELD_ID },
		{ .name = "tid", .number = line->tid, .kind = FIELD_ID },
		{ .name = "event", .text = (char *)line->event,
		  .kind = line->event ? FIELD_NUMBER : FIELD_NONE },
		{ .name = "elapsed", .number = line->elapsed_ns,
		  .kind = line->has_elapsed ? FIELD_DURATION : FIELD_NONE },
	};
	struct report_row row = { .cell = f, .ncells = 5 };
	int err = 0;
	size_t i;

	for (i = 0; i < line->n && row.ncells < ARRAY_SIZE(f); i++)
		f[row.ncells++] = line->field[i].field;
	for (i = 0; i < t->n && !err; i++)
		if (!strcmp(t->rule[i].tool, tool))
			err = take_row(t, i, &row, 0);
	return err;
}

/*
 * --- findings ----------------------------------------------------------------------------------
 */

static double in_unit(const struct triage_rule *r, double figure, u64 duration_ns, int cpus)
{
	switch (r->per) {
	case TRIAGE_PER_SECOND:
	case TRIAGE_BYTES_PER_SECOND:
		return duration_ns ? figure * NSEC_PER_SEC / duration_ns : 0;
	case TRIAGE_OF_CPU:
	case TRIAGE_TASKS:
	case TRIAGE_PERCENT:
		return duration_ns ? figure / duration_ns : 0;
	case TRIAGE_OF_TIME:
		return duration_ns ? 100 * figure / duration_ns : 0;
	case TRIAGE_OF_MACHINE:
		return duration_ns && cpus > 0 ? figure / duration_ns / cpus : 0;
	case TRIAGE_COUNT:
	case TRIAGE_LONGEST:
	case TRIAGE_LEVEL:
	case TRIAGE_LARGEST:
		break;
	}
	return figure;
}

static enum triage_level level_of(const struct triage_finding *f)
{
	double value = triage_finding__judged(f);

	if (f->problem > 0 && value >= f->problem)
		return TRIAGE_PROBLEM;
	return f->rule->notice > 0 && value >= f->rule->notice ? TRIAGE_NOTICE : TRIAGE_FINE;
}

static double lower_limit(const struct triage_finding *f)
{
	return f->rule->notice > 0 ? f->rule->notice : f->problem;
}

/* Finds the largest key for which the rule has not fired. */
static void look_below(const struct keys *k, int cpus, struct triage_finding *f)
{
	double value;
	size_t j;

	if (f->rule->whole || f->level == TRIAGE_FINE)
		return;
	for (j = f->nkeys; j < k->n; j++) {
		value = in_unit(f->rule, k->key[j].figure, k->duration_ns, cpus);
		if (value >= lower_limit(f))
			continue;
		f->below = &k->key[j];
		f->below_value = value;
		return;
	}
}

static void conclude(struct triage *t, size_t i, int cpus, struct triage_finding *f)
{
	const struct triage_rule *r = &t->rule[i];
	struct keys *k = &t->keys[i];
	double all = k->others;
	size_t j;

	*f = (struct triage_finding){
		.rule = r,
		.looked = k->duration_ns,
		.duration_ns = k->duration_ns,
		.problem = r->each_cpu && cpus > 0 ? r->problem * cpus : r->problem,
	};
	if (!k->duration_ns || !k->n)
		return;
	merge(r, k);
	qsort(k->key, k->n, sizeof(*k->key), by_figure);
	k->merged = 0;          /* no longer sorted by key */
	for (j = 0; j < k->n; j++)
		all = with(r, all, k->key[j].figure);
	f->value = in_unit(r, k->key[0].figure, k->duration_ns, cpus);
	f->all = in_unit(r, all, k->duration_ns, cpus);
	f->nothers = k->nothers;
	f->others = in_unit(r, k->others, k->duration_ns, cpus);
	f->level = level_of(f);
	for (j = 0; j < k->n && j < TRIAGE_EVIDENCE; j++) {
		double value = in_unit(r, k->key[j].figure, k->duration_ns, cpus);

		if (f->level != TRIAGE_FINE && !r->whole && value < lower_limit(f))
			break;
		f->key[j] = &k->key[j];
		f->key_value[j] = value;
	}
	f->nkeys = j;
	look_below(k, cpus, f);
}

/* Returns the figure as a multiple of the lower limit. */
static double excess(const struct triage_finding *f)
{
	double limit = lower_limit(f);

	return limit > 0 ? triage_finding__judged(f) / limit : 0;
}

static int worst_first(const void *a, const void *b)
{
	const struct triage_finding *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->rank != TRIAGE_FINE && x->rule->weight != y->rule->weight)
		return x->rule->weight > y->rule->weight ? -1 : 1;
	if (x->looked != y->looked)
		return x->looked ? -1 : 1;
	return (excess(y) > excess(x)) - (excess(y) < excess(x));
}

static const struct triage_finding *find(const struct triage_finding *f, size_t n, const char *name)
{
	size_t i;

	for (i = 0; name && i < n; i++)
		if (!strcmp(f[i].rule->name, name))
			return &f[i];
	return NULL;
}

/* Applies the condition of beside. */
static void look_beside(struct triage_finding *f, const struct triage_finding *beside)
{
	if (!beside)
		return;
	f->beside = beside->rule;
	f->beside_all = beside->all;
	f->beside_key = beside->key[0];
	f->beside_value = beside->value;
	if (!beside->looked || (f->rule->at_most > 0 && beside->all > f->rule->at_most) ||
	    beside->value < f->rule->one_at_least)
		f->level = TRIAGE_FINE;
}

static bool same_program(const struct triage_finding *a, const struct triage_finding *b)
{
	const struct field *x = cell(&a->key[0]->row, "comm"), *y = cell(&b->key[0]->row, "comm");

	return x && y && x->text && y->text && !strcmp(x->text, y->text);
}

/* True if the notice explains the problem. */
static bool explains(const struct triage_finding *notice, const struct triage_finding *problem)
{
	return notice->level == TRIAGE_NOTICE && problem->level == TRIAGE_PROBLEM && notice->rule->cpu_use &&
	       problem->rule->cpu_use && notice->rule->weight > problem->rule->weight && same_program(notice, problem);
}

static void rank(struct triage_finding *f, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		f[i].rank = f[i].level;
		for (k = 0; k < n && f[i].rank != TRIAGE_PROBLEM; k++)
			if (explains(&f[i], &f[k]))
				f[i].rank = TRIAGE_PROBLEM;
	}
}

struct triage_finding *triage__findings(struct triage *t, int cpus)
{
	struct triage_finding *f = calloc(t->n ?: 1, sizeof(*f));
	size_t i;

	if (!f)
		return NULL;
	for (i = 0; i < t->n; i++)
		conclude(t, i, cpus, &f[i]);
	for (i = 0; i < t->n; i++)
		look_beside(&f[i], find(f, t->n, f[i].rule->beside));
	rank(f, t->n);
	qsort(f, t->n, sizeof(*f), worst_first);
	return f;
}

/*
 * --- texts -------------------------------------------------------------------------------------
 */

static void format_number(char *text, double value)
{
	if (value < 10 && value != floor(value))
		snprintf(text, UNITS_SPACE, "%.1f", value);
	else
		format_count(text, (unsigned __int128)fmax(value + 0.5, 0));
}

/* Formats a percentage with three digits, but without an exponent. */
static void format_percent(char *text, double percent)
{
	snprintf(text, UNITS_SPACE, percent < 999.5 ? "%.3g %%" : "%.0f %%", percent);
}

const char *triage_value(char *text, const struct triage_rule *rule, double value)
{
	switch (rule->per) {
	case TRIAGE_OF_CPU:
		snprintf(text, UNITS_SPACE, "%.2f CPUs", value);
		break;
	case TRIAGE_TASKS:
		snprintf(text, UNITS_SPACE, "%.2f tasks", value);
		break;
	case TRIAGE_OF_MACHINE:
		format_percent(text, 100 * value);
		break;
	case TRIAGE_OF_TIME:
	case TRIAGE_PERCENT:
	case TRIAGE_LEVEL:
		format_percent(text, value);
		break;
	case TRIAGE_LONGEST:
		format_value(text, (unsigned __int128)value, UNIT_NS, false);
		break;
	case TRIAGE_BYTES_PER_SECOND:
		format_value(text, (unsigned __int128)fmax(value, 0), UNIT_BYTES, false);
		strcat(text, " a second");
		break;
	case TRIAGE_PER_SECOND:
		format_number(text, value);
		strcat(text, " a second");
		break;
	case TRIAGE_COUNT:
	case TRIAGE_LARGEST:
		format_number(text, value);
		break;
	}
	return text;
}

/* Writes a text as a shell word. */
static int put_word(FILE *f, const char *text)
{
	size_t n = strlen(text);
	char *word = malloc(SHELL_SPACE(n, 1));

	if (!word)
		return -ENOMEM;
	shell_words(word, text, n);
	fputs(word, f);
	free(word);
	return 0;
}

/* name: the template's name of the cell, n bytes long. A call that has not ended may have no path yet. */
static int put_cell(FILE *f, const struct field *cell, const char *name, size_t n, bool as_word)
{
	char text[UNITS_SPACE];
	enum unit unit;

	if (!cell || (!cell->text && cell->kind == FIELD_NONE)) {
		fprintf(f, "an unknown %.*s", (int)n, name);
	} else if (cell->text && as_word) {
		return put_word(f, cell->text);
	} else if (cell->text) {
		fputs(cell->text, f);
	} else if (cell->kind == FIELD_REAL) {
		fprintf(f, "%.*f", cell->decimals, cell->real);
	} else if (cell->kind == FIELD_ID || as_word) {
		fprintf(f, "%llu", cell->number);
	} else {
		unit = field_unit(cell);
		fputs(unit == UNIT_COUNT ? format_count(text, cell->number) :
					   format_value(text, cell->number, unit, false), f);
	}
	return 0;
}

void triage_put_cell(FILE *f, const struct report_row *row, const char *name, size_t n)
{
	put_cell(f, cell_of(row, name, n), name, n, false);
}

static void put_times(FILE *f, double value)
{
	char text[UNITS_SPACE];

	format_number(text, value);
	if (strcmp(text, "1"))
		fprintf(f, "%s times", text);
	else
		fputs("once", f);
}

/* Writes {beside}, {beside.value} or a cell of the largest key beside. name: n bytes long. */
static int put_beside(FILE *f, const struct triage_finding *x, const char *name, size_t n, bool as_word)
{
	const char *part = memchr(name, '.', n);
	char value[UNITS_SPACE];
	size_t len;

	if (!part) {
		fputs(triage_value(value, x->beside, x->beside_all), f);
		return 0;
	}
	len = n - (++part - name);
	if (len == 5 && !strncmp(part, "value", len)) {
		fputs(triage_value(value, x->beside, x->beside_value), f);
		return 0;
	}
	return put_cell(f, x->beside_key ? cell_of(&x->beside_key->row, part, len) : NULL, part, len, as_word);
}

static bool is_beside(const char *name, size_t n)
{
	return n >= 6 && !strncmp(name, "beside", 6) && (n == 6 || name[6] == '.');
}

/* Fills in the {names} of a template. as_words: write them as shell words. */
static char *fill_in(const struct triage_finding *f, const char *template, bool as_words)
{
	char value[UNITS_SPACE], *text = NULL;
	const char *p = template;
	size_t size, n;
	int err = 0;
	FILE *out;

	if (!f->nkeys)
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	while (*p && !err) {
		if (*p != '{') {
			fputc(*p++, out);
			continue;
		}
		n = strcspn(++p, "}");
		if (n == 5 && !strncmp(p, "value", n))
			fputs(triage_value(value, f->rule, f->value), out);
		else if (n == 5 && !strncmp(p, "times", n))
			put_times(out, f->value);
		else if (n == 3 && !strncmp(p, "all", n))
			fputs(triage_value(value, f->rule, f->all), out);
		else if (f->beside && is_beside(p, n))
			err = put_beside(out, f, p, n, as_words);
		else
			err = put_cell(out, cell_of(&f->key[0]->row, p, n), p, n, as_words);
		p += n + (p[n] == '}');
	}
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	return text;
}

char *triage_sentence(const struct triage_finding *f)
{
	return fill_in(f, f->rule->sentence, false);
}

char *triage_next(const struct triage_finding *f)
{
	return f->rule->next ? fill_in(f, f->rule->next, true) : NULL;
}
