// SPDX-License-Identifier: BSD-2-Clause
#include "run/snoop.h"

#include "agg/variable.h"
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

struct stream_field snoop_size(const char *name, u64 bytes)
{
	return (struct stream_field){
		.field = { .name = name, .number = bytes, .kind = FIELD_SIZE },
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

struct stream_field snoop_spare(struct stream_field f)
{
	f.field.spare = true;
	return f;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int watch(struct measurement *m)
{
	struct snoop *s = m->own;

	return lines__drain(&s->lines);
}

int snoop__report(struct measurement *m, struct report *r)
{
	struct snoop *s = m->own;
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
	lines__none_so_long(&s->lines, r, "call", s->min_ns);
	err = lines__report(&s->lines, r);
	r->counters.filtered += s->filtered;
	s->filtered = 0;
	return err;
}

static int pick_calls(const struct snoop *s)
{
	u8 (*calls)[SYSCALL_NUMBERS] = object_variable(s->m->obj, ".rodata", "calls");
	size_t i;

	for (i = 0; i < s->ncalls && calls; i++)
		syscall_mark(calls, s->call[i].name, s->call[i].which);
	return s->ncalls && !calls ? -ENOENT : 0;
}

int snoop__check(void *own, struct cli *cli)
{
	struct snoop *s = own;
	int err = lines__init(&s->lines, cli, s->field, s->nfields);

	s->lines.rare = s->rare;
	s->lines.has_event = s->has_event;
	s->lines.has_elapsed = s->has_elapsed;
	return err;
}

int snoop__open(struct measurement *m)
{
	struct snoop *s = m->own;
	int err = 0;

	s->m = m;
	m->source = s->source;
	if (s->open)
		err = s->open(s);
	if (!err)
		err = pick_calls(s);
	if (!err)
		err = lines__prepare(&s->lines, m, m->obj);
	if (!err && s->state)
		err = task_state__prepare(m->obj, s->state, &m->run->host);
	return err;
}

int snoop__attach(struct measurement *m)
{
	struct snoop *s = m->own;
	int err = lines__begin(&s->lines, m, s->least, s->show, s);

	m->watch = watch;
	return err ?: measurement__attach(m);
}
