// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "events/probe/addresses.h"
#include "run/ring.h"

struct stream {
	const struct stream_plan *plan;
	struct ring *ring;
	struct layout_names names;
	struct stream_field *field;     /* fields of the current line */
	size_t nfields;                 /* number of fields in use */
	struct addresses *addresses;    /* NULL if no field is a user-space address */
	int epoll_fd;                   /* for the ring and the records of processes; -1: there is only the ring */
	u32 pid;                        /* process of the record, and the time to which its field refers */
	u64 at_ns;
	u64 to_wall_clock;              /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	u64 count;
};

/* A text is stored as its offset and length in the record. Neither is trusted. */
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

static char *name_address(void *arg, u64 address)
{
	struct stream *s = arg;

	return addresses__name(s->addresses, s->pid, s->at_ns, address);
}

static bool has_field(const struct stream_plan *plan, const struct probe_record *record, const struct layout_field *f)
{
	return !plan->group || !f->group || (record->event < plan->nevents && plan->group[record->event] == f->group);
}

/* Fields that the event does not have are left out, except with a template, which identifies fields by position. */
static int show_fields(struct stream *s, const struct probe_record *record, size_t size)
{
	const struct layout *l = s->plan->layout;
	const struct layout_field *f;
	struct stream_field *shown;
	bool behind;
	size_t i;
	int err = 0;

	s->nfields = 0;
	for (i = 0; i < l->n && !err; i++) {
		f = &l->field[i];
		if (!has_field(s->plan, record, f)) {
			if (s->plan->line)
				s->field[s->nfields++] = (struct stream_field){ .field = { .name = f->name,
											   .kind = FIELD_NONE } };
			continue;
		}
		shown = &s->field[s->nfields++];
		behind = f->kind == LAYOUT_TEXT && f->size == sizeof(struct probe_text);
		if (f->size > size || f->offset > size - f->size)
			return -EBADMSG;
		*shown = (struct stream_field){};
		s->pid = record->pid;
		s->at_ns = record->time_ns - (f->is_of_begin ? record->elapsed : 0);
		err = behind ? show_text(shown, f, record, size) :
			       layout_field__show(&shown->field, f, record->key + f->offset,
						 &s->names);
	}
	return err;
}

static void forget_fields(struct stream *s)
{
	size_t i;

	for (i = 0; i < s->nfields; i++) {
		free(s->field[i].field.text);
		s->field[i].field.text = NULL;
	}
}

/* The stack is in the record's last bytes. */
static int find_stack(struct stream *s, const struct probe_record *record, size_t *size, struct stream_line *line)
{
	struct callers *callers = s->plan->callers;
	struct stack_id id;
	u32 number;
	bool is_new;
	int err;

	if (!callers)
		return 0;
	if (*size < sizeof(id))
		return -EBADMSG;
	*size -= sizeof(id);
	memcpy(&id, record->key + *size, sizeof(id));
	err = callers__number(callers, &id, &number, &is_new);
	if (err)
		return err;
	line->has_stack = true;
	line->stack = call_stacks__find(&callers->all, number);
	line->most_frames = callers->most_frames;
	return 0;
}

/* Whether a pending signal prevented the resolution of names. */
static bool has_waited_in_vain(struct stream *s)
{
	bool addresses = s->addresses && addresses__take_interrupted(s->addresses);

	return (s->plan->callers && callers__take_interrupted(s->plan->callers)) || addresses;
}

static int show_record(struct stream *s, const struct probe_record *record, size_t size)
{
	const struct stream_plan *plan = s->plan;
	char comm[sizeof(record->comm) + 1] = "";
	struct stream_line line = {
		.time_ns = record->time_ns + s->to_wall_clock,
		.comm = comm, .pid = record->pid, .tid = record->tid, .cpu = record->cpu,
		.has_elapsed = plan->has_elapsed, .elapsed_ns = record->elapsed,
		.field = s->field,
	};
	int err;

	memcpy(comm, record->comm, sizeof(record->comm));
	if (plan->nevents > 1 || plan->line)
		line.event = record->event < plan->nevents ? plan->event[record->event] : "?";
	err = find_stack(s, record, &size, &line);
	if (!err)
		err = show_fields(s, record, size);
	line.n = s->nfields;
	if (!err && has_waited_in_vain(s) && !plan->writer->is_last)
		err = -EINTR;
	if (!err)
		err = stream__write_line(plan->writer, plan->line, &line);
	forget_fields(s);
	return err;
}

int stream__end(struct stream *s)
{
	const struct stream_plan *plan = s->plan;
	const struct stream_line like = {
		.comm = "", .event = plan->nevents > 1 ? "" : NULL, .has_elapsed = plan->has_elapsed,
		.has_stack = plan->callers, .field = s->field, .n = plan->layout->n,
	};
	size_t i;

	for (i = 0; i < like.n; i++)
		s->field[i] = (struct stream_field){ .field = { .name = plan->layout->field[i].name } };
	return stream__end_lines(plan->writer, &like);
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
	u64 now = monotonic_ns();
	int err = s->plan->callers ? stacks__watch(&s->plan->callers->stacks) : 0;

	if (!err && s->addresses)
		err = addresses__read(s->addresses);
	s->to_wall_clock = ring__to_wall_clock();
	err = err ?: ring__drain(s->ring);
	if (!err && s->addresses && !ring__keeps_one(s->ring))
		addresses__forget(s->addresses, now);
	return err;
}

u64 stream__take_unread(struct stream *s)
{
	return ring__take_unread(s->ring);
}

int stream__fd(const struct stream *s)
{
	return s->epoll_fd >= 0 ? s->epoll_fd : ring__fd(s->ring);
}

u64 stream__take_count(struct stream *s)
{
	u64 count = s->count;

	s->count = 0;
	return count;
}

static bool has_addresses(const struct layout *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->field[i].kind == LAYOUT_USER_SYMBOL)
			return true;
	return false;
}

/* Must run before anything is attached: the mappings of processes are known from this time on. */
static int open_addresses(struct stream *s)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err, fd;

	if (!has_addresses(s->plan->layout))
		return 0;
	err = addresses__open(&s->addresses, s->plan->host);
	if (err)
		return err;
	s->names.name_address = name_address;
	s->names.name_arg = s;
	fd = addresses__fd(s->addresses);
	if (fd < 0)
		return 0;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, ring__fd(s->ring), &event))
		return -errno;
	return 0;
}

int stream__open(struct stream **out, const struct stream_plan *plan,
		 const struct bpf_map *records)
{
	struct stream *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->epoll_fd = -1;
	s->names = (struct layout_names){
		.event = plan->event, .nevents = plan->nevents, .hierarchy = plan->hierarchy,
		.cgroups = plan->cgroups,
	};
	s->field = calloc(plan->layout->n ?: 1, sizeof(*s->field));
	if (s->field)
		err = ring__open(&s->ring, records, sizeof(struct probe_record), plan->writer,
				 take_record, s);
	if (!err)
		err = open_addresses(s);
	if (err) {
		stream__close(s);
		return err;
	}
	ring__hear_signals(s->ring);
	*out = s;
	return 0;
}

void stream__close(struct stream *s)
{
	if (!s)
		return;
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	addresses__close(s->addresses);
	ring__close(s->ring);
	layout_names__free(&s->names);
	free(s->field);
	free(s);
}
