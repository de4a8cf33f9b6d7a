// SPDX-License-Identifier: BSD-2-Clause
#include "probe/stream.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT_ONCE 4096            /* records written at once */
#define STOP (-EINTR)           /* from the callback: enough for now */

struct stream {
	const struct stream_plan *plan;
	struct ring_buffer *ring;
	struct layout_names names;
	struct stream_field *field;     /* of the line being made */
	u64 to_wall_clock;              /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	u64 count;
	u32 room;                       /* records that the buffer has room for at most */
	u32 here, most;                 /* records of this call of the kernel */
	int err;                        /* likewise */
};

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

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

static int take_record(void *context, void *data, size_t size)
{
	struct stream *s = context;

	if (size < sizeof(struct probe_record))
		s->err = -EBADMSG;
	else
		s->err = show_record(s, data, size - sizeof(struct probe_record));
	if (s->err)
		return s->err;
	s->count++;
	return ++s->here == s->most ? STOP : 0;
}

/* The lines of all records, in new memory. */
static int collect(struct stream *s, char **text, size_t *n)
{
	struct writer *w = s->plan->writer;
	FILE *file = w->file;
	int taken;

	w->file = open_memstream(text, n);
	if (!w->file) {
		w->file = file;
		return -ENOMEM;
	}
	taken = ring_buffer__consume(s->ring);
	if (fclose(w->file) && !s->err)
		s->err = -ENOMEM;
	w->file = file;
	if (s->err)
		return s->err;
	return taken < 0 && taken != STOP ? taken : 0;
}

static int write_some(struct stream *s, u32 most)
{
	FILE *file = s->plan->writer->file;
	char *text = NULL;
	size_t n = 0;
	int err;

	s->here = 0;
	s->most = most;
	s->err = 0;
	err = collect(s, &text, &n);
	errno = 0;
	if (!err && n && (fwrite(text, 1, n, file) != n || fflush(file) || ferror(file)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

int stream__drain(struct stream *s, bool all)
{
	u32 left = all ? s->room : AT_ONCE, most;
	int err = 0;

	s->to_wall_clock = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	while (left && !err) {
		most = left < AT_ONCE ? left : AT_ONCE;
		err = write_some(s, most);
		if (s->here < most)
			break;
		left -= most;
	}
	return err;
}

int stream__fd(const struct stream *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

u64 stream__take_count(struct stream *s)
{
	u64 count = s->count;

	s->count = 0;
	return count;
}

/* As many as are in a full buffer, and one more; each has a header of 8 bytes in front of it. */
static u32 room_of(int fd)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return AT_ONCE;
	return info.max_entries / (8 + sizeof(struct probe_record)) + 1;
}

int stream__open(struct stream **out, const struct stream_plan *plan, int records_fd)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->names = (struct layout_names){
		.event = plan->event, .nevents = plan->nevents, .hierarchy = plan->hierarchy,
	};
	s->field = calloc(plan->layout->n ?: 1, sizeof(*s->field));
	s->room = room_of(records_fd);
	s->ring = s->field ? ring_buffer__new(records_fd, take_record, s, NULL) : NULL;
	if (!s->ring) {
		int err = s->field ? -errno : -ENOMEM;

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
	ring_buffer__free(s->ring);
	layout_names__free(&s->names);
	free(s->field);
	free(s);
}
