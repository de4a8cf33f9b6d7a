// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks for speedscope.app: a JSON file with a table of frames and one profile per unit of the values or, with several
 * events, per event and unit. The key of a stack is its outermost frame, as in folded stacks. Texts are escaped
 * (report/escape.h).
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/incomplete.h"
#include "report/json_value.h"
#include "report/stack_values.h"
#include "report/text.h"
#include "report/tree.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define EXPORTER "tally"

struct scope_file {
	const struct report_stacks *stacks;
	struct stack_labels labels;
	json_t *frames;
	s64 *number;            /* index in the file per label, keys after frames; -1 if it has none yet */
};

/* A frame without a source file uses its module, so that the module gets its own colour. */
static json_t *frame(const struct scope_file *s, size_t index)
{
	const struct report_frame *f = index < s->stacks->nframes ? &s->stacks->frame[index] : NULL;
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(f ? s->labels.frame[index] :
						       s->labels.key[index - s->stacks->nframes]));
	if (f && (f->file || f->module))
		json_object_set_new(o, "file", json_of_text(f->file ?: f->module));
	if (f && f->file && f->line)
		json_object_set_new(o, "line", json_integer(f->line));
	return o;
}

static void add_frame(struct scope_file *s, json_t *sample, size_t index)
{
	if (s->number[index] < 0) {
		s->number[index] = json_array_size(s->frames);
		json_array_append_new(s->frames, frame(s, index));
	}
	json_array_append_new(sample, json_integer(s->number[index]));
}

static bool has_value(const struct report_stack *stack, const struct stack_value *v)
{
	return stack->event == v->event;
}

/* Lists the samples for this value. */
static json_t *samples(struct scope_file *s, const struct stack_value *v)
{
	json_t *list = json_array(), *sample;
	const struct report_stack *stack;
	size_t i;
	u32 k;

	for (i = 0; i < s->stacks->n; i++) {
		stack = &s->stacks->stack[i];
		if (!has_value(stack, v))
			continue;
		sample = json_array();
		if (*s->labels.key[stack->key])
			add_frame(s, sample, s->stacks->nframes + stack->key);
		for (k = 0; k < stack->nframes; k++)
			add_frame(s, sample, stack->frame[k]);
		json_array_append_new(list, sample);
	}
	return list;
}

/* Returns a name such as "off-cpu, lost 3, 12.5% [incomplete]", because the format has no other place for losses. */
static json_t *profile_name(const struct report *r, const struct stack_value *v)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	json_t *name = NULL;

	if (!f)
		return NULL;
	fputs(v->type, f);
	if (r->stacks->nevents) {
		if (r->stacks->event[v->event].missed)
			fprintf(f, ", missed %llu", r->stacks->event[v->event].missed);
	} else if (!loss__is_none(&r->counters)) {
		fputs(", ", f);
		text_put_lost(f, &r->counters);
	}
	put_incomplete(f, r->stacks, v->event);
	if (r->hidden)
		fprintf(f, ", %zu more not shown", r->hidden);
	if (!fclose(f))
		name = json_of_text(text);
	free(text);
	return name;
}

static json_t *profile(const struct report *r, const struct stack_value *v, json_t *samples)
{
	json_t *o = json_object(), *weights = json_array();
	u64 sum = 0, number;
	size_t i;

	for (i = 0; i < r->stacks->n; i++) {
		if (!has_value(&r->stacks->stack[i], v))
			continue;
		number = stack_value__number(v, r->stacks->stack[i].value);
		add_saturating(&sum, number);
		json_array_append_new(weights, json_integer(number));
	}
	if (sum > INT64_MAX)
		sum = INT64_MAX;
	json_object_set_new(o, "type", json_string("sampled"));
	json_object_set_new(o, "name", profile_name(r, v));
	json_object_set_new(o, "unit", json_string(strcmp(v->unit, "count") ? v->unit : "none"));
	json_object_set_new(o, "startValue", json_integer(0));
	json_object_set_new(o, "endValue", json_integer(sum));
	json_object_set_new(o, "samples", samples);
	json_object_set_new(o, "weights", weights);
	return o;
}

static json_t *file(struct scope_file *s, const struct report *r)
{
	struct stack_value value[MOST_STACK_VALUES];
	size_t n = stack_values__of(r->stacks, value), i;
	json_t *o = json_object(), *profiles = json_array(), *shared = json_object();

	for (i = 0; i < n; i++)
		json_array_append_new(profiles, profile(r, &value[i], samples(s, &value[i])));
	json_object_set_new(o, "$schema", json_string(SCHEMA));
	json_object_set_new(o, "exporter", json_string(EXPORTER));
	json_object_set_new(o, "name", json_of_text(r->command ?: r->tool));
	/*
	 * Show the profile of the last value first, because it is the most informative. With several events, show the
	 * first event's profile.
	 */
	json_object_set_new(o, "activeProfileIndex", json_integer(r->stacks->nevents ? 0 : n - 1));
	json_object_set(shared, "frames", s->frames);
	json_object_set_new(o, "shared", shared);
	json_object_set_new(o, "profiles", profiles);
	return o;
}

int write_speedscope(struct writer *w, const struct report *r)
{
	struct scope_file s = { .stacks = r->stacks, .frames = json_array() };
	size_t n = r->stacks->nframes + r->stacks->nkeys, i;
	int err = stack_labels__make(&s.labels, r->stacks, LABELS_NAMED);
	json_t *o = NULL;

	s.number = calloc(n ?: 1, sizeof(*s.number));
	if (!s.number)
		err = -ENOMEM;
	for (i = 0; i < n && !err; i++)
		s.number[i] = -1;
	if (!err)
		o = file(&s, r);
	if (o && json_dumpf(o, w->file, JSON_COMPACT))
		err = -ENOMEM;
	fputc('\n', w->file);
	json_decref(o);
	json_decref(s.frames);
	stack_labels__free(&s.labels);
	free(s.number);
	return err;
}
