// SPDX-License-Identifier: BSD-2-Clause
/* The details of an event: fields of tracepoints, arguments of kernel functions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/features.h"
#include "events/list/list.h"
#include "events/list/names.h"
#include "report/diag.h"
#include "sym/kallsyms.h"
#include "types/btf.h"
#include "types/symbols.h"
#include "types/tracefs.h"

/* Opened when first needed. */
struct details {
	struct table table;
	int tracefs;            /* -1: not open yet */
	struct kernel_types types;
	int types_err;          /* 0: open; -EAGAIN: not tried yet */
};

/* One line of the answer. Zero and NULL mean unknown or not applicable. */
struct detail {
	const char *event, *part, *name, *type;
	bool has_offset;
	u64 offset, size;
	const char *is_signed;
	const char *filter, *note;
};

static void add_detail(struct details *d, const struct detail *x)
{
	struct table *t = &d->table;

	table__text(t, "event", x->event);
	table__text(t, "part", x->part);
	table__text(t, "name", x->name);
	table__text(t, "type", x->type);
	if (x->has_offset)
		table__number(t, "offset", x->offset);
	else
		table__none(t, "offset");
	if (x->size || x->has_offset)
		table__number(t, "size", x->size);
	else
		table__none(t, "size");
	table__text(t, "signed", x->is_signed);
	table__text(t, "filter", x->filter);
	table__text(t, "note", x->note);
	table__end(t);
}

/* --- shared ---------------------------------------------------------------------------------- */

/* Returns 1 if the kernel has no BTF; the caller then continues without types. */
static int open_types(struct details *d)
{
	if (d->types_err == -EAGAIN)
		d->types_err = kernel_types__open(&d->types);
	if (d->types_err)
		return d->types_err == -ENOMEM ? -ENOMEM : 1;
	return 0;
}

/* number: the argument is also called $argNUMBER; 0 if this is obvious. */
static void add_argument(struct details *d, const char *event, const struct function_argument *a, size_t number)
{
	char filter[128] = "", note[256] = "", dollar[32] = "";
	const char *star = strchr(a->type, '*'), *tag = strstr(a->type, "struct ");
	size_t n = 0;

	if (number) {
		snprintf(dollar, sizeof(dollar), "$arg%zu", number);
		n = snprintf(note, sizeof(note), "%s", dollar);
	}
	if ((*a->name || number) && a->size && a->size <= 8)
		snprintf(filter, sizeof(filter), "%s == 0", *a->name ? a->name : dollar);
	if (star && tag && !star[1] && !strchr(a->type, '('))
		snprintf(note + n, sizeof(note) - n, "%smembers: list --type '%.*s'", n ? "; " : "",
			 (int)(star - tag) - (star > tag && star[-1] == ' '), tag);
	add_detail(d, &(struct detail){
		.event = event, .part = "argument", .name = *a->name ? a->name : dollar, .type = a->type,
		.size = a->size, .filter = filter, .note = note,
	});
}

/* --- tracepoints ----------------------------------------------------------------------------- */

static bool is_text(const struct tracepoint_field *f)
{
	return (!strcmp(f->type, "char") || !strcmp(f->type, "const char")) &&
	       (f->elements || f->is_dynamic || f->is_relative);
}

static bool is_array(const struct tracepoint_field *f)
{
	return f->elements || f->is_dynamic || f->is_relative;
}

static bool is_device(const struct tracepoint_field *f)
{
	return !strcmp(f->type, "dev_t") && !is_array(f);
}

static bool is_pointer(const struct tracepoint_field *f)
{
	return strchr(f->type, '*') && !is_array(f);
}

/* An example of a condition, allocated; NULL without memory. */
static char *example(const struct tracepoint_field *f)
{
	const char *value = is_text(f) ? "\"text\"" : is_device(f) ? "8:0" : "0";
	char *text;

	/* Filters cannot test arrays of numbers, and filters on common fields are not useful here. */
	if ((is_array(f) && !is_text(f)) || f->is_common)
		return strdup("");
	return asprintf(&text, "%s == %s", f->name, value) < 0 ? NULL : text;
}

static const char *note_of(const struct tracepoint_field *f)
{
	if (is_device(f))
		return "major:minor, written like that; as a number, major << 20 | minor: 8:1 is 8388609";
	if (f->is_dynamic || f->is_relative)
		return "of any length";
	if (is_pointer(f))
		return "an address";
	return NULL;
}

/* "char[16]", "char[]", "unsigned long" */
static char *type_of(const struct tracepoint_field *f)
{
	char *text;
	int n;

	if (f->is_dynamic || f->is_relative)
		n = asprintf(&text, "%s[]", f->type);
	else if (f->elements)
		n = asprintf(&text, "%s[%u]", f->type, f->elements);
	else
		n = asprintf(&text, "%s", f->type);
	return n < 0 ? NULL : text;
}

