// SPDX-License-Identifier: BSD-2-Clause
#include "run/snoop.h"

#include "base/clock.h"
#include "host/syscalls.h"
#include "host/task_state.h"

/*
 * --- fields ------------------------------------------------------------------------------------
 */

struct stream_field snoop_number(const char *name, s64 number)
{
	return (struct stream_field){
		.field = { .name = name, .number = number, .kind = FIELD_SIGNED },
	};
}

struct stream_field snoop_time(const char *name, u64 ns)
{
	return (struct stream_field){
		.field = { .name = name, .number = ns, .kind = FIELD_TIME },
	};
}

struct stream_field snoop_id(const char *name, u32 id)
{
	return (struct stream_field){
		.field = { .name = name, .number = id, .kind = FIELD_ID },
	};
}

struct stream_field snoop_none(const char *name)
{
	return (struct stream_field){ .field = { .name = name, .kind = FIELD_NONE } };
}

struct stream_field snoop_word(const char *name, const char *word)
{
	if (!word)
		return snoop_none(name);
	return (struct stream_field){
		.field = { .name = name, .text = (char *)word, .word = true },
	};
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int watch(struct run *run)
{
	struct snoop *s = run->context;

	return lines__drain(&s->lines);
}

static int report(struct run *run, struct report *r)
{
	struct snoop *s = run->context;
	int err;

	if (s->settle) {
		s->settle(s);
		err = lines__drain(&s->lines);
		if (err)
			return err;
	}
	r->value = s->value;
	r->source = s->source;
	r->caveat = s->caveat;
	err = lines__report(&s->lines, r);
	r->counters.filtered += s->filtered;
	s->filtered = 0;
	return err;
}

static void pick_calls(struct snoop *s)
{
	size_t i;

	for (i = 0; i < s->ncalls; i++)
		syscall_mark(s->calls, s->call[i].name, s->call[i].which);
}

static int check(void *context, struct cli *cli)
{
	struct snoop *s = context;

	int err = lines__init(&s->lines, cli, s->field, s->nfields);

	s->lines.rare = s->rare;
	return err;
}

static int open_skeleton(struct course *c, struct run *run)
{
	struct snoop *s = c->context;
	int err = s->open(s);

	if (err)
		return err;
	if (s->calls)
		pick_calls(s);
	err = run__set_scope(run, c->obj, s->scope);
	if (!err)
		err = lines__prepare(&s->lines, run, c->obj, s->wake_bytes);
	if (!err && s->state)
		err = task_state__prepare(c->obj, s->state, &run->host, s->have_task_storage);
	return err;
}

static int attach(struct course *c, struct run *run)
{
	struct snoop *s = c->context;
	int err = lines__begin(&s->lines, run, s->least, s->show, s);

	run->watch = watch;
	if (s->began_ns)
		*s->began_ns = monotonic_ns();
	if (!err)
		err = course__attach(c, run);
	if (!err && s->attached)
		s->attached(s);
	return err;
}

int snoop__main(struct snoop *s, const struct cli_spec *spec, int argc, char **argv)
{
	int code;

	s->course.tool = s->tool;
	s->course.context = s;
	s->course.source = s->source;
	s->course.check = check;
	s->course.open = open_skeleton;
	s->course.attach = attach;
	s->course.report = report;
	code = course__main(&s->course, spec, argc, argv);
	lines__free(&s->lines);
	return code;
}
