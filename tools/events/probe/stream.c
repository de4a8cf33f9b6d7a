// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/ring.h"

struct stream {
	const struct stream_plan *plan;
	struct ring *ring;
	struct layout_names names;
	struct stream_field *field;     /* of the line being made */
	u64 to_wall_clock;              /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	u64 count;
};

/* A text stands somewhere in the record, as long as it is: nothing is believed. */
static int show_text(struct stream_field *out, const struct layout_field *f,
		     const struct probe_record *record, size_t size)
{
	struct probe_text where;

	*out = (struct stream_field){ .field = { .name = f->name } };
	memcpy(&where, record->key + f->offset, sizeof(where));
	out->fault = where.length == PROBE_TEXT_FAULT;
	if (out->fault)
		return 0;
	if (where.length >= PROBE_TEXT_MOST || (size_t)where.at + where.length > size)
		return -EBADMSG;
	out->cut = where.length == PROBE_TEXT_MOST - 1;
	out->field.text = strndup((const char *)record->key + where.at, where.length);
	return out->field.text ? 0 : -ENOMEM;
}

static int show_fields(struct stream *s, const struct probe_record *record, size_t size)
{
	const struct layout *l = s->plan->layout;
	const struct layout_field *f;
	bool behind;
	size_t i;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		f = &l->field[i];
		behind = f->kind == LAYOUT_TEXT && f->size == sizeof(struct probe_text);
		if (f->size > size || f->offset > size - f->size)
			return -EBADMSG;
		s->field[i] = (struct stream_field){};
		err = behind ? show_text(&s->field[i], f, record, size) :
			       layout_field__show(&s->field[i].field, f, record->key + f->offset,
						 &s->names);
	}
	return err;
}

static void forget_fields(struct stream *s)
{
	size_t i;

	for (i = 0; i < s->plan->layout->n; i++) {
		free(s->field[i].field.text);
		s->field[i].field.text = NULL;
	}
}

static int show_record(struct stream *s, const struct probe_record *record, size_t size)
{
	const struct stream_plan *plan = s->plan;
	char comm[sizeof(record->comm) + 1] = "";
	struct stream_line line = {
		.time_ns = record->time_ns + s->to_wall_clock,
		.comm = comm, .pid = record->pid, .tid = record->tid, .cpu = record->cpu,
		.has_elapsed = plan->has_elapsed, .elapsed_ns = record->elapsed,
		.field = s->field, .n = plan->layout->n,
	};
	int err;

	memcpy(comm, record->comm, sizeof(record->comm));
	if (plan->nevents > 1 || plan->line)
		line.event = record->event < plan->nevents ? plan->event[record->event] : "?";
	err = show_fields(s, record, size);
	if (!err)
		err = stream__write_line(plan->writer, plan->line, &line);
	forget_fields(s);
	return err;
}

static int take_record(void *context, const void *data, size_t size)
{
	struct stream *s = context;
	int err = show_record(s, data, size - sizeof(struct probe_record));

	if (!err)
		s->count++;
	return err;
}

int stream__drain(struct stream *s)
{
	s->to_wall_clock = ring__to_wall_clock();
	return ring__drain(s->ring);
}

int stream__fd(const struct stream *s)
{
	return ring__fd(s->ring);
}

u64 stream__take_count(struct stream *s)
{
	u64 count = s->count;

	s->count = 0;
	return count;
}

int stream__open(struct stream **out, const struct stream_plan *plan,
		 const struct bpf_map *records)
{
	struct stream *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->names = (struct layout_names){
		.event = plan->event, .nevents = plan->nevents, .hierarchy = plan->hierarchy,
	};
	s->field = calloc(plan->layout->n ?: 1, sizeof(*s->field));
	if (s->field)
		err = ring__open(&s->ring, records, sizeof(struct probe_record), plan->writer,
				 take_record, s);
	if (err) {
		stream__close(s);
		return err;
	}
	*out = s;
	return 0;
}

void stream__close(struct stream *s)
{
	if (!s)
		return;
	ring__close(s->ring);
	layout_names__free(&s->names);
	free(s->field);
	free(s);
}
