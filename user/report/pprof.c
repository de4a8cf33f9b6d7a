// SPDX-License-Identifier: BSD-2-Clause
#include "report/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/table.h"
#include "report/escape.h"
#include "report/stack_values.h"
#include "report/text.h"
#include "report/tree.h"

/* Field numbers of profile.proto. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
};

enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum {
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINED,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* Indexes into the string table, where 0 is the empty string. */
struct function {
	u32 name, system_name, file;
};

struct module {
	u32 file;
	bool has_files, has_lines, has_inlined;
};

/* A location: a function, if known, and the functions inlined at that address. */
struct location {
	u64 address;            /* 0 if it differs between stacks */
	const u32 *frame;       /* frames of a report_stack, innermost last */
	u32 n;
};

/* A growing array with a hash index. */
struct set {
	void *element;
	size_t n;
	struct table table;
};

struct builder {
	const struct report_stacks *stacks;
	struct stack_labels labels;
	struct stack_value value[MOST_STACK_VALUES];
	size_t nvalues;
	struct set texts;       /* of char *, escaped */
	struct set functions;   /* IDs in the message are index + 1 */
	struct set modules;     /* IDs like those of functions */
	struct set locations;   /* IDs like those of functions */
	u32 *function_of;       /* function ID per frame of the report; 0 if not looked up yet */
	u32 *module_of;         /* module ID per frame with a module; 0 if not looked up yet */
	struct protobuf *key;   /* labels per key of the report */
	u64 *ids;               /* location IDs of the current sample */
	size_t ids_room;
	struct protobuf samples, part, inner;
	bool is_cut;            /* a value was capped at the format's limit */
};

/*
 * --- sets --------------------------------------------------------------------------------------
 */

/* Returns the index of an element, which is added if missing, or -1 without memory. */
static s64 set__find(struct set *s, u64 hash, table_same_fn same, const void *element, size_t size)
{
	s64 known = table__find(&s->table, hash, same, s->element, element);

	if (known >= 0)
		return known;
	if (s->n == UINT32_MAX - 1)
		return -1;
	if (array__grow(&s->element, s->n, 1, size))
		return -1;
	if (table__add(&s->table, hash, s->n))
		return -1;
	memcpy((char *)s->element + s->n * size, element, size);
	return s->n++;
}

static void set__free(struct set *s)
{
	free(s->element);
	table__free(&s->table);
}

/*
 * --- texts -------------------------------------------------------------------------------------
 */

static bool same_text(const void *array, u32 index, const void *key)
{
	return !strcmp(((char *const *)array)[index], *(char *const *)key);
}

/* Takes ownership of an escaped text. NULL means no memory. */
static int take_text(struct builder *b, char *text, u32 *number)
{
	size_t before = b->texts.n;
	s64 index;

	if (!text)
		return -ENOMEM;
	index = set__find(&b->texts, table_hash(0, text, strlen(text)), same_text, &text, sizeof(text));
	if (index < 0 || b->texts.n == before)
		free(text);
	if (index < 0)
		return -ENOMEM;
	*number = index;
	return 0;
}

/* A raw text of NULL becomes the empty string. */
static int add_text(struct builder *b, const char *raw, u32 *number)
{
	return take_text(b, escape_string(raw ?: ""), number);
}

static int add_escaped(struct builder *b, const char *text, u32 *number)
{
	return take_text(b, strdup(text), number);
}

/*
 * --- functions and modules ---------------------------------------------------------------------
 */

static bool same_function(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct function *)array)[index], key, sizeof(struct function));
}

static bool same_module(const void *array, u32 index, const void *key)
{
	return ((const struct module *)array)[index].file == ((const struct module *)key)->file;
}

static int find_function(struct builder *b, u32 frame)
{
	const struct report_frame *f = &b->stacks->frame[frame];
	const char *label = b->labels.frame[frame];
	struct function function;
	s64 index;
	int err = f->name ? add_text(b, f->name, &function.system_name) :
			    add_escaped(b, label, &function.system_name);

	function.name = function.system_name;
	if (!err && f->kind != FRAME_INLINED)
		err = add_escaped(b, label, &function.name);
	if (!err)
		err = add_text(b, f->file, &function.file);
	if (err)
		return err;
	index = set__find(&b->functions, table_hash(0, &function, sizeof(function)), same_function,
			  &function, sizeof(function));
	b->function_of[frame] = index + 1;
	return index < 0 ? -ENOMEM : 0;
}

