// SPDX-License-Identifier: BSD-2-Clause
/* why: where all time of threads goes. The measurement is bpf/calls/why.bpf.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/clock.h"
#include "calls/syscall/calls.h"
#include "calls/syscall/text.h"
#include "cli/key_view.h"
#include "cli/order.h"
#include "host/features.h"
#include "host/task_state.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/explain.h"
#include "run/load.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "calls/why/cause.h"
#include "calls/why/critical.h"
#include "calls/why/objects.h"
#include "calls/why/servers.h"
#include "calls/why/slow.h"
#include "tools.h"
#include "types/kernel_btf.h"

#include "why.skel.h"

SKELETON(why);

#define SOURCE \
	"tp_btf/sched_switch, sched_wakeup and sched_wakeup_new, by CLOCK_MONOTONIC; user and system: the kernel's " \
	"utime and stime"

#define SOURCE_BEFORE_6_18 SOURCE "; throttled: fentry/tg_throttle_down, tg_unthrottle_up"

#define WITHOUT_LOCKS \
	"this kernel (before 5.19) does not report waits for its locks: they count as uninterruptible or other"

struct why {
	struct critical critical;
	struct why_spans spans;
	struct slow slow;
	struct why_bpf *bpf;
	struct call_signatures signatures;
	u64 busy_ns;            /* time of all rows of the report that are not idle */
	struct hist_set waits;  /* histograms of the report, by struct wait */
	struct sum_set behind;  /* struct behind of the report, sorted by row; phases are causes */
	struct sum_set behind_before;
	struct why_objects objects;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct why_sums, member)

/*
 * A trait of the table, set without intervals. In an interval, some of the time belongs to phases that an earlier
 * interval counted.
 */
#define ONE_REPORT 1

static const struct column columns[] = {
	COUNTER("time", OF(ns), FIELD_TIME),
	COUNTER("count", OF(count), FIELD_NUMBER),
	MEAN("avg", "time", "count", FIELD_DURATION, .when = ONE_REPORT, .spare = true,
	     .help = "without intervals"),
	PERCENTILE("p50", 5000, FIELD_DURATION, .machine = true),
	PERCENTILE("p99", 9900, FIELD_DURATION),
	MAXIMUM("max", struct why_sums, longest, FIELD_DURATION, .spare = true),
	{},
};

/* key: after name_causes(). */
static enum why_state state_of(const struct why_key *key)
{
	return key->whole ? STATE_IDLE : why_causes[key->phase].state;
}

/* The key of a histogram after name_wait(). */
struct wait {
	u32 call;
	__u16 cause, kind;
	struct task_key task;
};

_Static_assert(sizeof(struct wait) == sizeof(struct why_wait_key) - sizeof(struct hist_slot), "not its end");

/* Returns NULL for waits that lasted through the whole run, because they have not ended. */
static const struct histogram *ended_waits(const struct why *w, const struct why_key *key)
{
	const struct wait wait = { .task = key->task, .call = key->slot, .cause = key->phase, .kind = key->kind };

	return key->whole ? NULL : hist_set__find(&w->waits, &wait);
}

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct why_element *e = element;
	char call[CALL_NAME_SPACE];
	int err = task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);

	if (!err)
		err = report_row__add_text(row, "state", why_state_names[state_of(&e->key)]);
	if (!err)
		err = report_row__add_text(row, "cause", why_causes[e->key.phase].name);
	if (!err)
		err = report_row__add_text(row, "call", why_call_name(call, &e->key));
	if (!err)
		err = report_row__add_text(row, "kind", why_kind_name(e->key.kind));
	row->later = state_of(&e->key) == STATE_IDLE;
	t->source.hist = ended_waits(t->own, &e->key);
	return err;
}

/* An element of w->behind. */
struct behind {
	struct why_behind_key key;
	u64 ns;
};

static const struct sum_layout behind_layout = {
	.key_size = sizeof(struct why_behind_key), .value_size = sizeof(u64),
	.writer_at = offsetof(struct why_behind_key, writer), .nsums = 1,
};

