// SPDX-License-Identifier: BSD-2-Clause
/* stackcount: stacks that lead to an event. The measurement is bpf/events/stackcount.bpf.c. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "cli/task_key.h"
#include "event/complete.h"
#include "event/user_binary.h"
#include "report/diag.h"
#include "probe/plan.h"
#include "run/load.h"
#include "run/measurement.h"
#include "run/explain.h"
#include "stack/options.h"
#include "stack/stacks.h"
#include "tools.h"

#include "bpf/events/site.h"
#include "stackcount.skel.h"

SKELETON(stackcount);

#define MOST_EVENTS 64          /* words; each may be a list */

struct stackcount {
	struct stack_options options;
	struct probe_request request;
	const char *typed[MOST_EVENTS];
	bool interval_begun;
	const char *caller;             /* glob */
	char *filter;                   /* also contains the condition for the caller */
	struct probe_plan plan;
	u64 every;                      /* -c; 0: not given */
	const char **event;             /* names by number; NULL: only one */
	struct report_event column[REPORT_MOST_EVENTS];         /* if there are several events with a column each */
	char *share_name[REPORT_MOST_EVENTS];   /* "NAME%"; owned */
	struct stackcount_bpf *bpf;
	struct stacks stacks;
	char source[512], nothing[640];
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t add_event(struct stackcount *s, const char *text)
{
	if (s->request.ntyped == MOST_EVENTS) {
		diag_error("%d events at most", MOST_EVENTS);
		return EINVAL;
	}
	s->typed[s->request.ntyped++] = text;
	return 0;
}

/* Before the interval begins, every word that is not a number is an event. */
static bool takes(void *input, char *arg)
{
	struct stackcount *s = input;

	s->interval_begun |= begins_number(arg);
	return !s->interval_begun && !add_event(s, arg);
}

/* --caller becomes a filter that precedes the given one. */
static int add_caller(struct stackcount *s, const struct cli *cli)
{
	s->request.filter = cli->filter;
	if (!s->caller)
		return 0;
	if (strpbrk(s->caller, "\"\\")) {
		diag_error("--caller: '%s' is not the name of a function", s->caller);
		return -EINVAL;
	}
	if (asprintf(&s->filter, cli->filter ? "$caller ~ \"%s\" && (%s)" : "$caller ~ \"%s\"",
		     s->caller, cli->filter) < 0)
		return -ENOMEM;
	s->request.filter = s->filter;
	return 0;
}

static int check_options(struct stackcount *s, struct cli *cli)
{
	struct probe_request *r = &s->request;
	size_t i;
	int err = 0;

	for (i = 0; i < cli->nevents && !err; i++)
		err = add_event(s, cli->events[i]) ? -EINVAL : 0;
	if (!err && !r->ntyped) {
		diag_error("no event given");
		diag_hint("as in: stackcount block:block_rq_issue; `list` shows all events");
		err = -EINVAL;
	}
	r->typed = s->typed;
	r->what = r->value ? PROBE_SUM : PROBE_COUNT;
	r->option = "--sum";
	r->is_unsigned = true;          /* widths of trees and flame graphs are unsigned */
	r->is_scoped = cli__picks_tasks(cli) || cli->by || cli->by_text;
	r->context = event_context__of(cli->binary, cli->scope.pids, cli->scope.npids, cli->command);
	if (!err)
		err = add_caller(s, cli);
	return err ?: stack_options__check(&s->options, &s->stacks, cli, 0);
}

static int check_caller(const struct stackcount *s)
{
	const struct events *events = &s->plan.side[PROBE_END].events;
	size_t i;

	for (i = 0; s->caller && i < events->n; i++)
		if (events->event[i].type != EVENT_KERNEL_FUNCTION) {
			diag_error("--caller: %s is not a kernel function",
				   events->event[i].name);
			return -EINVAL;
		}
	return 0;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Sets the slot of each site, which programs receive as a cookie: event number and flags. */
static void number_sites(struct stackcount *s)
{
	struct probe_side *side = &s->plan.side[PROBE_END];
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		side->slot[i] = site->event - side->events.event;
		if (event_site__is_at_entry(site))
			side->slot[i] |= SITE_AT_ENTRY;
		if (site->is_exit)
			side->slot[i] |= SITE_AT_EXIT;
		s->stacks.at_tracepoints |= site->tracepoint_id != 0;
	}
}

/* A few events have a column each, side by side. If there are more, they have rows of their own. */
static int make_columns(struct stackcount *s, size_t n)
{
	size_t i;

	if (n > REPORT_MOST_EVENTS)
		return 0;
	if (s->options.table && (s->options.with || s->options.without)) {
		diag_error("--frames and --no-frames cannot be combined with a table of several events");
		return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		if (asprintf(&s->share_name[i], "%s%%", s->event[i]) < 0) {
			s->share_name[i] = NULL;
			return -ENOMEM;
		}
		s->column[i] = (struct report_event){
			.name = s->event[i],
			.share_name = s->share_name[i],
			.unit = s->request.value ? "sum" : "events",
			.period = s->request.value ? 0 :
				  s->every	   ?:
						     1,
		};
	}
	s->stacks.events = s->column;
	s->stacks.nevents = n;
	return 0;
}

static int name_events(struct stackcount *s)
{
	const struct probe_side *side = &s->plan.side[PROBE_END];
	size_t i;

	if (side->events.n < 2)
		return 0;
	s->event = calloc(side->events.n, sizeof(*s->event));
	if (!s->event)
		return -ENOMEM;
	for (i = 0; i < side->events.n; i++)
		s->event[i] = side->events.event[i].name;
	s->stacks.event = s->event;
	return make_columns(s, side->events.n);
}

static int make_plan(struct stackcount *s)
{
	const struct attach_programs programs[PROBE_SIDES] = {
		[PROBE_END] = {
			.object = s->bpf->obj,
			.filtered_tracepoint = s->bpf->progs.on_tracepoint,
			.raw_tracepoint = s->bpf->progs.on_raw,
			.syscall_enter = s->bpf->progs.on_syscall_enter,
			.syscall_exit = s->bpf->progs.on_syscall_exit,
			.syscall_slots = s->bpf->maps.syscall_slots,
			.probe = s->bpf->progs.on_probe,
			.probes = s->bpf->progs.on_probes,
		},
	};
	int err = probe_plan__init(&s->plan, &s->request);

	if (!err)
		err = check_caller(s);
	if (!err)
		err = probe_plan__choose(&s->plan, programs, true);
	if (!err)
		err = probe_plan__compile(&s->plan);
	if (err)
		return err;
	number_sites(s);
	return name_events(s);
}

static int open_programs(struct stackcount *s, struct measurement *m)
{
	int err = measurement__open(m);

	s->bpf = m->bpf;
	return err ?: make_plan(s);
}

static int load(struct stackcount *s, struct measurement *m)
{
	const struct cli *cli = m->cli;
	int err;

	s->bpf->rodata->take = stack_options__take(&s->options, &s->stacks);
	s->bpf->rodata->with_value = s->request.what == PROBE_SUM;
	s->bpf->rodata->every = s->every ?: 1;
	if (s->every > 1)
		bpf_map__set_max_entries(s->bpf->maps.turns, s->plan.side[PROBE_END].events.n);
	s->bpf->rodata->most_for_every = UINT64_MAX / (s->every ?: 1);
	err = stacks__prepare(&s->stacks, m, s->bpf->obj, "counts", cli->asked_keys);
	if (!err && !cli->explain)
		err = skeleton__load(s->bpf->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

static int watch(struct measurement *m)
{
	struct stackcount *s = m->own;

	return stacks__watch(&s->stacks);
}

static int attach(struct measurement *m)
{
	struct stackcount *s = m->own;
	int err = stacks__begin(&s->stacks, m);

	if (!err)
		err = measurement__attach_programs(m);   /* programs that update the scope */
	if (err)
		return err;
	err = probe_plan__attach(&s->plan);
	m->has_said = err;
	if (err)
		return err;
	m->watch = watch;
	return 0;
}

/* Scales losses of sampled events, each of which stands for s->every events. */
static void scale_losses(const struct stackcount *s, struct report *r)
{
	static const enum loss_reason later[] = {
		LOSS_MAP_FULL, LOSS_NO_MEMORY, LOSS_STACKS_FULL, LOSS_TRUNCATED, LOSS_NESTING, LOSS_STACK_MEMORY,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(later) && s->every; i++)
		r->counters.lost[later[i]] *= s->every;
}

static void describe(struct stackcount *s, struct report *r)
{
	size_t n;

	probe_plan__describe(&s->plan, s->source, sizeof(s->source));
	n = strlen(s->source);
	if (s->every > 1)
		snprintf(s->source + n, sizeof(s->source) - n, "; one of every %llu on a CPU, counted for all of them",
			 s->every);
	r->value = s->request.value ?: "events";
	r->is_estimate = s->every > 1;
	if (s->every > 1 && s->request.value)
		r->caveat =
			"the sums are estimates: the values of the counted events stand for those of all events";
}

static int report(struct measurement *m, struct report *r)
{
	struct stackcount *s = m->own;
	int err;

	describe(s, r);
	r->source = s->source;
	err = stacks__report(&s->stacks, m, r, s->options.table ? 0 : m->cli->top);
	if (err)
		return err;
	scale_losses(s, r);
	r->counters.lost[LOSS_RECURSION] += attach__misses(&s->plan.side[PROBE_END].attachments);
	r->stacks->unit = s->stacks.nevents ? "value" : s->request.value ? "sum" : "events";
	/* Sums are not numbers of events. Events whose stack did not fit into the map are in no sum. */
	if (s->request.value)
		r->events = r->counters.summed - r->counters.lost[LOSS_MAP_FULL] -
			    r->counters.lost[LOSS_NO_MEMORY];
	r->has_losses = true;
	r->nothing = event_sites__nothing(&s->plan.side[PROBE_END].sites, r->counters.filtered, s->nothing,
					  sizeof(s->nothing));
	return s->options.table ? stacks__tabulate(r, s->options.leaf, m->cli->top, m->cli->format == FORMAT_TEXT) : 0;
}

static int open_and_load(struct measurement *m)
{
	struct stackcount *s = m->own;
	int err = open_programs(s, m);

	return err ?: load(s, m);
}

static int explain(struct measurement *m)
{
	struct stackcount *s = m->own;

	return measurement__explain_with(m, s->bpf->obj, "the events named", explain__add_sites, &s->plan);
}

static void init(void *own)
{
	struct stackcount *s = own;

	s->options = (struct stack_options)STACK_OPTIONS;
}

static int check(void *own, struct cli *cli)
{
	cli->scope.command_joins_at_exec = true;
	return check_options(own, cli);
}

static void release(void *own)
{
	struct stackcount *s = own;
	size_t i;

	for (i = 0; i < REPORT_MOST_EVENTS; i++)
		free(s->share_name[i]);
	stacks__free(&s->stacks);
	probe_plan__free(&s->plan);
	free(s->event);
	free(s->filter);
}

static const struct option_row rows[] = {
	HEADING("Figures (default: the number of events):", 1),
	{ "sum", 0, "EXPR", ROW_TEXT, "The sum of a value of the event", 1, FIELD(struct stackcount, request.value) },
	{ "count", 'c', "N", ROW_COUNT, "Count every Nth event on each CPU, as N", 1,
	  FIELD(struct stackcount, every), .least = 1, .most = INT64_MAX, .wanted = "a number of events" },
	{ "caller", 0, "GLOB", ROW_TEXT, "Only calls from kernel functions that match", 1,
	  FIELD(struct stackcount, caller) },
	INCLUDE(struct stackcount, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "stackcount",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_EVENTS,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "Which code paths lead to an event: counts, or sums of a value, by "
		       "stack.\n" STACK_FORMATS_DOC,
		.rows = rows,
		.args_doc = "EVENT... [INTERVAL [COUNT]]\nEVENT... -- COMMAND [ARG...]",
		.own_keys = true,
		.keys = STACK_KEYS,
		.takes = takes,
		.arguments = complete_events,
	},
	.own_size = sizeof(struct stackcount), .skeleton = &stackcount_skeleton, .stays_attached = true,
	.init = init, .check = check, .load = open_and_load, .explain = explain,
	.attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(stackcount, spec, AREA_EVENTS,
	       "which code paths lead to an event: stacks, flame graphs");