/* "vec == 3", "gfp_flags & 0x40", allocated. */
static char *condition(const struct tracepoint_field *f, const struct field_symbol *s,
		       bool is_flags)
{
	char *text;
	int n;

	if (is_flags)
		n = asprintf(&text, "%s & 0x%llx", f->name, s->value);
	else if (f->is_signed)
		n = asprintf(&text, "%s == %lld", f->name, (s64)s->value);
	else
		n = asprintf(&text, "%s == %llu", f->name, s->value);
	return n < 0 ? NULL : text;
}

/* Adds a row for each named value of the field. */
static int add_symbols(struct details *d, const char *event, const struct tracepoint_field *f,
		       const struct symbol_tables *symbols)
{
	size_t i, k;
	char *filter;

	for (i = 0; i < symbols->n; i++) {
		const struct field_symbols *t = &symbols->table[i];

		for (k = 0; k < t->n && !strcmp(t->field, f->name); k++) {
			filter = condition(f, &t->symbol[k], t->is_flags);
			if (!filter)
				return -ENOMEM;
			add_detail(d, &(struct detail){
				.event = event, .part = t->is_flags ? "flag" : "value",
				.name = t->symbol[k].name, .filter = filter,
			});
			free(filter);
		}
	}
	return d->table.err;
}

static int add_field(struct details *d, const char *event, const struct tracepoint_field *f,
		     const struct symbol_tables *symbols)
{
	char *type = type_of(f), *filter = example(f);
	int err = -ENOMEM;

	if (type && filter) {
		add_detail(d, &(struct detail){
			.event = event, .part = f->is_common ? "common" : "field", .name = f->name,
			.type = type, .has_offset = true, .offset = f->offset, .size = f->size,
			.is_signed = f->is_signed ? "yes" : "no", .filter = filter,
			.note = note_of(f),
		});
		err = add_symbols(d, event, f, symbols);
	}
	free(type);
	free(filter);
	return err;
}

/* Adds the tracepoint's own fields first, then those common to all records. */
static int add_fields(struct details *d, const char *event, const struct tracepoint_format *format)
{
	struct symbol_tables symbols;
	size_t i;
	int err = symbol_tables__parse(&symbols, format->print), common;

	if (err)
		return err;
	for (common = 0; common < 2; common++)
		for (i = 0; i < format->nfields && !err; i++)
			if (format->field[i].is_common == common)
				err = add_field(d, event, &format->field[i], &symbols);
	symbol_tables__free(&symbols);
	return err;
}

/* The arguments that programs receive in addition to the record. */
static int add_arguments(struct details *d, const char *event, const char *name)
{
	struct function_prototype p;
	struct kernel_type type;
	int err = open_types(d);
	size_t i;

	if (!err && kernel_types__tracepoint(&d->types, name, &type))
		err = 1;
	if (!err)
		err = function_prototype__read(&p, type.btf, type.id);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = TRACEPOINT_DATA; i < p.n; i++)
		add_argument(d, event, &p.argument[i], i + 1 - TRACEPOINT_DATA);
	function_prototype__free(&p);
	return 0;
}

static int add_tracepoint(struct details *d, const char *event)
{
	const char *colon = strchr(event, ':');
	struct tracepoint_format format;
	char *system;
	int err;

	if (d->tracefs < 0)
		d->tracefs = tracefs__open();
	if (d->tracefs < 0)
		return d->tracefs;
	system = colon ? strndup(event, colon - event) : NULL;
	if (!system)
		return colon ? -ENOMEM : -EINVAL;
	err = tracepoint_format__read(&format, d->tracefs, system, colon + 1);
	free(system);
	if (err) {
		diag_warn("cannot read the fields of %s: %s", event, strerror(-err));
		return err == -ENOMEM ? err : 0;
	}
	add_detail(d, &(struct detail){
		.event = event, .part = "tracepoint", .name = event,
		.note = format.nfields ? NULL : "without fields",
	});
	err = add_fields(d, event, &format);
	if (!err)
		err = add_arguments(d, event, colon + 1);
	tracepoint_format__free(&format);
	return err;
}

static int add_event(struct details *d, const struct event_name *e)
{
	if (e->source->type == EVENT_TRACEPOINT)
		return add_tracepoint(d, e->name);
	add_detail(d, &(struct detail){
		.event = e->name, .part = "counter", .name = e->name, .type = e->source->name,
		.note = e->description,
	});
	return d->table.err;
}

/* --- kernel functions ------------------------------------------------------------------------ */

/* Returns 1 if the prototype is unknown; the caller then continues without it. */
static int find_prototype(struct details *d, const struct kernel_function *f,
			  struct function_prototype *p)
{
	struct kernel_type type;
	int err = open_types(d);

	if (err)
		return err;
	err = kernel_types__function(&d->types, f->name, f->module, &type);
	if (!err)
		err = function_prototype__read(p, type.btf, type.id);
	return err && err != -ENOMEM ? 1 : err;
}

