// SPDX-License-Identifier: BSD-2-Clause
/* bpftop: the cost and the owners of all BPF programs on this host, from the kernel's statistics. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/order.h"
#include "machine/bpftop/program.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "tools.h"

/* Interval between looks for programs that come and go. Looking may take a fiftieth of the time. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
#define LOOK_SHARE 50

/* --slices: the first tenth of each interval. */
#define SLICE_SHARE 10
#define SLICE_MOST_NS NSEC_PER_SEC

enum bpftop_by { BY_PROGRAM, BY_OWNER, BY_TYPE };

struct bpftop {
	enum bpftop_by by;
	bool others;            /* --others: leave out the programs of this process */
	bool slices;            /* --slices: statistics are enabled only for a part of each interval */
	bool ended;             /* the last look has been taken */
	u64 slice_ns;           /* length of a slice */
	u64 began_ns, measured_ns;      /* of the slice; measured_ns is 0 while it lasts */
	int stats_fd, timer_fd; /* -1 if not open */
	struct bpf_programs programs;
	char caveat[160];
};

/*
 * --- rows --------------------------------------------------------------------------------------
 */

/* A row: one program, or several. */
struct figures {
	const struct bpf_program_seen *first;
	u64 programs, runs, ns, misses, memory, maps;
	bool has_misses;
};

static const struct column columns[] = {
	ADDED_BY_TOOL("programs", ROLE_GAUGE),
	ADDED_BY_TOOL("runs", ROLE_COUNTER),
	ADDED_BY_TOOL("time", ROLE_COUNTER),
	ADDED_BY_TOOL("cpu_percent", ROLE_PERCENT),
	ADDED_BY_TOOL("avg", ROLE_MEAN),
	ADDED_BY_TOOL("machine_percent", ROLE_GAUGE),
	ADDED_BY_TOOL("per_second", ROLE_MEAN),
	ADDED_BY_TOOL("memory", ROLE_GAUGE),
	ADDED_BY_TOOL("maps", ROLE_GAUGE),
	ADDED_BY_TOOL("misses", ROLE_COUNTER),
	ADDED_BY_TOOL("age", ROLE_GAUGE),
	{},
};

static const char *type_name(u32 type, char room[32])
{
	const char *name = libbpf_bpf_prog_type_str(type);

	/* BPF_PROG_TYPE_NETFILTER, since 6.4. */
	if (name || type == 32)
		return name ?: "netfilter";
	snprintf(room, 32, "type %u", type);
	return room;
}

static const char *hold_name(enum program_hold hold)
{
	static const char *const names[] = {
		[HELD_BY_MAP] = "map", [HELD_BY_PIN] = "pin", [HELD_BY_PROCESS] = "process",
	};

	return names[hold];
}

/* The path distinguishes a pin from a process. */
static int add_owner(struct report_row *row, const struct bpf_program_seen *p)
{
	static const struct field held_by = { .name = "held_by", .role = ROLE_LABEL, .machine = true };
	static const struct field owner = { .name = "owner", .role = ROLE_LABEL };
	const struct bpf_owner *o = &p->owner;
	int err = report_row__add_figure(row, "pid", o->pid, o->pid ? FIELD_ID : FIELD_NONE, ROLE_LABEL);

	if (!err)
		err = report_row__add_text_as(row, &owner, o->name);
	if (!err)
		err = report_row__add_text_as(row, &held_by, hold_name(o->hold));
	return err;
}

static int add_attached(struct report_row *row, const struct bpf_program_seen *p)
{
	const struct field f = { .name = "attached", .role = ROLE_LABEL, .spare = true };
	char *text = NULL;
	int err;

	if (p->attachments > 1) {
		text = program_text("%s, %u more", p->attached, p->attachments - 1);
		if (!text)
			return -ENOMEM;
	}
	err = report_row__add_text_as(row, &f, text ?: p->attached);
	free(text);
	return err;
}

