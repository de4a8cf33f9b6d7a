// SPDX-License-Identifier: BSD-2-Clause
/* profile: CPU time or another event by stack. The measurement is bpf/profile/profile.bpf.c. */
#include <errno.h>

#include "event/complete.h"
#include "profile/annotate.h"
#include "report/diag.h"
#include "report/heat.h"
#include "report/listing.h"
#include "profile/events.h"
#include "profile/wall.h"
#include "run/load.h"
#include "run/measurement.h"
#include "stack/options.h"
#include "tools.h"

#include "profile.skel.h"

SKELETON(profile);

struct profile {
	struct profile_events events;
	struct stack_options options;
	const char *annotate;           /* functions to show as instructions */
	struct profile_bpf *bpf;
	struct stacks stacks;
	struct wall wall;               /* replaces the other members if requested */
};

/* --- options ----------------------------------------------------------------------------------- */

/* Instructions need only the innermost frame, so options for stacks do not apply. */
static int check_annotate(struct profile *p, const struct cli *cli)
{
	const struct stack_options *o = &p->options;

	if (o->no_kernel || o->no_user || o->max_depth || o->with || o->without || o->table ||
	    o->callee_first || o->lines || o->inlined || cli->by_text || cli->by || cli->live ||
	    (o->format >= 0 && o->format != FORMAT_JSON && o->format != FORMAT_CSV && o->format != FORMAT_HTML)) {
		diag_error("--annotate cannot be combined with options for stacks, keys or their formats");
		return -EINVAL;
	}
	p->options.max_depth = 1;
	return 0;
}

/* A table of several events has no place to show what is left out. */
static int check_several(const struct profile *p)
{
	if (p->annotate)
		diag_error("--annotate needs a single event, but -e names %zu", p->events.n);
	else if (p->wall.asked)
		diag_error("--wall and -e cannot be combined");
	else if ((p->options.with || p->options.without) && p->options.table)
		diag_error("--frames and --no-frames cannot be combined with a table of several events");
	else
		return 0;
	return -EINVAL;
}

static int check(void *context, struct cli *cli)
{
	struct profile *p = context;
	int err;

	if (p->wall.asked && (cli->live || p->annotate)) {
		diag_error("--wall cannot be combined with --live or --annotate");
		return -EINVAL;
	}
	err = profile_events__check(&p->events);
	if (!err && p->annotate)
		err = check_annotate(p, cli);
	cli->scope.command_joins_at_exec = true;
	/* By default, stacks begin with the command. */
	if (!err)
		err = stack_options__check(&p->options, &p->stacks, cli, p->annotate ? 0 : BY_COMM);
	if (!err)
		err = profile_events__check_depth(&p->events, p->stacks.depth);
	if (!err && p->events.n > 1)
		err = check_several(p);
	return err ?: p->wall.asked ? wall__check(&p->wall, cli) : 0;
}

/* --- report ------------------------------------------------------------------------------------ */

static void describe(struct profile *p, struct report *r)
{
	const struct sampling *first = &p->events.each[0];
	bool weighted = sampling__is_weighted(first);
	size_t i;

	for (i = 0; i < p->events.n; i++)
		r->is_estimate |= sampling__is_estimate(&p->events.each[i]);
	r->value = p->events.n > 1 ? "events" : weighted ? sampled_event__name(&first->event) : "CPU time";
	r->source = profile_events__source(&p->events, p->events.source);
	if (p->annotate)
		r->caveat = sampling__describe_place(first);
	else if (!weighted)
		r->caveat = "the timer cannot interrupt code with interrupts off: its time shows where it enables "
			    "them again";
}

static int report_instructions(struct profile *p, const struct measurement *m, struct report *r)
{
	int err = annotate__report(&p->stacks, p->annotate,
				   sampling__is_weighted(&p->events.each[0]) ? "events" : "samples", m->cli->top, r);

	if (err)
		return err;
	r->listings->colour = heat_style__of(m->writer->file).colour;
	return profile_events__count(&p->events, m, r);
}

static int report_wall(struct profile *p, struct measurement *m, struct report *r)
{
	int err = wall__report(&p->wall, m, r);

	r->source = profile_events__source(&p->events, r->source);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct profile *p = m->own;
	int err;

	if (p->wall.asked)
		return report_wall(p, m, r);
	err = profile_events__settle(&p->events, m);
	describe(p, r);
	if (err)
		return err;
	if (p->annotate)
		return report_instructions(p, m, r);
	err = stacks__report(&p->stacks, m, r, p->options.table ? 0 : m->cli->top);
	if (!err)
		err = profile_events__count(&p->events, m, r);
	if (err)
		return err;
	profile_events__describe(&p->events, r);
	if (!p->options.table)
		return 0;
	return stacks__tabulate(r, p->options.leaf, m->cli->top, m->cli->format == FORMAT_TEXT);
}

static int watch(struct measurement *m)
{
	struct profile *p = m->own;

	int err = profile_events__follow(&p->events, m);

	return err ?: stacks__watch(&p->stacks);
}

