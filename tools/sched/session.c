// SPDX-License-Identifier: BSD-2-Clause
#include "sched/session.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "host/task_state.h"
#include "host/topology.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/explain.h"
#include "sched/waits.h"

#include "timehist.skel.h"

SHARED_SKELETON(timehist);

/*
 * --- options -----------------------------------------------------------------------------------
 */

const struct option_row session_rows[] = {
	{ "record", 0, "FILE", ROW_TEXT, "Write the events to a file without showing them", 1,
	  FIELD(struct session, record) },
	{ "read", 0, "FILE", ROW_TEXT, "Show a recorded file", 1, FIELD(struct session, read) },
	INCLUDE(struct session, source, wait_source_rows),
	{},
};

static bool is_scoped(const struct cli *cli)
{
	const struct scope_options *o = &cli->scope;

	return o->npids || o->ntids || o->user || o->cgroup || o->cpus || o->comm || o->pidns ||
	       o->all;
}

int session__check(struct session *s, struct cli *cli)
{
	const char *what = NULL;

	s->cli = cli;
	if (s->record && s->worst)
		what = "--record and --worst cannot be combined";
	else if (s->record && s->read)
		what = "--record and --read cannot be combined";
	else if (s->record && cli->interval_ns)
		what = "--record cannot be combined with intervals";
	else if (s->worst && cli->interval_ns)
		what = "--worst cannot be combined with intervals";
	else if (s->read && s->worst)
		what = "--worst and --read cannot be combined";
	else if (s->read && (is_scoped(cli) || cli->command))
		what = "--read cannot be combined with a scope or a command: --record chose them";
	else if (s->read && (cli->interval_ns || cli->duration_ns))
		what = "--read cannot be combined with intervals or -d";
	else if (s->read && cli->explain)
		what = "--read and -n cannot be combined";
	else if (s->read && (s->callers.kernel || s->callers.user))
		what = "--read cannot be combined with -K or -U: --record chose the parts of stacks";
	if (what)
		diag_error("%s", what);
	return what ? -EINVAL : 0;
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

static int take_one(struct session *s, const struct switches_record *r)
{
	int err;

	if (s->file_full)
		return 0;
	if (!s->file) {
		s->taken++;
		return s->take(s, s->writer, r);
	}
	err = switches_file__add(s->file, r);
	if (!err)
		s->taken++;
	s->file_full = err == -EFBIG;
	return s->file_full ? 0 : err;
}

static int take_stacked(struct session *s, const struct switches_stacked *stacked)
{
	struct switches_record r = stacked->record;
	bool is_new;
	int err = callers__number(&s->callers, &stacked->stack, &r.stack, &is_new);

	/* Must precede the record: a file contains each stack under the number assigned to it. */
	if (!err && is_new && s->file && !s->file_full)
		err = switches_file__add_stack(s->file,
					       call_stacks__find(&s->callers.all, r.stack));
	if (!err && callers__take_interrupted(&s->callers) && !s->writer->is_last)
		err = -EINTR;
	return err ?: take_one(s, &r);
}

static int take(void *context, const void *record, size_t size)
{
	const struct switches_stacked *stacked = record;

	return size < sizeof(*stacked) ? take_one(context, record) : take_stacked(context, stacked);
}

static int watch(struct measurement *m)
{
	struct session *s = m->own;
	int err = s->callers.wanted ? stacks__watch(&s->callers.stacks) : 0;

	if (s->to_wall_clock)
		*s->to_wall_clock = ring__to_wall_clock();
	if (!err)
		err = ring__drain(s->ring);
	if (!err && s->file_full) {
		diag_warn("'%s' has reached the maximum file size and ends here", s->record);
		return 1;
	}
	return err;
}

static void describe(const struct session *s, struct report *r)
{
	r->value = s->value;
	r->table = true;
	r->has_events = true;
	r->events = s->taken;
}

int session__report(struct measurement *m, struct report *r)
{
	struct session *s = m->own;
	struct loss_counters now;
	int err = 0;

	describe(s, r);
	waits__describe(s->source, r);
	if (s->report && !s->file)
		err = s->report(s, r);
	if (!err)
		err = loss__read(&now, bpf_map__fd(s->bpf->maps.losses), s->bpf->obj);
	if (err)
		return err;
	r->counters = loss__difference(&now, &s->losses_before);
	r->counters.lost[LOSS_RING_FULL] += s->ring ? ring__take_unread(s->ring) : 0;
	s->losses_before = now;
	s->taken = 0;
	return 0;
}

/*
 * --- measuring ---------------------------------------------------------------------------------
 */

static int configure_programs(struct session *s, const struct measurement *m)
{
	struct timehist_bpf *bpf = s->bpf;
	bool all = s->record;
	int err;

	bpf->rodata->want_arrivals = s->arrivals || all;
	bpf->rodata->keep_worst = s->worst;
	bpf->rodata->worst_by = s->worst_by;
	err = ring__prepare(bpf->obj, &m->run->host);
	if (!err && s->worst)
		err = bpf_map__set_max_entries(bpf->maps.worst, s->worst);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.show_running, s->worst);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.on_waking_show, s->wakeups || all);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.on_wakeup_new_show, s->wakeups || all);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.on_migrate_show, s->migrations || all);
	return err;
}

