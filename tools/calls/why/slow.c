// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/slow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/sum_set.h"
#include "base/clock.h"
#include "calls/syscall/calls.h"
#include "calls/why/cause.h"
#include "calls/why/objects.h"
#include "calls/why/slow_rows.h"
#include "cli/option_row.h"
#include "event/user_binary.h"
#include "host/task_state.h"
#include "probe/calls.h"
#include "report/diag.h"
#include "report/units.h"
#include "run/explain.h"
#include "run/load.h"
#include "run/map_room.h"
#include "types/kernel_btf.h"

#include "bpf/calls/whyspan.h"
#include "bpf/lib/call_site.h"
#include "whyspan.skel.h"

SHARED_SKELETON(whyspan);

const struct option_row slow_option_rows[] = {
	HEADING("Slow calls:", 2),
	{ "slow", 0, "FUNCTION", ROW_TEXT,
	  "Instead: where slow calls of a function take more time than the others; a list or glob, too", 2,
	  FIELD(struct slow, function) },
	{ "from", 0, "EVENT", ROW_TEXT, "The same for the time of a thread from this event", 2,
	  FIELD(struct slow, from) },
	{ "to", 0, "EVENT", ROW_TEXT, "to this one: USDT probes, functions, tracepoints, or system calls", 2,
	  FIELD(struct slow, to) },
	{ "above", 0, "TIME", ROW_TIME, "Slow calls take that long (default: the slowest tenth)", 2,
	  FIELD(struct slow, above_ns), .least = 1 },
	{ "binary", 'x', "FILE", ROW_TEXT, "Functions and USDT probes of this program or library", 2,
	  FIELD(struct slow, binary) },
	{},
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Returns false after reporting how the options contradict each other. */
static bool check_events(const struct slow *s)
{
	if (!s->from != !s->to)
		diag_error("--from and --to go together");
	else if (s->from && s->function)
		diag_error("--slow measures functions, --from and --to any two events: give one of them");
	else
		return true;
	return false;
}

static bool check_report(const struct cli *cli)
{
	if (cli->interval_ns || cli->on_demand || cli->live)
		diag_error("slow calls are those of the whole run: there are no intervals, --live or --listen");
	else if (cli->by)
		diag_error("slow calls have a row for each cause: no --by goes with them");
	else if (cli->order && strcmp(cli->order, "time"))
		diag_error("slow calls are sorted by the share of the difference, or by key");
	else
		return true;
	return false;
}

int slow__check(struct slow *s, struct cli *cli)
{
	struct probe_request *r = &s->request;

	if (!check_events(s))
		return -EINVAL;
	if (!slow__is_wanted(s)) {
		if (!s->above_ns && !s->binary)
			return 0;
		diag_error("%s belongs to --slow FUNCTION, or to --from and --to: give one of them",
			   s->above_ns ? "--above" : "-x");
		return -EINVAL;
	}
	if (!check_report(cli))
		return -EINVAL;
	cli->scope.command_joins_at_exec = true;
	r->typed = &s->function;
	r->ntyped = s->function != NULL;
	r->latency = s->function != NULL;
	r->from = s->from;
	r->to = s->to;
	r->bare = true;
	r->what = PROBE_COUNT;
	r->is_scoped = cli__picks_tasks(cli);
	r->context = event_context__of(s->binary, cli->scope.pids, cli->scope.npids, cli->command);
	return 0;
}

/* Events that concern another thread than the one that runs them are refused. */
static int check_subjects(const struct probe_side *side)
{
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		if (!site->tracepoint_id ||
		    (!tracepoint_has_task(site->name) && strcmp(site->name, "sched:sched_switch")))
			continue;
		diag_error("%s is about another thread than the one that it runs in: no time begins or ends there",
			   site->name);
		return -EINVAL;
	}
	return 0;
}

static int check_plan(const struct slow *s)
{
	const struct probe_plan *p = &s->plan;

	if (s->from)
		return check_subjects(&p->side[PROBE_BEGIN]) ?: check_subjects(&p->side[PROBE_END]);
	if (p->definition[0].n) {
		diag_error("--slow '%s': a function has nothing behind its name here", s->function);
		return -EINVAL;
	}
	if (probe_plan__has_goroutines(p)) {
		diag_error("--slow follows a call in its thread, and a call of a Go function may go on in another one");
		diag_hint("`profile --wall` or `funcgraph` show where such calls spend their time");
		return -EOPNOTSUPP;
	}
	if (p->side[PROBE_BEGIN].sites.n <= CALL_FUNCTION)
		return 0;
	diag_error("%zu functions: more than %d cannot be told apart", p->side[PROBE_BEGIN].sites.n, CALL_FUNCTION);
	return -E2BIG;
}

