// SPDX-License-Identifier: BSD-2-Clause
#include "run/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/diag.h"
#include "report/units.h"

int lines__init(struct lines *l, const struct cli *cli, const char *const *name, size_t n)
{
	struct complaint c = {};
	int err;

	*l = (struct lines){ .cli = cli, .name = name, .nfields = n };
	if (!cli->template_text)
		return 0;
	err = stream_template__parse(&l->template, cli->template_text, name, n, &c);
	if (err)
		diag_complaint("--template", cli->template_text, &c);
	return err;
}

int lines__check(const struct cli *cli)
{
	if (cli->live) {
		diag_error("--live shows tables and histograms, not single events");
		return -EINVAL;
	}
	if (!cli->listen.n)
		return 0;
	diag_error("--listen serves figures, not single events");
	diag_hint("stat -e and probe --by count events in the kernel; --format openmetrics -o FILE counts the lines");
	return -EINVAL;
}

int lines__prepare(struct lines *l, const struct measurement *m, struct bpf_object *obj)
{
	u64 bytes = l->cli->ring_bytes;
	int err = l->idle ? 0 : lines__check(l->cli);

	l->obj = obj;
	if (err)
		return err;
	if (!bytes && !l->rare)
		return ring__prepare(obj, &m->run->host);
	return ring__prepare_bytes(obj, bytes ?: ring__bytes_of_rare(&m->run->host));
}

int lines__begin(struct lines *l, struct measurement *m, size_t least, ring_take take,
		 void *context)
{
	struct bpf_map *records = bpf_object__find_map_by_name(l->obj, "records");
	int err;

	l->writer = m->writer;
	l->losses_fd = bpf_object__find_map_fd_by_name(l->obj, "losses");
	if (!records || l->losses_fd < 0)
		return -ENOENT;
	err = ring__open(&l->ring, records, least, m->writer, take, context);
	if (err)
		return err;
	ring__hear_signals(l->ring);
	m->watch_fd = ring__fd(l->ring);
	m->has_lines = !l->idle;
	return 0;
}

int lines__drain(struct lines *l)
{
	l->to_wall_clock = ring__to_wall_clock();
	return ring__drain(l->ring);
}

int lines__write(struct lines *l, struct stream_line *line)
{
	return lines__write_as(l, l->cli->template_text ? &l->template : NULL, line);
}

int lines__write_as(struct lines *l, const struct stream_template *t, struct stream_line *line)
{
	line->time_ns += l->to_wall_clock;
	l->shown++;
	return stream__write_line(l->writer, t, line);
}

static int end_lines(const struct lines *l)
{
	struct stream_field *field = calloc(l->nfields ?: 1, sizeof(*field));
	const struct stream_line like = {
		.comm = "", .event = l->has_event ? "" : NULL, .has_elapsed = l->has_elapsed,
		.has_stack = l->has_stack, .field = field, .n = l->nfields,
	};
	size_t i;
	int err;

	if (!field)
		return -ENOMEM;
	for (i = 0; i < l->nfields; i++)
		field[i].field.name = l->name[i];
	err = stream__end_lines(l->writer, &like);
	free(field);
	return err;
}

int lines__report(struct lines *l, struct report *r)
{
	int err = end_lines(l);

	if (err)
		return err;
	r->table = true;
	r->has_events = true;
	r->events = l->shown;
	l->shown = 0;
	err = loss__since(&r->counters, &l->losses_before, l->losses_fd, l->obj);
	r->counters.lost[LOSS_RING_FULL] += l->ring ? ring__take_unread(l->ring) : 0;
	return err;
}

void lines__none_so_long(struct lines *l, struct report *r, const char *what, u64 min_ns)
{
	char least[UNITS_SPACE];

	if (!min_ns)
		return;
	format_value(least, min_ns, UNIT_NS, l->cli->milliseconds);
	snprintf(l->nothing, sizeof(l->nothing), "no %s in scope took %s or more; lower --min to see more",
		 what, least);
	r->nothing = l->nothing;
}

void lines__free(struct lines *l)
{
	ring__close(l->ring);
	l->ring = NULL;
	stream_template__free(&l->template);
}
