// SPDX-License-Identifier: BSD-2-Clause
#include "stack/snoop_callers.h"

static int watch(struct measurement *m)
{
	struct snoop *s = m->own;

	return stacks__watch(&s->callers->stacks) ?: lines__drain(&s->lines);
}

int snoop_callers__check(void *own, struct cli *cli)
{
	struct snoop *s = own;
	int err;

	/* All events have the same kernel stack: that of the system call. */
	s->callers->user |= s->callers->wanted;
	err = callers__check(s->callers) ?: snoop__check(own, cli);
	s->lines.has_stack = s->callers->wanted;
	return err;
}

int snoop_callers__open(struct measurement *m)
{
	struct snoop *s = m->own;
	int err = snoop__open(m);

	if (err)
		return err;
	return s->callers->wanted ? callers__prepare(s->callers, m, m->obj) : stacks__leave_out(m->obj);
}

int snoop_callers__attach(struct measurement *m)
{
	struct snoop *s = m->own;
	int err;

	if (!s->callers->wanted)
		return snoop__attach(m);
	err = lines__begin(&s->lines, m, s->least, s->show, s);
	if (!err)
		err = callers__begin(s->callers, m, ring__fd(s->lines.ring));
	m->watch = watch;
	return err ?: measurement__attach_programs(m);
}

int snoop_callers__find(const struct snoop *s, const struct stack_id *id, struct stream_line *line)
{
	line->has_stack = s->callers->wanted;
	line->most_frames = s->callers->most_frames;
	return callers__find(s->callers, id, s->lines.writer->is_last, &line->stack);
}