static int configure(struct measurement *m, enum wait_source source)
{
	struct timehist_bpf *bpf = m->bpf;
	struct session *s = m->own;
	int err = s->callers.wanted ? callers__prepare(&s->callers, m, bpf->obj) :
				      stacks__leave_out(bpf->obj);

	s->bpf = bpf;
	bpf->rodata->by_timestamps = source == WAIT_WAKEUP;
	if (!err)
		err = configure_programs(s, m);
	if (!err)
		err = task_state__prepare(bpf->obj, "slice_states", &m->run->host);
	return err ?: task_state__prepare(bpf->obj, "stays", &m->run->host);
}

static int attach(struct session *s, struct measurement *m)
{
	struct timehist_bpf *bpf = s->bpf;
	int err, fd;

	err = ring__open(&s->ring, bpf->maps.records, sizeof(struct switches_record), m->writer,
			 take, s);
	if (err)
		return measurement__complain(m, "attach", err);
	ring__hear_signals(s->ring);
	m->watch = watch;
	m->watch_fd = fd = ring__fd(s->ring);
	m->has_lines = s->has_lines;
	err = s->callers.wanted ? callers__begin(&s->callers, m, fd) :
				  measurement__fill_scope(m, bpf->obj);
	if (!err)
		err = measurement__attach_programs(m);
	return err ? measurement__complain(m, "attach", err) : 0;
}

static int create_file(struct session *s, const struct measurement *m, u32 cpus, u64 to_wall_clock)
{
	struct switches_file_head head = {
		.cpus = cpus, .to_wall_clock = to_wall_clock, .source = s->source,
	};
	int err;

	snprintf((char *)head.kernel, sizeof(head.kernel), "%.63s", m->run->host.uts.release);
	err = switches_file__create(&s->file, s->record, &head);
	if (err == -EEXIST)
		diag_error("--record: '%s' exists and is not a regular file", s->record);
	else if (err)
		diag_error("--record: '%s': %s", s->record, strerror(-err));
	return err;
}

static int begin(struct session *s, struct measurement *m)
{
	u64 to_wall_clock = ring__to_wall_clock();
	u32 cpus = topology__end(&m->run->host);

	s->writer = m->writer;
	s->stacks = &s->callers.all;
	if (s->record)
		return create_file(s, m, cpus, to_wall_clock);
	s->begin(s, m->writer, cpus, to_wall_clock);
	return 0;
}

/* Writes the losses after the records. */
static int finish_file(struct session *s, int err)
{
	int failed;

	if (!s->file)
		return err;
	if (err && !switches_file__has_records(s->file)) {
		switches_file__close(s->file);
		s->file = NULL;
		return err;
	}
	failed = switches_file__finish(s->file, &s->losses_before);
	s->file = NULL;
	if (failed)
		diag_error("--record: '%s': %s", s->record, strerror(-failed));
	return err ?: failed;
}

int session__load(struct measurement *m)
{
	struct session *s = m->own;

	return waits__load(m, &s->source, configure);
}

int session__attach(struct measurement *m)
{
	struct session *s = m->own;
	int err = begin(s, m);

	if (!err)
		err = attach(s, m);
	m->has_said = err;
	return err;
}

int session__end(struct measurement *m, int err)
{
	struct session *s = m->own;

	err = finish_file(s, err);
	ring__close(s->ring);
	callers__free(&s->callers);
	return err;
}

/*
 * --- the worst ---------------------------------------------------------------------------------
 */