/* Many programs have the same name. A program without a name is shown by its tag, a hash of its instructions. */
static int add_program_key(struct report_row *row, const struct bpf_program_seen *p)
{
	static const struct field type = { .name = "type", .role = ROLE_KEY };
	static const struct field name = { .name = "name", .role = ROLE_KEY };
	const struct field id = { .name = "id", .number = p->id, .kind = FIELD_ID, .role = ROLE_KEY, .of = "name" };
	char room[32];
	int err = report_row__add_field(row, &id);

	if (!err)
		err = report_row__add_text_as(row, &type, type_name(p->type, room));
	if (!err)
		err = report_row__add_text_as(row, &name, p->name ?: p->tag);
	return err ?: add_owner(row, p);
}

static int add_key(struct report_row *row, enum bpftop_by by, const struct bpf_program_seen *p)
{
	char room[32];

	if (by == BY_PROGRAM)
		return add_program_key(row, p);
	if (by == BY_TYPE)
		return report_row__add_text(row, "type", type_name(p->type, room));
	return report_row__add_text(row, "owner", p->owner.name);
}

static struct field share_of(const char *name, u64 ns, u64 whole_ns, enum field_role role)
{
	return (struct field){
		.name = name, .kind = whole_ns ? FIELD_REAL : FIELD_NONE, .decimals = 2, .role = role,
		.real = whole_ns ? 100.0 * ns / whole_ns : 0, .of = role == ROLE_PERCENT ? "time" : NULL,
	};
}

static struct field per_second(u64 runs, u64 duration_ns)
{
	return (struct field){
		.name = "per_second", .kind = duration_ns ? FIELD_REAL : FIELD_NONE, .decimals = 1, .role = ROLE_MEAN,
		.real = duration_ns ? (double)runs * NSEC_PER_SEC / duration_ns : 0, .of = "runs", .per = "seconds",
		.no_metric = true,
	};
}

/* The columns that a narrow terminal has room for. */
static int add_cost(struct report_row *row, const struct figures *f, const struct report *r, enum bpftop_by by)
{
	const struct field fields[] = {
		{ .name = "programs", .number = f->programs, .role = ROLE_GAUGE, .machine = by == BY_PROGRAM },
		{ .name = "runs", .number = f->runs, .role = ROLE_COUNTER },
		{ .name = "time", .number = f->ns, .kind = FIELD_DURATION, .role = ROLE_COUNTER },
		share_of("cpu_percent", f->ns, r->duration_ns, ROLE_PERCENT),
		{ .name = "avg", .number = f->runs ? f->ns / f->runs : 0, .kind = f->runs ? FIELD_DURATION : FIELD_NONE,
		  .role = ROLE_MEAN, .of = "time", .per = "runs" },
	};

	return report_row__add_fields(row, fields, ARRAY_SIZE(fields));
}