static int find_module(struct builder *b, u32 frame)
{
	const struct report_frame *f = &b->stacks->frame[frame];
	struct module module = {}, *m;
	s64 index;
	int err = f->module ? add_text(b, f->module, &module.file) : 0;

	if (err || !module.file)
		return err;
	index = set__find(&b->modules, table_hash(0, &module.file, sizeof(module.file)), same_module,
			  &module, sizeof(module));
	if (index < 0)
		return -ENOMEM;
	m = &((struct module *)b->modules.element)[index];
	m->has_files |= f->file != NULL;
	m->has_lines |= f->line != 0;
	m->has_inlined |= f->kind == FRAME_INLINED;
	b->module_of[frame] = index + 1;
	return 0;
}

/*
 * --- locations ---------------------------------------------------------------------------------
 */

static bool same_location(const void *array, u32 index, const void *key)
{
	const struct location *a = &((const struct location *)array)[index], *b = key;

	return a->address == b->address && a->n == b->n &&
	       !memcmp(a->frame, b->frame, a->n * sizeof(*a->frame));
}

static int find_location(struct builder *b, const struct location *l, u64 *id)
{
	u64 hash = table_hash(l->address, l->frame, l->n * sizeof(*l->frame));
	s64 index;
	u32 i;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		if (b->function_of[l->frame[i]])
			continue;
		err = find_function(b, l->frame[i]);
		if (!err)
			err = find_module(b, l->frame[i]);
	}
	if (err)
		return err;
	index = set__find(&b->locations, hash, same_location, l, sizeof(*l));
	*id = index + 1;
	return index < 0 ? -ENOMEM : 0;
}

static int make_room(struct builder *b, u32 n)
{
	return ARRAY_RESERVE(b->ids, b->ids_room, n);
}

/* Finds the locations of a stack, innermost first. */
static int find_locations(struct builder *b, const struct report_stack *s, u32 *n)
{
	u32 end = s->nframes, first;
	int err = make_room(b, s->nframes);

	for (*n = 0; end && !err; end = first) {
		for (first = end - 1; first && b->stacks->frame[s->frame[first]].kind == FRAME_INLINED;)
			first--;
		const struct location l = {
			.address = s->place[first].address == FRAME_PLACES ? 0 : s->place[first].address,
			.frame = &s->frame[first], .n = end - first,
		};

		err = find_location(b, &l, &b->ids[(*n)++]);
	}
	return err;
}

/*
 * --- samples -----------------------------------------------------------------------------------
 */

static const char *unit_of_label(const struct field *f)
{
	switch (field_unit(f)) {
	case UNIT_NS:
		return "nanoseconds";
	case UNIT_BYTES:
		return "bytes";
	default:
		return NULL;
	}
}

/* Writes a label. A number without a unit identifies a process or a CPU and is written as text: readers drop a 0. */
static int put_label(struct builder *b, const struct field *f, struct protobuf *labels)
{
	const char *unit = f->text ? NULL : unit_of_label(f);
	u32 key = 0, text = 0, name = 0;
	char number[24];
	int err;

	if ((!f->text && f->kind == FIELD_NONE) || (f->text && !*f->text))
		return 0;
	snprintf(number, sizeof(number), field_is_signed(f->kind) ? "%lld" : "%llu", f->number);
	err = add_text(b, f->name, &key);
	if (!err && unit)
		err = add_text(b, unit, &name);
	else if (!err)
		err = add_text(b, f->text ?: number, &text);
	protobuf__put_number(&b->inner, LABEL_KEY, key);
	protobuf__put_number(&b->inner, LABEL_TEXT, text);
	if (unit)
		protobuf__put_number(&b->inner, LABEL_NUMBER, f->number);
	protobuf__put_number(&b->inner, LABEL_UNIT, name);
	protobuf__put_message(labels, SAMPLE_LABEL, &b->inner);
	return err;
}

static int put_labels(struct builder *b)
{
	const struct report_row *row;
	size_t i, k;
	int err = 0;

	for (i = 0; i < b->stacks->nkeys; i++) {
		row = &b->stacks->key[i];
		/* With several events, the first field is the event. The value identifies it already. */
		for (k = b->stacks->nevents ? 1 : 0; k < row->ncells && !err; k++)
			err = put_label(b, &row->cell[k], &b->key[i]);
	}
	return err;
}

static int put_sample(struct builder *b, const struct report_stack *s)
{
	u64 value[MOST_STACK_VALUES];
	const struct protobuf *key = &b->key[s->key];
	struct protobuf labels = { .data = key->data, .n = key->n, .err = key->err };
	size_t i;
	u32 n;
	int err = find_locations(b, s, &n);

	if (err)
		return err;
	for (i = 0; i < b->nvalues; i++) {
		value[i] = b->value[i].event == s->event ? stack_value__number(&b->value[i], s->value) : 0;
		b->is_cut |= value[i] == INT64_MAX;
	}
	protobuf__put_numbers(&b->part, SAMPLE_LOCATIONS, b->ids, n);
	protobuf__put_numbers(&b->part, SAMPLE_VALUES, value, b->nvalues);
	protobuf__append(&b->part, &labels);
	protobuf__put_message(&b->samples, PROFILE_SAMPLE, &b->part);
	return 0;
}