/* --- the hooks --------------------------------------------------------------------------------- */

static int find_events(struct profile *p)
{
	struct profile_events *e = &p->events;
	int err = profile_events__find(e);
	size_t i;

	for (i = 0; i < e->n; i++)
		p->stacks.at_tracepoints |= e->each[i].event.is_tracepoint;
	if (!err && e->n > 1) {
		p->stacks.event = e->name;
		p->stacks.events = e->report;
		p->stacks.nevents = e->n;
	}
	if (err || !p->annotate || !e->each[0].event.is_tracepoint)
		return err;
	diag_error("--annotate: a tracepoint is one place in the kernel; stackcount(1) shows its callers");
	return -EINVAL;
}

static int open_skeleton(struct measurement *m)
{
	struct profile *p = m->own;
	int err = measurement__open(m);

	if (err)
		return err;
	p->bpf = m->bpf;
	p->bpf->rodata->with_idle = p->events.with_idle;
	profile_events__configure(&p->events, p->bpf, stack_options__take(&p->options, &p->stacks));
	return stacks__prepare(&p->stacks, m, p->bpf->obj, "counts", m->cli->asked_keys);
}

static int load(struct measurement *m)
{
	struct profile *p = m->own;
	int err;

	if (p->wall.asked)
		return wall__load(&p->wall, m);
	err = find_events(p);
	if (err)
		return err;
	m->source = p->events.source;
	err = open_skeleton(m);
	if (!err && !m->cli->explain)
		err = skeleton__load(p->bpf->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

static int attach(struct measurement *m)
{
	struct profile *p = m->own;
	int err = stacks__begin(&p->stacks, m);

	m->watch = watch;
	if (!err)
		err = profile_events__begin(&p->events, m);
	if (!err && p->wall.asked)
		return wall__attach(&p->wall, m);
	if (!err && p->annotate)
		annotate__begin(&p->stacks);
	if (!err)
		err = measurement__attach_programs(m);
	if (err)
		return err;
	err = profile_events__start(&p->events, m, p->bpf);
	m->has_said = err;
	return err;
}

static int arm(struct measurement *m)
{
	struct profile *p = m->own;

	*m->armed = 1;
	return profile_events__arm(&p->events, m);
}

static void disarm(struct measurement *m)
{
	struct profile *p = m->own;

	if (p->wall.asked)
		wall__disarm(&p->wall);
	profile_events__disarm(&p->events);
}

static int end(struct measurement *m, int err)
{
	struct profile *p = m->own;

	profile_events__end(&p->events);
	return err;
}

static void init(void *own)
{
	struct profile *p = own;

	*p = (struct profile){
		.options = STACK_OPTIONS,
		.wall = { .sampling = &p->events.each[0], .options = &p->options, .stacks = &p->stacks },
	};
}

static void release(void *own)
{
	struct profile *p = own;

	profile_events__free(&p->events);
	wall__free(&p->wall);
	stacks__free(&p->stacks);
}

static int parse_event(void *own, char *arg)
{
	struct profile *p = own;

	return profile_events__add(&p->events, arg);
}

static const struct option_row rows[] = {
	HEADING("Sampling:", 1),
	{ "event", 'e', "EVENT", ROW_OWN, "Sample at this event instead of the clock, named as in perf", 1,
	  .parse = parse_event, .adds = true, .complete = complete_events },
	{ "frequency", 'F', "HZ", ROW_COUNT,
	  "Samples a second on each CPU; 99 by default", 1,
	  FIELD(struct profile, events.hz), .least = 1, .most = UINT32_MAX,
	  .wanted = "a number of samples a second" },
	{ "count", 'c', "N", ROW_COUNT, "Take a sample at every Nth event of -e", 1,
	  FIELD(struct profile, events.every), .least = 1, .most = INT64_MAX, .wanted = "a number of events" },
	{ "idle", 0, NULL, ROW_FLAG, "Include idle CPUs; with --wall, tasks that sleep through the whole run", 1,
	  FIELD(struct profile, events.with_idle) },
	{ "wall", 0, NULL, ROW_FLAG,
	  "All time of tasks: on a CPU, blocked, and waiting for a CPU", 1,
	  FIELD(struct profile, wall.asked) },
	{ "annotate", 0, "SYM", ROW_TEXT, "The hot instructions of functions of this name", 1,
	  FIELD(struct profile, annotate) },
	INCLUDE(struct profile, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "profile",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "Where CPU time goes, or where another event comes from: samples of what runs on each CPU, by "
		       "stack.\n" STACK_FORMATS_DOC,
		.rows = rows,
		.own_keys = true,
		.keys = STACK_KEYS,
	},
	.own_size = sizeof(struct profile), .skeleton = &profile_skeleton,
	.init = init, .check = check, .load = load, .attach = attach, .arm = arm,
	.disarm = disarm, .report = report,
	.end = end, .free = release,
};

TOOL_MEASURING(profile, spec, AREA_SCHEDULER, "where CPU time goes: stacks, flame graphs");
