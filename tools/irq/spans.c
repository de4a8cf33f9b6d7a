// SPDX-License-Identifier: BSD-2-Clause
#include "irq/spans.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/diag.h"
#include "run/map_room.h"
#include "run/tabulate.h"

_Static_assert(BY_SPAN_ID == BY_OWN(0) && BY_SPAN_DETAIL == BY_OWN(1), "own parts of keys");

/* The values of a key on one CPU fill about two segments. */
#define SEGMENTS_PER_KEY 2

/* Rejects options that choose tasks. A command only sets the duration. */
static int refuse_tasks(const struct cli *cli)
{
	struct cli options = *cli;

	options.command = NULL;
	if (cli__picks_tasks(&options)) {
		diag_error("this work belongs to no task: -p, -t, -u, -G, --comm and --pidns would pick the "
			   "interrupted task");
		diag_hint("-C chooses CPUs");
		return -EINVAL;
	}
	if (cli->by & ((1U << BY_PARTS) - 1) & ~BY_CPU) {
		diag_error("this work belongs to no task: keys are cpu, %s",
			   cli->own_parts->text);
		return -EINVAL;
	}
	return 0;
}

int spans__check(void *own, struct cli *cli)
{
	struct spans *s = own;
	int err = refuse_tasks(cli);

	if (err)
		return err;
	if (!cli->by)
		cli->by = s->tool->by;
	cli->by |= s->tool->always_by;
	if (!cli->asked_keys)
		cli->max_keys = SPANS_USUAL_KEYS;
	cli->scope.all = true;
	return 0;
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

int spans__add_function(struct spans *s, u64 address, struct report_row *row)
{
	struct symbol found = {};
	char text[300];
	int err = 0, n;

	if (!s->symbols)
		err = symbols__new(&s->symbols);
	if (!err)
		err = symbols__kernel(s->symbols, address, &found);
	if (err)
		return err;
	if (!found.name)
		snprintf(text, sizeof(text), "0x%llx", address);
	else if (found.offset)
		snprintf(text, sizeof(text), "%s+0x%llx", found.name, found.offset);
	else
		snprintf(text, sizeof(text), "%s", found.name);
	n = strlen(text);
	if (found.module && found.module[0] != '[')
		snprintf(text + n, sizeof(text) - n, " [%s]", found.module);
	return report_row__add_text(row, "function", text);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

int spans__report(struct measurement *m, struct report *r)
{
	struct spans *s = m->own;
	const struct tabulation columns = { .share = s->late ? NULL : "cpu_percent" };

	r->value = s->value->value;
	r->metric = s->late ? "delay" : "run";
	r->caveat = s->value->caveat;
	r->source = s->source;
	r->unit = UNIT_NS;
	return measure__tabulate(&m->measure, m, r, &columns);
}

static int leave_out(struct bpf_object *obj, const char *const *names)
{
	int err = 0;

	for (; names && *names && !err; names++)
		err = bpf_program__set_autoload(bpf_object__find_program_by_name(obj, *names),
						false);
	return err;
}

int spans__open(struct measurement *m)
{
	struct bpf_map *keyed = bpf_object__find_map_by_name(m->obj, "keyed_times");
	struct spans *s = m->own;
	u64 room = (u64)SEGMENTS_PER_KEY * m->cli->max_keys * m->run->host.cpus_online;
	int err = leave_out(m->obj, s->late ? s->tool->of_time : s->tool->of_late);

	s->value = s->late ? &s->tool->late : &s->tool->time;
	s->source = s->value->source;
	if (!err && s->tool->open)
		err = s->tool->open(m);
	m->source = s->source;
	return err ?: map__preallocate(keyed, room);
}

const struct own_parts *spans__parts(void *own)
{
	struct spans *s = own;

	s->parts = s->tool->parts;
	s->parts.context = s;
	return &s->parts;
}

void spans__free(void *own)
{
	struct spans *s = own;

	if (s->symbols)
		symbols__free(s->symbols);
}