static int add_more(struct report_row *row, const struct figures *f, const struct report *r)
{
	struct field fields[] = {
		share_of("machine_percent", f->ns, r->duration_ns * r->cpus, ROLE_GAUGE),
		per_second(f->runs, r->duration_ns),
		{ .name = "memory", .number = f->memory, .kind = FIELD_SIZE, .role = ROLE_GAUGE },
		{ .name = "maps", .number = f->maps, .kind = FIELD_SIZE, .role = ROLE_GAUGE },
		{ .name = "misses", .number = f->misses, .kind = f->has_misses ? FIELD_NUMBER : FIELD_NONE,
		  .role = ROLE_COUNTER },
		{ .name = "seconds", .kind = FIELD_REAL, .real = r->duration_ns / 1e9, .decimals = 9,
		  .role = ROLE_COUNTER, .machine = true, .no_metric = true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i].spare = true;
	return report_row__add_fields(row, fields, ARRAY_SIZE(fields));
}

/* The columns that only a single program has. */
static int add_rest(struct report_row *row, const struct bpf_program_seen *p)
{
	static const char *const states[] = { NULL, "new", "ended", "new, ended" };
	u64 now_ns = clock_ns(CLOCK_BOOTTIME), age_ns = now_ns > p->loaded_ns ? now_ns - p->loaded_ns : 0;
	static const struct field state = { .name = "state", .role = ROLE_REMARK, .spare = true };
	const struct field fields[] = {
		{ .name = "age", .number = age_ns, .kind = FIELD_DURATION, .role = ROLE_GAUGE, .spare = true },
		{ .name = "uid", .number = p->uid, .kind = FIELD_ID, .role = ROLE_LABEL, .spare = true },
		{ .name = "attachments", .number = p->attachments, .role = ROLE_GAUGE, .machine = true },
		{ .name = "owners", .number = p->owner.n, .role = ROLE_GAUGE, .machine = true },
	};
	int err = report_row__add_fields(row, fields, ARRAY_SIZE(fields));

	return err ?: report_row__add_text_as(row, &state, states[p->is_new + 2 * p->ended]);
}

static int add_row(struct report *r, const struct figures *f, enum bpftop_by by)
{
	struct report_row row = {};
	int err = add_key(&row, by, f->first);

	if (!err)
		err = add_cost(&row, f, r, by);
	if (!err && by == BY_PROGRAM)
		err = add_attached(&row, f->first);
	if (!err)
		err = add_more(&row, f, r);
	if (!err && by == BY_PROGRAM)
		err = add_rest(&row, f->first);
	return report__end_row(r, &row, err);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* The counters of a program that was loaded in the interval started at 0. */
static void add_up(struct figures *f, struct bpf_programs *all, const struct bpf_program_seen *p, size_t number,
		   double scale)
{
	struct bpf_map_seen *map;
	u32 i;

	f->first = f->first ?: p;
	f->programs++;
	f->runs += scale * (p->now.runs - p->before.runs) + 0.5;
	f->ns += scale * (p->now.ns - p->before.ns) + 0.5;
	f->misses += scale * (p->now.misses - p->before.misses) + 0.5;
	f->has_misses |= p->has_misses;
	f->memory += p->memory;
	for (i = 0; i < p->nmaps; i++) {
		map = bpf_programs__find_map(all, p->map[i]);
		if (map && map->counted != number)
			f->maps += map->bytes;
		if (map)
			map->counted = number;
	}
}

static bool is_of_one_row(enum bpftop_by by, const struct bpf_program_seen *a, const struct bpf_program_seen *b)
{
	if (by == BY_TYPE)
		return a->type == b->type;
	if (by == BY_OWNER)
		return a->owner.name && b->owner.name ? !strcmp(a->owner.name, b->owner.name) :
							a->owner.name == b->owner.name;
	return a == b;
}

#define NO_ROW SIZE_MAX

/* The index of the program's row, or n if there is none yet. */
static size_t row_of(enum bpftop_by by, const struct figures *rows, size_t n, const struct bpf_program_seen *p)
{
	size_t i = by == BY_PROGRAM ? n : 0;

	while (i < n && !is_of_one_row(by, rows[i].first, p))
		i++;
	return i;
}

/* Includes programs of another measurement in the same run. */
static bool is_ours(const struct bpf_program_seen *p)
{
	return p->owner.hold == HELD_BY_PROCESS && p->owner.pid == (u32)getpid();
}

/* Maps shared by programs of one row count once, so rows are filled one after the other. */
static void fill_figures(struct bpftop *t, struct figures *rows, const size_t *row, size_t n, double scale)
{
	struct bpf_programs *all = &t->programs;
	size_t i, k;

	for (k = 0; k < n; k++)
		for (i = 0; i < all->n; i++)
			if (row[i] == k)
				add_up(&rows[k], all, &all->program[i], k + 1, scale);
}

static int fill_rows(struct bpftop *t, struct report *r)
{
	struct bpf_programs *all = &t->programs;
	struct figures *rows = calloc(all->n ?: 1, sizeof(*rows));
	size_t *row = calloc(all->n ?: 1, sizeof(*row)), n = 0, i;
	int err = rows && row ? 0 : -ENOMEM;

	for (i = 0; i < all->n && !err; i++) {
		row[i] = NO_ROW;
		if (t->others && is_ours(&all->program[i]))
			continue;
		row[i] = row_of(t->by, rows, n, &all->program[i]);
		rows[row[i]].first = rows[row[i]].first ?: &all->program[i];
		n += row[i] == n;
	}
	if (!err)
		fill_figures(t, rows, row, n, r->measured_ns ? (double)r->duration_ns / r->measured_ns : 1);
	for (i = 0; i < n && !err; i++) {
		r->events += rows[i].runs;
		err = add_row(r, &rows[i], t->by);
	}
	free(rows);
	free(row);
	return err;
}

static int add_heading(struct bpftop *t, struct report *r)
{
	static const struct bpf_program_seen nobody = {};
	const struct figures none = { .first = &nobody };

	return r->nrows ? 0 : report__keep_columns(r, add_row(r, &none, t->by));
}

static void say_what_was_missed(struct bpftop *t, struct report *r)
{
	if (!t->programs.unseen)
		return;
	snprintf(t->caveat, sizeof(t->caveat),
		 "at least %llu programs were loaded and unloaded between two samples, at least %llu ms apart",
		 t->programs.unseen, (u64)LOOK_NS / NSEC_PER_MSEC);
	r->caveat = t->caveat;
}

/*
 * --- statistics --------------------------------------------------------------------------------
 */

/*
 * Statistics are enabled while a descriptor is open, and therefore end with this process. Returns the descriptor or a
 * negative errno.
 */
static int enable_statistics(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

static void end_statistics(struct bpftop *t)
{
	if (t->stats_fd >= 0)
		close(t->stats_fd);
	t->stats_fd = -1;
}

static int set_timer(struct bpftop *t, u64 ns)
{
	const struct itimerspec next = { .it_value = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC } };

	return timerfd_settime(t->timer_fd, 0, &next, NULL) ? -errno : 0;
}

/* The caller has just read the counters of the programs. */
static int begin_statistics(struct bpftop *t)
{
	t->stats_fd = enable_statistics();
	if (t->stats_fd < 0)
		return t->stats_fd;
	t->began_ns = monotonic_ns();
	t->measured_ns = 0;
	return set_timer(t, t->slices ? t->slice_ns : LOOK_NS);
}

/* After this, tally does not read the counters, even if another process keeps them running. */
static int end_slice(struct bpftop *t)
{
	int err;

	if (!t->slices || t->measured_ns)
		return 0;
	end_statistics(t);
	err = bpf_programs__look(&t->programs);
	t->measured_ns = monotonic_ns() - t->began_ns;
	t->programs.frozen = true;
	return err;
}

static int begin_interval(struct bpftop *t)
{
	int err;

	if (!t->slices || t->ended) {
		bpf_programs__next(&t->programs);
		return 0;
	}
	t->programs.frozen = false;
	err = bpf_programs__look(&t->programs);
	bpf_programs__next(&t->programs);
	return err ?: begin_statistics(t);
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static int report(struct measurement *m, struct report *r)
{
	struct bpftop *t = m->own;
	int err = t->ended ? 0 : end_slice(t) ?: bpf_programs__look(&t->programs);

	if (t->slices && t->measured_ns < r->duration_ns)
		r->measured_ns = t->measured_ns;
	r->value = "runs of BPF programs";
	r->table = true;
	r->has_events = true;
	r->nothing = "no BPF program ran";
	if (!err)
		err = bpf_programs__search(&t->programs, true);
	say_what_was_missed(t, r);
	if (!err)
		err = fill_rows(t, r) ?: add_heading(t, r);
	report__sort_rows(r, m->cli->order, t->by == BY_PROGRAM ? 3 : 1, table_rows(m->cli));
	return err ?: begin_interval(t);
}

/*
 * --- the hooks: nothing stays loaded -----------------------------------------------------------
 */

/*
 * Once a program is seen, its place and its owner are searched for immediately, because it may no longer exist at the
 * end.
 */
static int look(struct measurement *m)
{
	struct bpftop *t = m->own;
	u64 expired, began_ns, took_ns;
	int err;

	if (t->ended || read(t->timer_fd, &expired, sizeof(expired)) < 0)
		return 0;
	began_ns = monotonic_ns();
	err = t->slices ? end_slice(t) : bpf_programs__look(&t->programs);
	if (!err && t->programs.news)
		err = bpf_programs__search(&t->programs, false);
	took_ns = LOOK_SHARE * (monotonic_ns() - began_ns);
	if (err || t->slices)
		return err;
	return set_timer(t, took_ns > LOOK_NS ? took_ns : LOOK_NS);
}

static int load(struct measurement *m)
{
	struct bpftop *t = m->own;
	int fd;

	if (m->cli->explain)
		return 0;
	fd = enable_statistics();
	if (fd < 0) {
		diag_error("the kernel's BPF statistics cannot be turned on: %s", strerror(-fd));
		diag_hint("they need CAP_SYS_ADMIN and kernel 5.8");
		return -EOPNOTSUPP;     /* `tally run` continues without this measurement */
	}
	close(fd);
	t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->timer_fd < 0)
		return -errno;
	m->watch = look;
	m->watch_fd = t->timer_fd;
	return 0;
}

static int arm(struct measurement *m)
{
	u64 interval_ns = m->cli->interval_ns ?: m->cli->duration_ns ?: SLICE_MOST_NS * SLICE_SHARE;
	struct bpftop *t = m->own;

	t->slice_ns = interval_ns / SLICE_SHARE < SLICE_MOST_NS ? interval_ns / SLICE_SHARE + 1 : SLICE_MOST_NS;
	return bpf_programs__begin(&t->programs) ?: begin_statistics(t);
}

/* In `tally run`, reports follow one another, but all measurements end at the same time. */
static void disarm(struct measurement *m)
{
	struct bpftop *t = m->own;

	if (end_slice(t))
		return;
	end_statistics(t);
	t->ended = !bpf_programs__look(&t->programs);
}

static void init(void *own)
{
	struct bpftop *t = own;

	t->stats_fd = t->timer_fd = -1;
}

static void release(void *own)
{
	struct bpftop *t = own;

	end_statistics(t);
	if (t->timer_fd >= 0)
		close(t->timer_fd);
	bpf_programs__free(&t->programs);
}

static const char *const by_words[] = { [BY_PROGRAM] = "program", [BY_OWNER] = "owner", [BY_TYPE] = "type" };

static const struct option_row rows[] = {
	{ "by", 0, "KEY", ROW_WORD, "One row per program (the default), owner or type", HELP_GROUPING,
	  FIELD(struct bpftop, by), WORDS(by_words) },
	{ "others", 0, NULL, ROW_FLAG, "Leave out the programs of this process, for runs of several tools",
	  HELP_GROUPING,
	  FIELD(struct bpftop, others) },
	{ "slices", 0, NULL, ROW_FLAG, "Count for a tenth of each interval, at most 1 s, and estimate", HELP_TIME,
	  FIELD(struct bpftop, slices) },
	{},
};

static const struct tool_spec spec = {
	.name = "bpftop",
	.cli = {
		.groups = CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND | CLI_ORDER,
		.doc = "The BPF programs of this host: their cost in time and memory, their attachments, and their "
		       "owners.",
		.rows = rows, .columns = columns, .order = "time",
	},
	.own_size = sizeof(struct bpftop),
	.metric = "run",
	.source = "the kernel's statistics of BPF programs, before and after; while enabled, they cost two clock "
		  "readings per run of a program",
	.init = init, .load = load, .arm = arm, .disarm = disarm, .report = report,
	.free = release,
};

TOOL_MEASURING(bpftop, spec, AREA_MACHINE, "what the BPF programs of this host cost, and who owns them");