static void add_prototype(struct details *d, const char *event, const struct function_prototype *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		add_argument(d, event, &p->argument[i], 0);
	if (p->is_variadic)
		add_detail(d, &(struct detail){
			.event = event, .part = "argument", .name = "...",
		});
	if (strcmp(p->returns, "void"))
		add_detail(d, &(struct detail){
			.event = event, .part = "return", .name = "$retval", .type = p->returns,
			.filter = "$retval == 0",
		});
}

/* The hook types for kernel functions, and which ones this kernel has. */
static void add_ways(struct details *d, const char *event)
{
	static const char *const ways[] = { "kprobe", "fentry" };
	char found[FEATURE_DETAIL];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		for (k = 0; k < feature_count; k++) {
			const struct feature *f = &features[k];
			enum feature_status status;

			if (strcmp(f->name, ways[i]))
				continue;
			status = f->probe(found);
			add_detail(d, &(struct detail){
				.event = event, .part = "probe", .name = ways[i],
				.type = feature_status_name(status),
				.note = status == FEATURE_OK ? NULL : f->remedy,
			});
		}
	}
}

static int add_function(struct details *d, const struct kernel_function *f)
{
	struct function_prototype p = {};
	char *event = NULL, *note = NULL, address[32] = "not shown without CAP_SYSLOG";
	int err = find_prototype(d, f, &p);

	if (err < 0)
		return err;
	if (f->address)
		snprintf(address, sizeof(address), "0x%llx", f->address);
	if (asprintf(&event, "%s%s%s", f->module ?: "", f->module ? ":" : "", f->name) < 0)
		event = NULL;
	if (asprintf(&note, "%s; in %s, address %s", p.text ?: "no types in BTF",
		     f->module ?: "vmlinux", address) < 0)
		note = NULL;
	if (event && note) {
		add_detail(d, &(struct detail){
			.event = event, .part = "function", .name = f->name, .type = p.returns,
			.size = f->size, .note = note,
		});
		if (p.text)
			add_prototype(d, event, &p);
		add_ways(d, event);
	}
	err = event && note ? d->table.err : -ENOMEM;
	free(event);
	free(note);
	function_prototype__free(&p);
	return err;
}

/* An exact NAME or MODULE:NAME. Returns how many were found, or a negative errno. */
static int add_functions(struct details *d, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	struct kernel_functions found;
	char *module = NULL;
	size_t i, n;
	int err;

	if (list_is_glob(pattern))
		return 0;
	if (colon) {
		module = strndup(pattern, colon - pattern);
		if (!module)
			return -ENOMEM;
	}
	err = kernel_functions__find(&found, colon ? colon + 1 : pattern, module);
	free(module);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < found.n && !err; i++)
		err = add_function(d, &found.function[i]);
	n = found.n;
	kernel_functions__free(&found);
	return err ?: (int)n;
}

/* --- events and functions -------------------------------------------------------------------- */

static int add_events(struct details *d, const struct event_names *all, const char *pattern)
{
	const struct list_request one = { .pattern = &pattern, .npatterns = pattern ? 1 : 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < all->n && !err; i++)
		if (list_matches(&one, all->event[i].name))
			err = add_event(d, &all->event[i]);
	return err;
}

static const struct event_name *find_event(const struct event_names *all, const char *name)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->event[i].name, name))
			return &all->event[i];
	return NULL;
}

/* An event of exactly that name, else functions of that name, else all events that match. */
static int add_pattern(struct details *d, const struct event_names *all, const char *pattern)
{
	const struct list_request one = { .pattern = &pattern, .npatterns = 1 };
	const struct event_name *exact = find_event(all, pattern);
	size_t before = d->table.report->nrows;
	int n;

	if (exact)
		return add_event(d, exact);
	n = add_functions(d, pattern);
	if (n)
		return n < 0 ? n : 0;
	n = add_events(d, all, pattern);
	if (!n && d->table.report->nrows == before)
		n = event_names__none(all, &one);
	return n;
}

/* In text, a single event has no column of its own: the first row shows its name. */
static void hide_event(struct report *r)
{
	size_t i;

	for (i = 1; i < r->nrows; i++)
		if (strcmp(r->row[i].cell[0].text, r->row[0].cell[0].text))
			return;
	if (r->nrows)
		r->row[0].cell[0].machine = true;
}

int list_details(struct report *r, const struct list_request *q)
{
	struct details d = { .table.report = r, .tracefs = -1, .types_err = -EAGAIN };
	struct event_names all;
	size_t i;
	int err = event_names__read(&all);

	if (err)
		return err;
	if (!q->npatterns)
		err = add_events(&d, &all, NULL);
	for (i = 0; i < q->npatterns && !err; i++)
		err = add_pattern(&d, &all, q->pattern[i]);
	if (!err)
		err = d.table.err;
	hide_event(r);
	if (d.tracefs >= 0)
		close(d.tracefs);
	if (!d.types_err)
		kernel_types__close(&d.types);
	event_names__free(&all);
	return err;
}
