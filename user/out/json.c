// SPDX-License-Identifier: BSD-2-Clause
/* Reports as JSON, one object per line (docs/json.md). Numbers are integers in the base unit. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "out/report.h"

/*
 * JSON integers are signed 64-bit in jansson. Larger values (a count above 2^63, the last bucket)
 * are given as reals, which every reader can take.
 */
static json_t *number(u64 value)
{
	return value <= INT64_MAX ? json_integer(value) : json_real((double)value);
}

static json_t *string(const char *s)
{
	char *text = escape_string(s);
	json_t *value = text ? json_string(text) : NULL;

	free(text);
	return value;
}

static json_t *field(const struct field *f)
{
	if (f->text)
		return string(f->text);
	if (f->kind == FIELD_NONE || (f->kind == FIELD_REAL && !isfinite(f->real)))
		return json_null();
	return f->kind == FIELD_REAL ? json_real(f->real) : number(f->number);
}

static json_t *fields(const struct field *f, size_t n)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(object, f[i].name, field(&f[i]));
	return object;
}

static json_t *buckets(const struct histogram *h)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < h->nbuckets; i++) {
		json_t *b = json_array();

		json_array_append_new(b, number(histogram_bucket_first(h->bucket[i].index)));
		json_array_append_new(b, number(histogram_bucket_last(h->bucket[i].index)));
		json_array_append_new(b, number(h->bucket[i].count));
		json_array_append_new(list, b);
	}
	return list;
}

static json_t *group(const struct report_group *g)
{
	const struct histogram *h = &g->hist;
	json_t *o = json_object();
	size_t i;

	json_object_set_new(o, "key", fields(g->key, g->nkey));
	json_object_set_new(o, "count", number(h->count));
	json_object_set_new(o, "sum", number(h->sum));
	json_object_set_new(o, "min", number(h->min));
	json_object_set_new(o, "avg", number(histogram__average(h)));
	json_object_set_new(o, "max", number(h->max));
	if (h->count && !h->min_exact)
		json_object_set_new(o, "min_exact", json_false());
	if (h->count && !h->max_exact)
		json_object_set_new(o, "max_exact", json_false());
	for (i = 0; i < ARRAY_SIZE(report_percentiles); i++)
		json_object_set_new(o, report_percentiles[i].json,
				    number(histogram__percentile(h, report_percentiles[i].per_10k)));
	json_object_set_new(o, "buckets", buckets(h));
	return o;
}

static json_t *losses(const struct loss_counters *c)
{
	json_t *o = json_object();
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		json_object_set_new(o, loss_name(i), number(c->lost[i]));
	return o;
}

static void set_header(json_t *o, const struct report *r)
{
	json_object_set_new(o, "tool", string(r->tool));
	if (r->command)
		json_object_set_new(o, "command", string(r->command));
	if (r->kernel)
		json_object_set_new(o, "kernel", string(r->kernel));
	if (r->cpus)
		json_object_set_new(o, "cpus", number(r->cpus));
	if (r->start_ns) {
		json_object_set_new(o, "start_ns", number(r->start_ns));
		json_object_set_new(o, "duration_ns", number(r->duration_ns));
	}
	if (r->source)
		json_object_set_new(o, "source", string(r->source));
	if (r->value) {
		json_object_set_new(o, "value", string(r->value));
		if (!r->table)
			json_object_set_new(o, "unit", string(unit_name(r->unit)));
	}
	if (r->caveat)
		json_object_set_new(o, "note", string(r->caveat));
	if (r->has_events) {
		json_object_set_new(o, "events", number(r->events));
		json_object_set_new(o, "filtered", number(r->counters.filtered));
		json_object_set_new(o, "unaccounted", number(r->counters.unaccounted));
		json_object_set_new(o, "corrected", number(r->counters.corrected));
	}
	if (r->has_events || r->has_losses)
		json_object_set_new(o, "lost", losses(&r->counters));
	if (r->hidden)
		json_object_set_new(o, "hidden", number(r->hidden));
}

int write_json(struct writer *w, const struct report *r)
{
	json_t *o = json_object(), *list = json_array();
	size_t i;
	char *line;

	set_header(o, r);
	for (i = 0; i < r->ngroups; i++)
		json_array_append_new(list, group(&r->group[i]));
	for (i = 0; i < r->nrows; i++)
		json_array_append_new(list, fields(r->row[i].cell, r->row[i].ncells));
	json_object_set_new(o, r->value && !r->table ? "groups" : "rows", list);
	line = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!line)
		return -ENOMEM;
	fprintf(w->file, "%s\n", line);
	free(line);
	return 0;
}
