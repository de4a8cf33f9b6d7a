// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/spans.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/option_row.h"
#include "event/user_binary.h"
#include "probe/calls.h"
#include "report/diag.h"
#include "report/units.h"
#include "run/explain.h"

#include "bpf/lib/call_site.h"

const struct option_row why_spans_option_rows[] = {
	HEADING("Slow calls:", 2),
	{ "slow", 0, "FUNCTION", ROW_TEXT,
	  "Instead: where slow calls of a function spend more time than other calls; also a list or glob", 2,
	  FIELD(struct why_spans, function) },
	{ "from", 0, "EVENT", ROW_TEXT, "The same for the time of a thread from this event", 2,
	  FIELD(struct why_spans, from) },
	{ "to", 0, "EVENT", ROW_TEXT, "to this event: USDT probes, functions, tracepoints, or system calls", 2,
	  FIELD(struct why_spans, to) },
	{ "above", 0, "TIME", ROW_TIME, "Calls at least this long are slow (default: the slowest tenth)", 2,
	  FIELD(struct why_spans, above_ns), .least = 1 },
	{ "binary", 'x', "FILE", ROW_TEXT, "Functions and USDT probes of this program or library", 2,
	  FIELD(struct why_spans, binary) },
	{},
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Returns false after reporting how the options contradict each other. */
static bool check_events(const struct why_spans *s)
{
	if (!s->from != !s->to)
		diag_error("--from and --to must be given together");
	else if (s->from && s->function)
		diag_error("--slow cannot be combined with --from and --to");
	else
		return true;
	return false;
}

static bool check_report(const struct cli *cli)
{
	if (cli->interval_ns || cli->on_demand || cli->live)
		diag_error("--slow and --from cannot be combined with intervals, --live or --listen");
	else if (cli->by)
		diag_error("--slow and --from cannot be combined with --by");
	else if (cli->order && strcmp(cli->order, "time"))
		diag_error("slow calls can only be sorted by their share of the difference or by key");
	else
		return true;
	return false;
}

int why_spans__check(struct why_spans *s, struct cli *cli)
{
	struct probe_request *r = &s->request;

	if (!check_events(s))
		return -EINVAL;
	if (!why_spans__are_wanted(s)) {
		if (!s->above_ns && !s->binary)
			return 0;
		diag_error("%s needs --slow FUNCTION, or --from and --to", s->above_ns ? "--above" : "-x");
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

/* Rejects events that concern another thread than the one that runs them. */
static int check_subjects(const struct probe_side *side)
{
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		if (!site->tracepoint_id ||
		    (!tracepoint_has_task(site->name) && strcmp(site->name, "sched:sched_switch")))
			continue;
		diag_error("%s concerns a thread other than the current one: no time can begin or end there",
			   site->name);
		return -EINVAL;
	}
	return 0;
}

static int check_plan(const struct why_spans *s)
{
	const struct probe_plan *p = &s->plan;

	if (s->from)
		return check_subjects(&p->side[PROBE_BEGIN]) ?: check_subjects(&p->side[PROBE_END]);
	if (p->definition[0].n) {
		diag_error("--slow '%s': expected only the name of a function", s->function);
		return -EINVAL;
	}
	if (probe_plan__has_goroutines(p)) {
		diag_error("--slow cannot follow calls of Go functions, which may continue in another thread");
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

/* Returns the program of a hook at one side: "from" and "sys_enter" are handled by "from_sys_enter". */
static struct bpf_program *program(const struct span_settings *to, const char *side, const char *hook)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", side, hook);
	return bpf_object__find_program_by_name(to->obj, name);
}

static struct attach_programs programs_at(const struct span_settings *to, const char *side)
{
	return (struct attach_programs){
		.sys_enter = program(to, side, "sys_enter"),
		.sys_exit = program(to, side, "sys_exit"),
		.raw_tracepoint = program(to, side, "raw"),
		.tracepoint = program(to, side, "tracepoint"),
		.probe = program(to, side, "probe"),
		.probes = program(to, side, "probes"),
	};
}

static void choose_programs(const struct why_spans *s, const struct span_settings *to,
			    struct attach_programs of[PROBE_SIDES])
{
	of[PROBE_BEGIN] = programs_at(to, s->from ? "from" : "entry");
	of[PROBE_END] = programs_at(to, s->from ? "to" : "return");
}

static void mark_system_calls(const struct probe_side *side, const struct span_settings *to, u8 flag)
{
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		if (side->attachments.way[i] == ATTACH_SYSCALL && site->syscall < SYSCALL_NUMBERS)
			(site->syscall_exit ? to->exit_sides : to->enter_sides)[site->syscall] |= flag;
	}
}

static int make_plan(struct why_spans *s, const struct span_settings *to)
{
	struct attach_programs programs[PROBE_SIDES];
	int err = probe_plan__init(&s->plan, &s->request);

	if (!err)
		err = check_plan(s);
	choose_programs(s, to, programs);
	if (!err)
		err = probe_plan__choose(&s->plan, programs, true);
	if (err)
		return err;
	if (s->from) {
		mark_system_calls(&s->plan.side[PROBE_BEGIN], to, SPAN_BEGINS);
		mark_system_calls(&s->plan.side[PROBE_END], to, SPAN_ENDS);
	} else {
		probe_calls__number(&s->plan);
	}
	return 0;
}

int why_spans__choose(struct why_spans *s, struct measurement *m, const struct span_settings *to)
{
	int err;

	*to->between_events = s->from != NULL;
	err = make_plan(s, to);
	m->has_said = err;
	return err;
}

int why_spans__attach(struct why_spans *s, struct measurement *m)
{
	int err = probe_plan__attach(&s->plan);

	m->has_said = err;
	return err;
}

int why_spans__explain(struct why_spans *s, struct measurement *m)
{
	return measurement__explain_with(m, m->obj,
					 s->from ? "start and end events, and the switches between them" :
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
		return snprintf(text, size, "none of %llu %ss took %s; the average is %s", rest->calls, what, limit,
				mean(rest_mean, rest));
	n = snprintf(text, size, "%llu of %llu %ss are slow: %s and more, %s on average", slow->calls,
		     slow->calls + rest->calls, what, limit, mean(slow_mean, slow));
	if (rest->calls)
		n += snprintf(text + n, size - n, "; the others take %s", mean(rest_mean, rest));
	return n;
}

/* Also reports calls that have not ended, which may be the slowest of all. */
static void describe(struct why_spans *s, struct report *r, const struct span_sides *sides, struct span_open open)
{
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

void why_spans__fill_report(struct why_spans *s, struct report *r, const struct span_sides *sides,
			    struct span_open open)
{
	probe_plan__describe(&s->plan, s->source, sizeof(s->source));
	r->source = s->source;
	r->value = s->from ? "slow spans compared with the others" : "slow calls compared with the others";
	r->metric = "call";
	r->table = true;
	r->has_events = true;
	r->events = sides->slow.calls + sides->rest.calls;
	r->counters.lost[LOSS_RECURSION] += probe_calls__misses(&s->plan);
	r->nothing = event_sites__nothing(&s->plan.side[PROBE_BEGIN].sites, r->counters.filtered, s->nothing,
					  sizeof(s->nothing));
	describe(s, r, sides, open);
}

void why_spans__advise(struct why_spans *s)
{
	size_t n = strlen(s->note);

	snprintf(s->note + n, sizeof(s->note) - n,
		 ". Most of the difference is waits for other threads: --critical-path shows what those threads did");
}

void why_spans__free(struct why_spans *s)
{
	probe_plan__free(&s->plan);
}