/*
 * --- the parts of the message ------------------------------------------------------------------
 */

static int put_type(struct builder *b, struct protobuf *p, u32 field, const char *type, const char *unit)
{
	u32 number[2];
	int err = add_text(b, type, &number[0]) ?: add_text(b, unit, &number[1]);

	if (err)
		return err;
	protobuf__put_number(&b->part, TYPE_TYPE, number[0]);
	protobuf__put_number(&b->part, TYPE_UNIT, number[1]);
	protobuf__put_message(p, field, &b->part);
	return 0;
}

static int put_types(struct builder *b, struct protobuf *p)
{
	size_t i;
	int err = 0;

	for (i = 0; i < b->nvalues && !err; i++)
		err = put_type(b, p, PROFILE_SAMPLE_TYPE, b->value[i].type, b->value[i].unit);
	return err;
}

/* Writes the period, in the type of the last value. */
static int put_period(struct builder *b, struct protobuf *p)
{
	const struct stack_value *last = &b->value[b->nvalues - 1];
	int err;

	if (!b->stacks->period || b->stacks->nevents)
		return 0;
	err = put_type(b, p, PROFILE_PERIOD_TYPE, last->type, last->unit);
	protobuf__put_number(p, PROFILE_PERIOD, b->stacks->period);
	return err;
}

static void put_modules(struct builder *b, struct protobuf *p)
{
	const struct module *m = b->modules.element;
	size_t i;

	for (i = 0; i < b->modules.n; i++, m++) {
		protobuf__put_number(&b->part, MAPPING_ID, i + 1);
		protobuf__put_number(&b->part, MAPPING_FILE, m->file);
		protobuf__put_number(&b->part, MAPPING_HAS_FUNCTIONS, true);
		protobuf__put_number(&b->part, MAPPING_HAS_FILES, m->has_files);
		protobuf__put_number(&b->part, MAPPING_HAS_LINES, m->has_lines);
		protobuf__put_number(&b->part, MAPPING_HAS_INLINED, m->has_inlined);
		protobuf__put_message(p, PROFILE_MAPPING, &b->part);
	}
}

static void put_location(struct builder *b, const struct location *l, size_t id, struct protobuf *p)
{
	u32 i = l->n;

	protobuf__put_number(&b->part, LOCATION_ID, id);
	protobuf__put_number(&b->part, LOCATION_MAPPING, b->module_of[l->frame[0]]);
	protobuf__put_number(&b->part, LOCATION_ADDRESS, l->address);
	while (i--) {
		protobuf__put_number(&b->inner, LINE_FUNCTION, b->function_of[l->frame[i]]);
		protobuf__put_number(&b->inner, LINE_NUMBER, b->stacks->frame[l->frame[i]].line);
		protobuf__put_message(&b->part, LOCATION_LINE, &b->inner);
	}
	protobuf__put_message(p, PROFILE_LOCATION, &b->part);
}

static void put_functions(struct builder *b, struct protobuf *p)
{
	const struct function *f = b->functions.element;
	size_t i;

	for (i = 0; i < b->functions.n; i++, f++) {
		protobuf__put_number(&b->part, FUNCTION_ID, i + 1);
		protobuf__put_number(&b->part, FUNCTION_NAME, f->name);
		protobuf__put_number(&b->part, FUNCTION_SYSTEM_NAME, f->system_name);
		protobuf__put_number(&b->part, FUNCTION_FILE, f->file);
		protobuf__put_message(p, PROFILE_FUNCTION, &b->part);
	}
}

static void put_texts(const struct builder *b, struct protobuf *p)
{
	char *const *text = b->texts.element;
	size_t i;

	for (i = 0; i < b->texts.n; i++)
		protobuf__put_bytes(p, PROFILE_STRING, text[i], strlen(text[i]));
}

/*
 * --- comments ----------------------------------------------------------------------------------
 */

static void put_named(FILE *f, const char *name, const char *raw, int *err)
{
	char *text = raw ? escape_string(raw) : NULL;

	if (raw && !text)
		*err = -ENOMEM;
	if (text)
		fprintf(f, "%s: %s\n", name, text);
	free(text);
}