/*
 * --- measuring ---------------------------------------------------------------------------------
 */

static void choose_programs(const struct slow *s, struct attach_programs of[PROBE_SIDES])
{
	const typeof(s->bpf->progs) *p = &s->bpf->progs;

	if (!s->from) {
		of[PROBE_BEGIN] = (struct attach_programs){ .probe = p->on_entry, .probes = p->on_entries };
		of[PROBE_END] = (struct attach_programs){ .probe = p->on_end, .probes = p->on_ends };
		return;
	}
	of[PROBE_BEGIN] = (struct attach_programs){
		.sys_enter = p->from_sys_enter,
		.sys_exit = p->from_sys_exit,
		.raw_tracepoint = p->from_raw,
		.tracepoint = p->from_tracepoint,
		.probe = p->from_probe,
		.probes = p->from_probes,
	};
	of[PROBE_END] = (struct attach_programs){
		.sys_enter = p->to_sys_enter,
		.sys_exit = p->to_sys_exit,
		.raw_tracepoint = p->to_raw,
		.tracepoint = p->to_tracepoint,
		.probe = p->to_probe,
		.probes = p->to_probes,
	};
}

static void mark_system_calls(struct slow *s, const struct probe_side *side, u8 flag)
{
	u8 *enter = (u8 *)s->bpf->rodata->enter_sides, *exit = (u8 *)s->bpf->rodata->exit_sides;
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		if (side->attachments.way[i] == ATTACH_SYSCALL && site->syscall < SYSCALL_NUMBERS)
			(site->syscall_exit ? exit : enter)[site->syscall] |= flag;
	}
}

static int make_plan(struct slow *s)
{
	struct attach_programs programs[PROBE_SIDES];
	int err = probe_plan__init(&s->plan, &s->request);

	if (!err)
		err = check_plan(s);
	choose_programs(s, programs);
	if (!err)
		err = probe_plan__choose(&s->plan, programs, true);
	if (err)
		return err;
	if (s->from) {
		mark_system_calls(s, &s->plan.side[PROBE_BEGIN], SPAN_BEGINS);
		mark_system_calls(s, &s->plan.side[PROBE_END], SPAN_ENDS);
	} else {
		probe_calls__number(&s->plan);
	}
	return 0;
}

/* The causes of all waits, so that a call counts once in each row. */
static void number_causes(struct whyspan_bpf *bpf)
{
	static const __u16 waits[SPAN_WAITS] = {
		[SPAN_SLEEP] = WHY_SLEEP, [SPAN_DISK] = WHY_DISK, [SPAN_LOCK] = WHY_LOCK
	};
	u8 *wait_cause = (u8 *)bpf->rodata->wait_cause, *phase_cause = (u8 *)bpf->rodata->phase_cause;
	struct why_key key = { .slot = WHY_ANYWHERE };
	size_t i;

	for (i = 0; i < WHY_PHASES; i++) {
		key.phase = i;
		phase_cause[i] = why_cause_of(&key);
	}
	for (i = 0; i < SPAN_WAITS * SPAN_SLOTS * WHY_KINDS; i++) {
		key.phase = waits[i / WHY_KINDS / SPAN_SLOTS];
		key.slot = i / WHY_KINDS % SPAN_SLOTS;
		key.kind = i % WHY_KINDS;
		wait_cause[i] = why_cause_of(&key);
	}
}

int slow__open(struct slow *s, struct measurement *m, struct call_signatures *signatures)
{
	bool locks = kernel_btf_arguments("btf_trace_contention_begin") > 0;
	struct whyspan_bpf *bpf = s->bpf = m->bpf;
	int err;

	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	bpf->rodata->above_ns = s->above_ns;
	bpf->rodata->between_events = s->from != NULL;
	why_describe_calls((u8 *)bpf->rodata->descriptor, signatures);
	number_causes(bpf);
	why_mark_futexes((u8 *)bpf->rodata->futexes);
	bpf->rodata->file_depth = FILE_DEPTH_SHORT;
	bpf_program__set_autoload(bpf->progs.on_throttle, false);
	bpf_program__set_autoload(bpf->progs.on_unthrottle, false);
	bpf_program__set_autoload(bpf->progs.on_lock, locks);
	bpf_program__set_autoload(bpf->progs.on_locked, locks);
	err = make_plan(s);
	m->has_said = err;
	if (!err)
		err = map__set_room_for_writers(bpf->maps.sums, &m->run->host, m->cli->max_keys);
	if (!err)
		err = why_objects__prepare(bpf->maps.objects, m);
	return err ?: task_state__prepare(m->obj, "span_states", &m->run->host);
}

