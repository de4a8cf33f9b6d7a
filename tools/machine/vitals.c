// SPDX-License-Identifier: BSD-2-Clause
/* vitals: levels of the machine's gauges, and increases of its counters, from files of the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/order.h"
#include "machine/vitals/vital.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"

struct vitals {
	bool all;
	bool ended;             /* the last reading has been taken */
	struct vital_reader reader;
	struct readings before, now;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

/*
 * Cgroups and disks are told apart by a number of theirs, so that one which was not there began at 0. An interface may
 * have come from another namespace, or have got another name. A counter with a limit has readings only since the limit
 * was set.
 */
static bool begins_at_zero(const struct reading *r)
{
	return r->id && vitals[r->vital].kind == VITAL_COUNTER && !r->has_limit;
}

/* Text output shows only the worst of many objects. */
#define WORST 3

/* Areas in the order in which users look at them. */
static u32 place_of(const char *area)
{
	static const char *const areas[] = { "cpu", "memory", "io", "irq", "tasks", "files", "disk", "net", "cgroup" };
	u32 i = 0;

	while (i < ARRAY_SIZE(areas) && strcmp(area, areas[i]))
		i++;
	return i;
}

/* Errors first, then levels and rates near a limit, the nearest first. */
static double urgency(const struct vital_change *c)
{
	if (!vital_is_finding(c))
		return 0;
	return vitals[c->now->vital].is_error ? 1e9 : 1 + vital_nearness(c);
}

static int compare(const void *a, const void *b)
{
	const struct vital_change *x = a, *y = b;
	double one = urgency(x), other = urgency(y);
	u32 place = place_of(vitals[x->now->vital].area), other_place = place_of(vitals[y->now->vital].area);

	if (one != other)
		return one < other ? 1 : -1;
	if (place != other_place)
		return place < other_place ? -1 : 1;
	if (vitals[x->now->vital].least && x->now->vital == y->now->vital && x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->now > y->now) - (x->now < y->now);   /* readings are sorted */
}

static struct field level(const char *name, u64 value, bool known, enum field_role role, enum vital_unit unit)
{
	struct field f = { .name = name, .number = value, .role = role, .kind = FIELD_NONE };

	if (!known)
		return f;
	f.kind = unit == VITAL_BYTES ? FIELD_SIZE : unit == VITAL_NS ? FIELD_DURATION : FIELD_NUMBER;
	if (unit == VITAL_HUNDREDTHS) {
		f.kind = FIELD_REAL;
		f.decimals = 2;
		f.real = value / 100.0;
		f.exact = value;
		f.exact_per = 100;
	}
	return f;
}

static struct field percent(const char *name, double value, enum field_role role)
{
	return (struct field){ .name = name, .kind = value < 0 ? FIELD_NONE : FIELD_REAL, .real = value < 0 ? 0 : value,
			       .decimals = 2, .role = role };
}

static const char *unit_word(const struct vital *v)
{
	return v->unit == VITAL_BYTES ? "bytes" : v->unit == VITAL_NS ? "ns" : "number";
}

/* Whether a rate is shown. Times have a share instead, and states change too rarely. */
static bool is_timed(const struct vital_change *c)
{
	return c->has_count && c->elapsed_ns && vitals[c->now->vital].unit != VITAL_NS && !c->has_level;
}

static struct field per_second(const struct vital_change *c, enum vital_unit unit)
{
	bool known = is_timed(c);
	double value = known ? (double)c->count * NSEC_PER_SEC / c->elapsed_ns : 0;
	struct field f = level("per_second", value, known, ROLE_MEAN, unit);

	if (known && unit == VITAL_NUMBER) {
		f.kind = FIELD_REAL;
		f.decimals = 2;
		f.real = value;
	}
	f.of = "count";
	f.per = "seconds";
	f.no_metric = true;
	return f;
}

/* Adds the comm and the pid of VITAL_PROCESS_FILES, whose object is "nginx (123)", as remarks. */
static int add_process(struct report_row *row, const struct reading *r)
{
	static const struct field remark = { .name = "comm", .role = ROLE_REMARK, .machine = true };
	struct field pid = { .name = "pid", .role = ROLE_REMARK, .machine = true, .no_metric = true };
	char *comm = NULL;
	int err;

	if (r->vital == VITAL_PROCESS_FILES) {
		pid.kind = FIELD_ID;
		pid.number = r->id;
		comm = strndup(r->object, strrchr(r->object, '(') - r->object - 1);
		if (!comm)
			return -ENOMEM;
	}
	err = report_row__add_text_as(row, &remark, comm);
	free(comm);
	return err ?: report_row__add_field(row, &pid);
}

static int add_row(struct report *r, const struct vital_change *c)
{
	const struct vital *v = &vitals[c->now->vital];
	bool timed = is_timed(c);
	struct field fields[] = {
		level("value", c->now->value, c->has_level, ROLE_MAXIMUM, v->unit),
		level("limit", c->now->limit, c->now->has_limit, ROLE_GAUGE, v->unit),
		percent("limit_percent", vital_of_limit(c), ROLE_MAXIMUM),
		per_second(c, v->unit),
		percent("share_percent", vital_of_whole(c), ROLE_PERCENT),
		level("count", c->count, c->has_count, ROLE_COUNTER, v->unit),
		level("whole", c->whole, c->has_whole, ROLE_COUNTER, v->unit),
		{ .name = "seconds", .kind = timed ? FIELD_REAL : FIELD_NONE, .role = ROLE_COUNTER, .decimals = 9,
		  .real = c->elapsed_ns / 1e9, .machine = true, .no_metric = true },
	};
	static const struct field unit = { .name = "unit", .role = ROLE_REMARK, .machine = true };
	struct report_row row = {};
	int err = report_row__add_text(&row, "area", v->area);

	fields[1].spare = fields[5].spare = true;
	fields[4].of = "count";
	fields[4].per = "whole";
	fields[6].machine = true;
	if (!err)
		err = report_row__add_text(&row, "vital", v->name);
	if (!err)
		err = report_row__add_text(&row, "object", c->now->object);
	if (!err)
		err = report_row__add_fields(&row, fields, ARRAY_SIZE(fields));
	if (!err)
		err = report_row__add_text_as(&row, &unit, unit_word(v));
	if (!err)
		err = add_process(&row, c->now);
	return report__end_row(r, &row, err);
}