#define MOST_BEHIND 3
#define BEHIND_SPACE (MOST_BEHIND * (TASK_KEY_COMM_LEN + 16))

/* Sorts by row, and in each row by descending time. */
static int compare_behind(const void *a, const void *b)
{
	const struct behind *x = a, *y = b;
	int d = memcmp(&x->key.task, &y->key.task, sizeof(x->key.task));

	if (x->key.phase != y->key.phase)
		return x->key.phase < y->key.phase ? -1 : 1;
	if (d || x->ns == y->ns)
		return d;
	return x->ns > y->ns ? -1 : 1;
}

/* Returns the index of the first element of a row. If the row has none, behind_at() returns NULL for this index. */
static size_t first_behind(const struct why *w, const struct why_key *key)
{
	const struct behind wanted = { .key = { .phase = key->phase, .task = key->task }, .ns = UINT64_MAX };
	size_t low = 0, high = w->behind.n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_behind(sum_set__at(&w->behind, middle), &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns NULL if element i does not belong to the row. */
static const struct behind *behind_at(const struct why *w, size_t i, const struct why_key *key)
{
	const struct behind *b = i < w->behind.n ? sum_set__at(&w->behind, i) : NULL;
	bool belongs = b && b->key.phase == key->phase && !memcmp(&b->key.task, &key->task, sizeof(key->task));

	return belongs ? b : NULL;
}

/*
 * The processes that had the CPU while these threads waited for it: "gcc 61.2 %, tally 3.1 %". Leaves out shares that
 * would be shown as 0.0 %. Returns NULL if no process is known.
 */
static const char *behind_whom(char text[BEHIND_SPACE], const struct why *w, const struct why_element *e)
{
	size_t first = first_behind(w, &e->key), i, n = 0;
	u64 charged = 0, whole;
	const struct behind *b;

	for (i = first; (b = behind_at(w, i, &e->key)); i++)
		charged += b->ns;
	/* A wait is charged as a whole when it ends, although some of its time may belong to earlier intervals. */
	whole = e->sums.ns > charged ? e->sums.ns : charged;
	for (i = 0; i < MOST_BEHIND && (b = behind_at(w, first + i, &e->key)) && b->ns > whole / 2000; i++)
		n += snprintf(text + n, BEHIND_SPACE - n, "%s%.*s %.1f %%", i ? ", " : "", TASK_KEY_COMM_LEN,
			      b->key.comm, 100.0 * b->ns / whole);
	return n ? text : NULL;
}

/*
 * Adds the share of the time in which threads had something to do, the processes that had the CPU, the objects waited
 * for, and the command that shows more.
 */
static int add_more(struct sum_table_report *t, struct report_row *row, const void *element)
{
	static const struct field behind = { .name = "behind", .kind = FIELD_NONE, .role = ROLE_REMARK, .spare = true };
	const struct why_element *e = element;
	const struct why *w = t->own;
	bool idle = state_of(&e->key) == STATE_IDLE;
	const struct field cells[] = {
		{ .name = "busy", .number = w->busy_ns, .kind = idle ? FIELD_NONE : FIELD_TIME, .role = ROLE_COUNTER,
		  .machine = true, .no_metric = true },
		{ .name = "share_percent", .kind = idle ? FIELD_NONE : FIELD_REAL, .decimals = 1,
		  .role = ROLE_PERCENT, .of = "time", .per = "busy",
		  .real = w->busy_ns ? 100.0 * e->sums.ns / w->busy_ns : 0 },
	};
	int err = report_row__add_fields(row, cells, ARRAY_SIZE(cells));
	char text[BEHIND_SPACE];

	if (!err)
		err = report_row__add_text_as(row, &behind, behind_whom(text, w, e));
	if (!err)
		err = why_objects__add(&w->objects, row, &e->key, e->sums.ns);
	return err ?: why_add_next(row, idle ? NULL : why_causes[e->key.phase].next);
}

/*
 * Divides the time on a CPU by mode, in proportion to the kernel's ticks. Without a tick, it remains undivided. Both
 * rows show the number of the same slices. Returns the number of rows.
 */
static size_t divide(struct why_element to[2], const struct why_element *e)
{
	u64 ticks = e->sums.user + e->sums.system, user;

	to[0] = to[1] = *e;
	to[0].sums.phases = e->sums.count;
	if (e->key.phase != WHY_ON_CPU || !ticks)
		return 1;
	user = (u64)((unsigned __int128)e->sums.ns * e->sums.user / ticks);
	to[0].key.phase = user ? WHY_USER : WHY_SYSTEM;
	to[0].sums.ns = user ?: e->sums.ns;
	to[1].key.phase = WHY_SYSTEM;
	to[1].sums.ns = e->sums.ns - user;
	return user && user < e->sums.ns ? 2 : 1;
}

static int name_causes(void *own, struct sum_set *set)
{
	struct why_element *all = calloc(2 * set->n + 1, sizeof(*all));
	struct sum_set named = { .layout = set->layout };
	struct why *w = own;
	size_t i, n = 0;
	int err;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < set->n; i++)
		n += divide(&all[n], sum_set__at(set, i));
	w->busy_ns = 0;
	for (i = 0; i < n; i++) {
		why_name_cause(&all[i].key);
		if (state_of(&all[i].key) != STATE_IDLE)
			w->busy_ns += all[i].sums.ns;
	}
	err = sum_set__insert(&named, all, n);
	free(all);
	if (err)
		return err;
	sum_set__free(set);
	*set = named;
	return 0;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct why_key), .value_size = sizeof(struct why_sums),
		.writer_at = offsetof(struct why_key, writer),
		.nsums = offsetof(struct why_sums, longest) / sizeof(u64), .nmaxima = 1, .named = true,
		.measured = OF(ns),
	},
	.task_at = offsetof(struct why_key, task), .of_cpus = true, .events = OF(phases),
	.add_key = add_key, .add_more = add_more, .adjust = name_causes,
};