int slow__attach(struct slow *s, struct measurement *m)
{
	int err = measurement__fill_scope(m, m->obj);

	if (!err)
		err = measurement__attach_programs(m);
	if (err)
		return err;
	err = probe_plan__attach(&s->plan);
	m->has_said = err;
	return err;
}

/* From here on no state changes. */
void slow__disarm(struct slow *s)
{
	if (!s->bpf->bss->ended_ns)
		s->bpf->bss->ended_ns = monotonic_ns();
}

int slow__explain(struct slow *s, struct measurement *m)
{
	return measurement__explain_with(m, m->obj,
					 s->from ? "begins and ends, and the switches between them" :
						   "calls of the functions named, and the switches in them",
					 explain__add_sites, &s->plan);
}

/*
 * --- the end -----------------------------------------------------------------------------------
 */

static const char *mean(char text[UNITS_SPACE], const struct span_side *side)
{
	return format_value(text, side->calls ? side->ns / side->calls : 0, UNIT_NS, false);
}

/* "12 of 345 calls are slow: 50 ms and more, 71.2 ms on average; the others take 3.1 ms" */
static size_t describe_sides(char *text, size_t size, const struct span_sides *sides, const char *what)
{
	const struct span_side *slow = &sides->slow, *rest = &sides->rest;
	char limit[UNITS_SPACE], slow_mean[UNITS_SPACE], rest_mean[UNITS_SPACE];
	size_t n;

	if (!slow->calls && !rest->calls)
		return 0;
	format_value(limit, sides->limit_ns, UNIT_NS, false);
	if (!slow->calls)
		return snprintf(text, size, "none of %llu %ss took %s: they take %s on average", rest->calls, what,
				limit, mean(rest_mean, rest));
	n = snprintf(text, size, "%llu of %llu %ss are slow: %s and more, %s on average", slow->calls,
		     slow->calls + rest->calls, what, limit, mean(slow_mean, slow));
	if (rest->calls)
		n += snprintf(text + n, size - n, "; the others take %s", mean(rest_mean, rest));
	return n;
}

/* Calls that do not end are told here: they may be the slowest of all. */
static void describe(struct slow *s, struct report *r, const struct span_sides *sides)
{
	const struct span_open open = s->bpf->bss->open_spans;
	const char *what = s->from ? "span" : "call";
	size_t size = sizeof(s->note), n = describe_sides(s->note, size, sides, what);
	char longest[UNITS_SPACE];

	if (open.calls)
		n += snprintf(s->note + n, size - n, "%s%llu %s%s had not ended, the longest after %s", n ? ". " : "",
			      open.calls, what, open.calls == 1 ? "" : "s",
			      format_value(longest, open.longest_ns, UNIT_NS, false));
	if (n)
		r->caveat = s->note;
}

static int read_sums(struct slow *s, struct measurement *m, struct sum_set *set, struct report *r)
{
	int err = elements__await_programs();

	if (!err)
		err = tasks__visit(s->bpf->progs.show_span);
	if (!err)
		err = sum_set__read(set, &span_layout, bpf_map__fd(s->bpf->maps.sums));
	return err ?: loss__since(&r->counters, &s->losses, bpf_map__fd(s->bpf->maps.losses), m->obj);
}

int slow__report(struct slow *s, struct measurement *m, struct report *r)
{
	struct why_objects objects = {};
	struct span_sides sides = {};
	struct sum_set set = {};
	int err;

	slow__disarm(s);
	err = read_sums(s, m, &set, r);
	if (!err)
		err = why_objects__read_names(&objects, s->bpf->maps.objects);
	if (err) {
		sum_set__free(&set);
		return err;
	}
	slow_rows__divide(&set, &sides, s->above_ns);
	probe_plan__describe(&s->plan, s->source, sizeof(s->source));
	r->source = s->source;
	r->value = s->from ? "slow spans beside the others" : "slow calls beside the others";
	r->metric = "call";
	r->table = true;
	r->has_events = true;
	r->events = sides.slow.calls + sides.rest.calls;
	r->counters.lost[LOSS_RECURSION] += probe_calls__misses(&s->plan);
	r->nothing = event_sites__nothing(&s->plan.side[PROBE_BEGIN].sites, r->counters.filtered, s->nothing,
					  sizeof(s->nothing));
	describe(s, r, &sides);
	err = slow_rows__add(&set, &sides, &objects, m->cli, r);
	why_objects__free(&objects);
	sum_set__free(&set);
	return err;
}

void slow__free(struct slow *s)
{
	probe_plan__free(&s->plan);
}