static bool is_short(const struct vitals *v, const struct measurement *m)
{
	return !v->all && m->cli->format == FORMAT_TEXT && !m->writer->sink;
}

/* Text output without --all shows findings, and main vitals with a nonzero value or count. */
static bool is_shown(const struct vitals *v, const struct measurement *m, const struct vital_change *c)
{
	const struct vital *vital = &vitals[c->now->vital];

	if (vital->least && vital_of_whole(c) < vital->least)
		return false;
	if (!is_short(v, m) || vital_is_finding(c))
		return true;
	return vital->is_main && (c->has_level ? c->now->value : c->count) && (c->has_level || c->has_count);
}

/* change: sorted. */
static size_t keep_the_worst(struct vital_change *change, size_t n)
{
	size_t i, kept = 0, of_vital = 0;

	for (i = 0; i < n; i++) {
		of_vital = i && change[i].now->vital == change[i - 1].now->vital ? of_vital + 1 : 0;
		if (!vitals[change[i].now->vital].least || of_vital < WORST)
			change[kept++] = change[i];
	}
	return kept;
}

static size_t choose(struct vitals *v, const struct measurement *m, struct vital_change *change)
{
	size_t i, n = 0;

	for (i = 0; i < v->now.n; i++) {
		const struct reading *now = &v->now.reading[i];
		struct vital_change c = vital_change(readings__find(&v->before, now), now, begins_at_zero(now));

		if ((c.has_level || c.has_count) && is_shown(v, m, &c))
			change[n++] = c;
	}
	if (n)
		qsort(change, n, sizeof(*change), compare);
	return is_short(v, m) ? keep_the_worst(change, n) : n;
}

static int fill_rows(struct vitals *v, const struct measurement *m, struct report *r)
{
	struct vital_change *change = calloc(v->now.n ?: 1, sizeof(*change));
	size_t n = change ? choose(v, m, change) : 0, most = v->all && !m->cli->top ? 0 : table_rows(m->cli), i;
	int err = change ? 0 : -ENOMEM;

	for (i = 0; i < n && !err && (!most || i < most); i++)
		err = add_row(r, &change[i]);
	r->hidden = n - i;
	free(change);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct vitals *v = m->own;
	int err = v->ended ? 0 : vital_reader__read(&v->reader, &v->now);

	r->value = "levels and limits of the machine";
	r->table = true;
	if (v->reader.too_many_cgroups)
		r->caveat = "only 1,024 cgroups of a hierarchy were read, and there are more";
	if (!err)
		err = fill_rows(v, m, r);
	readings__free(&v->before);
	v->before = v->now;
	v->now = (struct readings){};
	return err;
}

/*
 * --- the hooks: nothing is loaded --------------------------------------------------------------
 */

static int load(struct measurement *m)
{
	struct vitals *v = m->own;

	vital_reader__open(&v->reader);
	return 0;
}

static int arm(struct measurement *m)
{
	struct vitals *v = m->own;
	int err;

	readings__free(&v->before);
	vital_reader__skip_messages(&v->reader);
	v->reader.leaves_out_levels = true;
	err = vital_reader__read(&v->reader, &v->before);
	v->reader.leaves_out_levels = false;
	return err;
}

/* The interval lasts from the begin of the first readings to the begin of the last ones. */
static void disarm(struct measurement *m)
{
	struct vitals *v = m->own;

	m->closed_ns = monotonic_ns();
	v->ended = !vital_reader__read(&v->reader, &v->now);
}

static void init(void *own)
{
	struct vitals *v = own;

	v->reader.messages_fd = -1;
}

static void release(void *own)
{
	struct vitals *v = own;

	readings__free(&v->before);
	readings__free(&v->now);
	vital_reader__close(&v->reader);
}

static const struct option_row rows[] = {
	{ "all", 0, NULL, ROW_FLAG, "Show all vitals in text, not only the main vitals, errors, and vitals near a "
				    "limit",
	  HELP_GROUPING, FIELD(struct vitals, all) },
	{},
};

static const struct tool_spec spec = {
	.name = "vitals",
	.cli = {
		.groups = CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.doc = "Levels and limits of the machine: CPUs, memory, file systems, disks, network, cgroups, "
		       "kernel messages. Errors come first, then levels near a limit.",
		.rows = rows,
	},
	.own_size = sizeof(struct vitals),
	.source = "files in /proc, /sys and cgroups, /dev/kmsg, statfs of local file systems, before and after",
	.init = init, .load = load, .arm = arm, .disarm = disarm, .report = report,
	.free = release,
};

TOOL_MEASURING(vitals, spec, AREA_MACHINE,
	       "levels and limits: CPUs, memory, files, disks, network, cgroups, kernel messages");