static void name_wait(void *unused, void *key)
{
	struct wait *wait = key;

	(void)unused;
	wait->cause = why_cause_of(&(struct why_key){ .slot = wait->call, .phase = wait->cause, .kind = wait->kind });
}

/* Ignores the losses of histograms, which the table's losses include. */
static int read_waits(struct measurement *m)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct key_view view = { m->cli->by, &names, offsetof(struct wait, task) };
	struct loss_counters unused;
	struct why *w = m->own;
	int err;

	hist_set__free(&w->waits);
	err = measure__difference(&m->measure, &w->waits, &unused);
	if (!err)
		err = hist_set__regroup(&w->waits, name_wait, NULL);
	if (!err)
		err = key_view__hist_set(&view, &w->waits);
	task_key_names__free(&names);
	return err;
}

static void name_behind(void *unused, void *key)
{
	struct why_behind_key *behind = key;

	(void)unused;
	behind->phase = why_cause_of(&(struct why_key){ .slot = WHY_ANYWHERE, .phase = behind->phase });
}

static int read_behind(struct measurement *m)
{
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct key_view view = { m->cli->by, &names, offsetof(struct why_behind_key, task) };
	struct why *w = m->own;
	int err;

	sum_set__free(&w->behind);
	err = sum_set__since(&w->behind, &w->behind_before, &(struct sum_source){
		.layout = &behind_layout, .map_fd = bpf_map__fd(w->bpf->maps.behind),
		.generation = elements__generation(m->obj),
	});
	if (!err) {
		sum_set__regroup(&w->behind, name_behind, NULL);
		key_view__sum_set(&view, &w->behind);
		err = names.err;
	}
	if (!err && w->behind.n)
		qsort(w->behind.element, w->behind.n, sizeof(struct behind), compare_behind);
	task_key_names__free(&names);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct why *w = m->own;
	int err = 0;

	if (w->critical.wanted)
		return critical__report(&w->critical, m, r);
	if (why_spans__are_wanted(&w->spans))
		return slow__report(&w->slow, m, r);
	/* A program that was running at the end of the run may still write. */
	if (w->bpf->bss->ended_ns)
		err = elements__await_programs();
	if (kernel_btf_arguments("btf_trace_contention_begin") <= 0)
		r->caveat = WITHOUT_LOCKS;
	err = err ?: read_waits(m);
	err = err ?: read_behind(m);
	err = err ?: why_objects__read(&w->objects, m);
	return err ?: sum_table__report(m, NULL, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Room for throttled cgroups with a quota. The more CPUs there are, the more of them may be throttled at a time. */
#define THROTTLINGS 16384

/*
 * Since 6.18, the kernel throttles single threads when they return to user space. Their switches show this, and the
 * functions are called for queues whose threads continue to run.
 */
static int watch_throttling(struct measurement *m)
{
	struct why_bpf *bpf = m->bpf;
	bool can = !kernel_btf_has_function("throttle_cfs_rq_work") && kernel_btf_has_function("tg_throttle_down") &&
		   kernel_btf_has_function("tg_unthrottle_up") && feature__probe("fentry") == FEATURE_OK;

	bpf->rodata->sees_throttling = can;
	bpf_program__set_autoload(bpf->progs.on_throttle, can);
	bpf_program__set_autoload(bpf->progs.on_unthrottle, can);
	if (!can)
		return 0;
	m->source = SOURCE_BEFORE_6_18;
	return bpf_map__set_max_entries(bpf->maps.throttlings, THROTTLINGS);
}

static int prepare_maps(struct measurement *m)
{
	size_t sums = offsetof(struct why_key, task) + task_key__size(m->cli->by);
	size_t waits = offsetof(struct why_wait_key, task) + task_key__size(m->cli->by);
	size_t behind = offsetof(struct why_behind_key, task) + task_key__size(m->cli->by);
	struct why_bpf *bpf = m->bpf;
	int err = bpf_map__set_key_size(bpf->maps.sums, sums);

	if (!err)
		err = bpf_map__set_key_size(bpf->maps.keyed_waits, waits);
	if (!err)
		err = bpf_map__set_key_size(bpf->maps.behind, behind);
	if (!err)
		err = map__set_room_for_writers(bpf->maps.behind, &m->run->host, m->cli->max_keys);
	if (!err)
		err = why_objects__prepare(bpf->maps.objects, m);
	if (!err)
		err = sum_table__prepare(m);
	return err ?: measure__prepare_keyed(&m->measure, m, m->obj, "waits", waits);
}

static int open_skeleton(struct measurement *m)
{
	bool locks = kernel_btf_arguments("btf_trace_contention_begin") > 0;
	struct why *w = m->own;
	int err;

	w->bpf = m->bpf;
	w->bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	w->bpf->rodata->tell_whole = !m->cli->interval_ns;
	m->table.traits = m->cli->interval_ns ? 0 : ONE_REPORT;
	why_describe_calls((u8 *)w->bpf->rodata->descriptor, &w->signatures);
	why_mark_futexes((u8 *)w->bpf->rodata->futexes);
	w->bpf->rodata->server_codes = why_find_servers((struct why_code *)w->bpf->rodata->server_code);
	w->bpf->rodata->file_depth = FILE_DEPTH_SHORT;
	err = watch_throttling(m);
	if (err)
		return err;
	bpf_program__set_autoload(w->bpf->progs.on_lock, locks);
	bpf_program__set_autoload(w->bpf->progs.on_locked, locks);
	err = prepare_maps(m);
	return err ?: task_state__prepare(m->obj, "why_states", &m->run->host);
}

static int open_report(struct measurement *m)
{
	struct why *w = m->own;

	if (w->critical.wanted)
		return critical__open(&w->critical, m, &w->signatures);
	if (why_spans__are_wanted(&w->spans))
		return slow__open(&w->slow, m, &w->signatures);
	return open_skeleton(m);
}

/* Replaces the hook open(), because the skeleton depends on the options. */
static int load(struct measurement *m)
{
	struct why *w = m->own;
	int err;

	if (w->critical.wanted)
		m->skeleton_type = &whypath_skeleton;
	else if (why_spans__are_wanted(&w->spans))
		m->skeleton_type = &whyspan_skeleton;
	err = measurement__open(m);
	if (!err)
		err = open_report(m);
	if (!err && !m->cli->explain)
		err = skeleton__load(m->skeleton);
	return err && !m->has_said ? measurement__complain(m, "load", err) : err;
}

static int explain(struct measurement *m)
{
	struct why *w = m->own;

	if (why_spans__are_wanted(&w->spans))
		return why_spans__explain(&w->spans, m);
	return measurement__explain(m, m->obj, m->source);
}

static int watch(struct measurement *m)
{
	struct why *w = m->own;

	return critical__watch(&w->critical);
}

static int attach(struct measurement *m)
{
	struct why *w = m->own;
	int err;

	if (w->critical.wanted) {
		m->watch = watch;
		return critical__attach(&w->critical, m);
	}
	if (why_spans__are_wanted(&w->spans))
		return slow__attach(&w->slow, m);
	err = measure__begin(&m->measure, m, "waits") ?: measurement__attach_programs(m);
	if (err)
		return err;
	m->table.running = bpf_program__attach_iter(w->bpf->progs.show_why, NULL);
	if (!m->table.running)
		return -errno;
	return why_objects__attach(&w->objects, w->bpf->maps.objects, w->bpf->progs.show_why_objects);
}

/* No sums change after this time: each phase is either in the sums or still in progress. */
static void disarm(struct measurement *m)
{
	struct why *w = m->own;

	if (w->critical.wanted)
		critical__disarm(&w->critical);
	else if (why_spans__are_wanted(&w->spans))
		slow__disarm(&w->slow);
	else if (!w->bpf->bss->ended_ns)
		w->bpf->bss->ended_ns = monotonic_ns();
}

static int check(void *context, struct cli *cli)
{
	struct why *w = context;
	int err;

	if (cli->scope.cpus || cli->by & BY_CPU) {
		diag_error("-C and --by cpu are not supported: threads off CPU have no CPU");
		return -EINVAL;
	}
	w->critical.spans = w->slow.spans = &w->spans;
	err = critical__check(&w->critical, cli);
	return err ?: why_spans__check(&w->spans, cli);
}

static void init(void *own)
{
	struct why *w = own;

	w->signatures.tracefs = -1;
}

static void release(void *own)
{
	struct why *w = own;

	critical__free(&w->critical);
	why_spans__free(&w->spans);
	call_signatures__free(&w->signatures);
	hist_set__free(&w->waits);
	sum_set__free(&w->behind);
	sum_set__free(&w->behind_before);
	why_objects__free(&w->objects);
}

static const struct option_row rows[] = {
	HEADING("Critical path:", 1),
	{ "critical-path", 0, NULL, ROW_FLAG,
	  "Instead: the chain of threads that determined the elapsed time of a command, a -p or a -t; with --slow, "
	  "of slow calls", 1,
	  FIELD(struct why, critical.wanted) },
	{ "each", 0, NULL, ROW_FLAG, "With --critical-path: its links in chronological order", 1,
	  FIELD(struct why, critical.each) },
	INCLUDE(struct why, spans, why_spans_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "why",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND |
			  CLI_ORDER,
		.doc = "Where all the time of threads goes: on a CPU, waiting for a CPU, blocked and by what, or "
		       "idle. Each nanosecond has one cause; unknown time has a row of its own.",
		.rows = rows,
		.keys = "pid, tid, comm, cgroup, container, unit, pidns, uid", .columns = columns, .order = "time",
	},
	.own_size = sizeof(struct why), .skeleton = &why_skeleton, .table = &table,
	.value = "time of threads", .metric = "phase", .source = SOURCE,
	.init = init, .check = check, .load = load, .explain = explain, .attach = attach, .disarm = disarm,
	.report = report,
	.free = release,
};

TOOL_MEASURING(why, spec, AREA_SCHEDULER, "where all the time of threads goes, by cause");