static int read_running(struct session *s, struct worst *w)
{
	struct bpf_link *link = bpf_program__attach_iter(s->bpf->progs.show_running, NULL);
	int fd, err;

	if (!link) {
		diag_detail("no task iterator: waits of running tasks are left out");
		return 0;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : worst__read_running(w, fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

/* A heap may be inconsistent while a program updates it. */
static int stop_programs(struct session *s)
{
	s->bpf->bss->armed = 0;
	return elements__await_programs();
}

int session__read_worst(struct session *s, struct worst *w)
{
	int err;

	/* Runs first, so that no wait is missed. A task that leaves in between is found twice. */
	err = read_running(s, w) ?: stop_programs(s);
	if (!err)
		err = worst__read(w, bpf_map__fd(s->bpf->maps.worst), s->worst);
	worst__settle(w, s->worst);
	return err;
}

int session__describe_stack(struct session *s, const struct switches_worst *w,
			    enum switches_taken which, u32 most, char **text)
{
	const struct stack_id *id = which == SWITCHES_STACK ? &w->stack : &w->before_stack;
	u32 number;
	bool is_new;
	int err;

	*text = NULL;
	if (!(w->taken & which))
		return 0;
	err = callers__number(&s->callers, id, &number, &is_new);
	if (err)
		return err;
	*text = call_stack__line(call_stacks__find(&s->callers.all, number), most);
	return *text ? 0 : -ENOMEM;
}

/*
 * --- a file ------------------------------------------------------------------------------------
 */

struct reading {
	struct session *s;
	struct switches_file_text text;
	u64 first_ns, last_ns;
};

static int begin_reading(void *context, const struct switches_file_head *head)
{
	struct reading *reading = context;
	struct session *s = reading->s;

	s->begin(s, s->writer, head->cpus, head->to_wall_clock);
	return 0;
}

static int take_read(void *context, const struct switches_record *r)
{
	struct reading *reading = context;

	if (!reading->s->taken || r->time_ns < reading->first_ns)
		reading->first_ns = r->time_ns;
	if (r->time_ns > reading->last_ns)
		reading->last_ns = r->time_ns;
	return take(reading->s, r, sizeof(*r));
}

static int report_file(const struct tool_spec *spec, struct session *s, const struct reading *reading)
{
	const struct switches_file_text *text = &reading->text;
	struct report r = {
		.tool = spec->name, .command = s->cli->command_line,
		.kernel = (const char *)text->head.kernel, .cpus = text->head.cpus,
		.start_ns = reading->first_ns + text->head.to_wall_clock,
		.duration_ns = reading->last_ns - reading->first_ns,
	};
	int err = 0;

	describe(s, &r);
	r.source = "a file";
	if (text->head.source < WAIT_SOURCES)
		r.source = wait_sources[text->head.source].text;
	r.counters = text->counters;
	if (!text->whole)
		diag_warn("'%s' has no end: its writer did not finish", s->read);
	if (s->report)
		err = s->report(s, &r);
	if (!err)
		err = writer__write(s->writer, &r);
	report__free(&r);
	return err;
}

static int read_file(const struct tool_spec *spec, struct session *s)
{
	struct reading reading = { .s = s };
	struct switches_file_text *text = &reading.text;
	struct writer writer;
	const char *why;
	bool lost;
	int err = cli__open_writer(s->cli, &writer);

	if (err)
		return EXIT_FAILED;
	setvbuf(writer.file, NULL, _IOFBF, 1 << 16);
	writer.only_lines = s->has_lines && cli__is_piped(s->cli, &writer);
	s->writer = &writer;
	s->stacks = &text->stacks;
	err = switches_file__read(text, s->read, begin_reading, take_read, &reading, &why);
	if (err && !writer.failed)
		diag_error("--read: '%s': %s", s->read, why ?: strerror(-err));
	if (!err)
		err = report_file(spec, s, &reading);
	if (!err && s->callers.wanted && !text->stacks.n && text->records)
		diag_warn("'%s' has no stacks: record it with -g", s->read);
	switches_file_text__free(text);
	err = cli__close_writer(&writer, err);
	if (err)
		return EXIT_FAILED;
	lost = !loss__is_none(&text->counters) || !text->whole;
	return s->cli->strict && lost ? EXIT_LOST : EXIT_DONE;
}

const char *session__alone(const void *own)
{
	const struct session *s = own;

	return s->read ? "--read" : s->record ? "--record" : NULL;
}

int session__instead(const struct tool_spec *spec, void *own, struct cli *cli)
{
	struct session *s = own;

	(void)cli;
	return s->read ? read_file(spec, s) : -1;
}