/* Returns all other facts about the run, one comment per line, escaped. */
static char *make_comments(const struct builder *b, const struct report *r)
{
	char *text = NULL;
	size_t size = 0;
	struct writer w = { .file = open_memstream(&text, &size) };
	int err = 0;

	if (!w.file)
		return NULL;
	put_named(w.file, "tool", r->tool, &err);
	put_named(w.file, "command", r->command, &err);
	put_named(w.file, "kernel", r->kernel, &err);
	put_named(w.file, "value", r->value, &err);
	put_named(w.file, "source", r->source, &err);
	put_named(w.file, "note", r->caveat, &err);
	if (b->is_cut)
		fputs("values of 2^63 and more are shown as 2^63 - 1\n", w.file);
	text_put_footer(&w, r);
	if (!fclose(w.file) && !err)
		return text;
	free(text);
	return NULL;
}

static int put_comments(struct builder *b, const struct report *r, struct protobuf *p)
{
	char *text = make_comments(b, r), *rest = text, *line;
	u64 *number = NULL;
	size_t n = 0;
	u32 index;
	int err = text ? 0 : -ENOMEM;

	while (!err && (line = strsep(&rest, "\n"))) {
		line += strspn(line, " ");
		if (!*line)
			continue;
		err = add_escaped(b, line, &index);
		if (!err)
			err = ARRAY_APPEND(number, n, index);
	}
	protobuf__put_numbers(p, PROFILE_COMMENT, number, n);
	free(number);
	free(text);
	return err;
}

/*
 * --- the message -------------------------------------------------------------------------------
 */

static int begin(struct builder *b, const struct report_stacks *s)
{
	u32 empty;
	int err = stack_labels__make(&b->labels, s, LABELS_NAMED);

	b->stacks = s;
	b->nvalues = stack_values__of(s, b->value);
	b->function_of = calloc(s->nframes ?: 1, sizeof(*b->function_of));
	b->module_of = calloc(s->nframes ?: 1, sizeof(*b->module_of));
	b->key = calloc(s->nkeys ?: 1, sizeof(*b->key));
	if (!b->function_of || !b->module_of || !b->key)
		return -ENOMEM;
	return err ?: add_text(b, "", &empty);
}

static void end(struct builder *b)
{
	char **text = b->texts.element;
	size_t i;

	for (i = 0; i < b->texts.n; i++)
		free(text[i]);
	for (i = 0; b->key && i < b->stacks->nkeys; i++)
		protobuf__free(&b->key[i]);
	stack_labels__free(&b->labels);
	set__free(&b->texts);
	set__free(&b->functions);
	set__free(&b->modules);
	set__free(&b->locations);
	free(b->function_of);
	free(b->module_of);
	free(b->key);
	free(b->ids);
	protobuf__free(&b->samples);
	protobuf__free(&b->part);
	protobuf__free(&b->inner);
}

/* Writes fields in the order of their numbers, except the string table: it follows once all strings have been added. */
static int put_profile(struct builder *b, const struct report *r, struct protobuf *p)
{
	const struct location *l;
	size_t i;
	int err = put_types(b, p);

	if (err)
		return err;
	protobuf__append(p, &b->samples);
	put_modules(b, p);
	for (i = 0, l = b->locations.element; i < b->locations.n; i++)
		put_location(b, &l[i], i + 1, p);
	put_functions(b, p);
	protobuf__put_number(p, PROFILE_TIME_NS, r->start_ns);
	protobuf__put_number(p, PROFILE_DURATION_NS, r->duration_ns);
	err = put_period(b, p);
	if (!err)
		err = put_comments(b, r, p);
	put_texts(b, p);
	return err ?: p->err ?: b->part.err ?: b->inner.err;
}

int pprof__encode(const struct report *r, struct protobuf *profile)
{
	const struct report_stacks *s = r->stacks;
	struct builder b = {};
	size_t i;
	int err = begin(&b, s);

	if (!err)
		err = put_labels(&b);
	for (i = 0; i < s->n && !err; i++)
		err = put_sample(&b, &s->stack[i]);
	if (!err)
		err = put_profile(&b, r, profile);
	end(&b);
	return err;
}

#define GZIP_WINDOW (15 + 16)   /* + 16: gzip header */
#define GZIP_MEMORY 8

static int put_compressed(FILE *f, const struct protobuf *p)
{
	unsigned char chunk[8192];
	z_stream z = {};
	size_t left = p->n;
	int state = Z_OK;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	z.next_in = p->data;
	while (state == Z_OK) {
		if (!z.avail_in) {
			z.avail_in = left < UINT32_MAX ? left : UINT32_MAX;
			left -= z.avail_in;
		}
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		state = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(chunk, 1, sizeof(chunk) - z.avail_out, f);
	}
	deflateEnd(&z);
	return state == Z_STREAM_END ? 0 : -ENOMEM;
}

int write_pprof(struct writer *w, const struct report *r)
{
	struct protobuf profile = {};
	int err = pprof__encode(r, &profile);

	if (!err)
		err = put_compressed(w->file, &profile);
	protobuf__free(&profile);
	return err;
}
