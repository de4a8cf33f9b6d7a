// SPDX-License-Identifier: BSD-2-Clause
/* profile: where CPU time or another event goes, by stack. The measurement is bpf/profile/profile.bpf.c. */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "profile/annotate.h"
#include "base/numbers.h"
#include "report/diag.h"
#include "report/heat.h"
#include "report/listing.h"
#include "report/screen.h"
#include "profile/sampling.h"
#include "run/measurement.h"
#include "stack/options.h"
#include "tools.h"

#include "profile.skel.h"

SKELETON(profile);

#define LIVE_INTERVAL_NS (2 * NSEC_PER_SEC)

enum { KEY_IDLE = 0x1000, KEY_LIVE, KEY_ANNOTATE };

struct profile {
	struct sampling sampling;
	struct stack_options options;
	bool live;
	const char *annotate;           /* functions that are shown as instructions */
	struct screen screen;
	struct profile_bpf *bpf;
	struct stacks stacks;
};

/* --- options ----------------------------------------------------------------------------------- */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct profile *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->options;
		p->options.call_graph = CALL_GRAPH_AUTO;
		return 0;
	case 'e':
		if (p->sampling.typed) {
			diag_error("-e: one event at a time");
			diag_hint("several, side by side: tally run 'profile -e %s' 'profile -e %s'",
				  p->sampling.typed, arg);
			return EINVAL;
		}
		p->sampling.typed = arg;
		return 0;
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &p->sampling.hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case 'c':
		if (!parse_u64_between(arg, 1, INT64_MAX, &p->sampling.every))
			return 0;
		diag_error("-c: '%s' is not a number of events", arg);
		return EINVAL;
	case KEY_IDLE:
		p->sampling.with_idle = true;
		return 0;
	case KEY_LIVE:
		p->live = true;
		return 0;
	case KEY_ANNOTATE:
		p->annotate = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A table that is drawn again and again: of functions, where nothing else is asked for. */
static int check_live(struct profile *p, struct cli *cli)
{
	if (p->options.format >= 0 || cli->format != FORMAT_TEXT || cli->output) {
		diag_error("--live is a table on the terminal, in no other format and place");
		return -EINVAL;
	}
	if (cli->command) {
		diag_error("--live: what the command writes would go over the screen; use -p");
		return -EINVAL;
	}
	if (!cli->interval_ns)
		cli->interval_ns = LIVE_INTERVAL_NS;
	p->options.table = true;
	if (!cli->by_text)
		p->options.leaf = LEAF_DSO | LEAF_SYM;
	return cli->explain ? 0 : screen__check();
}

/* Instructions are found by the innermost frame, and there are no others to choose or show. */
static int check_annotate(struct profile *p, const struct cli *cli)
{
	const struct stack_options *o = &p->options;

	if (o->no_kernel || o->no_user || o->max_depth || o->with || o->without || o->table ||
	    o->callee_first || o->lines || o->inlined || cli->by_text || cli->by || p->live ||
	    (o->format >= 0 && o->format != FORMAT_JSON && o->format != FORMAT_CSV)) {
		diag_error("--annotate shows instructions: options about stacks, keys and their "
			   "formats do not go with it");
		return -EINVAL;
	}
	p->options.max_depth = 1;
	return 0;
}

static int check(void *context, struct cli *cli)
{
	struct profile *p = context;
	int err = sampling__check(&p->sampling);

	if (!err && p->annotate)
		err = check_annotate(p, cli);
	else if (!err && p->live)
		err = check_live(p, cli);
	/* Every Nth event may be each one: a walk by tables costs twice as much. */
	if (p->sampling.every && p->options.call_graph == CALL_GRAPH_AUTO)
		p->options.call_graph = CALL_GRAPH_FP;
	cli->scope.command_joins_at_exec = true;
	/* Whose time it is comes first, where nothing else is asked for. */
	return err ?: stack_options__check(&p->options, &p->stacks, cli,
					   p->annotate ? 0 : BY_COMM);
}

/* --- report ------------------------------------------------------------------------------------ */

static void describe(const struct profile *p, struct report *r)
{
	bool weighted = sampling__is_weighted(&p->sampling);

	r->value = weighted ? sampled_event__name(&p->sampling.event) : "CPU time";
	r->source = p->sampling.source;
	if (p->annotate)
		r->caveat = sampling__describe_place(&p->sampling);
	else if (!weighted && !p->live)
		r->caveat = "the timer cannot interrupt code that has interrupts off: its time shows "
			    "where it turns them on again";
}

static const char *unit(const struct profile *p)
{
	return sampling__is_weighted(&p->sampling) ? "events" : "samples";
}

static int report_instructions(struct profile *p, const struct measurement *m, struct report *r)
{
	int err = annotate__report(&p->stacks, p->annotate, unit(p), m->cli->top, r);

	if (err)
		return err;
	r->listings->colour = heat_style__of(m->writer->file).colour;
	return sampling__count(&p->sampling, m, r);
}

static int report(struct measurement *m, struct report *r)
{
	struct profile *p = m->own;
	int err = sampling__settle(&p->sampling, m);

	describe(p, r);
	if (err)
		return err;
	if (p->annotate)
		return report_instructions(p, m, r);
	err = stacks__report(&p->stacks, m, r, p->options.table ? 0 : m->cli->top);
	if (!err)
		err = sampling__count(&p->sampling, m, r);
	if (err)
		return err;
	r->stacks->unit = unit(p);
	r->stacks->type = sampling__is_weighted(&p->sampling) ? r->value : NULL;
	r->stacks->period = sampling__period(&p->sampling);
	if (!p->options.table)
		return 0;
	err = stacks__tabulate(r, p->options.leaf, p->live ? screen__rows() : m->cli->top);
	return err ?: p->live ? screen__show(r) : 0;
}

static int watch(struct measurement *m)
{
	struct profile *p = m->own;

	if (p->live && screen__is_quit())
		return 1;
	throttled__read(&p->sampling.throttled);
	return stacks__watch(&p->stacks);
}

/* --- the hooks --------------------------------------------------------------------------------- */

static int find_event(struct profile *p)
{
	int err = sampling__find(&p->sampling);

	p->stacks.at_tracepoints = p->sampling.event.is_tracepoint;
	if (err || !p->annotate || !p->sampling.event.is_tracepoint)
		return err;
	diag_error("--annotate: a tracepoint is one place in the kernel; stackcount(1) shows who "
		   "gets there");
	return -EINVAL;
}

static struct bpf_program *program_of(const struct profile *p)
{
	if (p->sampling.event.is_tracepoint)
		return p->bpf->progs.on_tracepoint;
	return sampling__is_weighted(&p->sampling) ? p->bpf->progs.on_event : p->bpf->progs.on_sample;
}

/* One of the three, attached by hand. */
static void choose_program(struct profile *p)
{
	struct bpf_program *all[] = { p->bpf->progs.on_sample, p->bpf->progs.on_event,
				      p->bpf->progs.on_tracepoint };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		bpf_program__set_autoload(all[i], all[i] == program_of(p));
		bpf_program__set_autoattach(all[i], false);
	}
}

static int open_skeleton(struct measurement *m)
{
	struct profile *p = m->own;
	int err = measurement__open(m);

	if (err)
		return err;
	p->bpf = m->bpf;
	p->bpf->rodata->take = stack_options__take(&p->options, &p->stacks);
	p->bpf->rodata->with_idle = p->sampling.with_idle;
	p->bpf->rodata->every = p->sampling.event.every;
	choose_program(p);
	return stacks__prepare(&p->stacks, m, p->bpf->obj, "counts", m->cli->asked_keys);
}

static int load(struct measurement *m)
{
	struct profile *p = m->own;
	int err = find_event(p);

	if (err)
		return err;
	m->source = p->sampling.source;
	err = open_skeleton(m);
	if (!err && !m->cli->explain)
		err = run__load(p->bpf->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

/* What is drawn there is not written, too; keys wake the run like what programs tell. */
static int start_screen(struct profile *p, struct measurement *m)
{
	struct epoll_event event = { .events = EPOLLIN };

	m->hold = true;
	if (epoll_ctl(m->watch_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event))
		return -errno;
	return screen__open(&p->screen);
}

static int attach(struct measurement *m)
{
	struct profile *p = m->own;
	int err = stacks__begin(&p->stacks, m);

	m->watch = watch;
	if (!err && p->annotate)
		annotate__begin(&p->stacks);
	if (!err)
		err = measurement__attach_programs(m);
	if (err)
		return err;
	err = sampling__start(&p->sampling, m, program_of(p), bpf_map__fd(p->bpf->maps.samples));
	m->has_said = err;
	return err ?: p->live ? start_screen(p, m) : 0;
}

static int arm(struct measurement *m)
{
	struct profile *p = m->own;

	*m->armed = 1;
	return sampling__arm(&p->sampling, m);
}

static void disarm(struct measurement *m)
{
	struct profile *p = m->own;

	sampling__disarm(&p->sampling);
}

/* What the terminal had comes back before anything more is said. */
static int end(struct measurement *m, int err)
{
	struct profile *p = m->own;

	screen__close(&p->screen);
	sampling__free(&p->sampling);
	return err;
}

static void init(void *own)
{
	struct profile *p = own;

	*p = (struct profile){ .options = STACK_OPTIONS };
}

static const char *alone(const void *own)
{
	const struct profile *p = own;

	return p->live ? "--live" : NULL;
}

static void release(void *own)
{
	struct profile *p = own;

	stacks__free(&p->stacks);
}

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "Sampling:", 1 },
	{ "event", 'e', "EVENT", 0, "At this event, not by the clock, as perf names it", 1 },
	{ "frequency", 'F', "HZ", 0, "Samples a second on each CPU; 99 without this", 1 },
	{ "count", 'c', "N", 0, "A sample at every Nth event of -e", 1 },
	{ "idle", KEY_IDLE, NULL, 0, "Idle CPUs too", 1 },
	{ "annotate", KEY_ANNOTATE, "SYM", 0,
	  "The instructions of functions of this name, and which are hot", 1 },
	{ "live", KEY_LIVE, NULL, 0, "A table on the whole terminal, drawn anew each interval", 1 },
	{},
};
static const struct argp_child child_argps[] = { { &stack_options_argp, 0, NULL, 0 }, {} };
static const struct argp own_argp = {
	.options = option_list, .parser = parse_own, .children = child_argps};

static const struct tool_spec spec = {
	.name = "profile",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND,
		.usual_keys = STACKS_ON_DEMAND,
		.doc = "Where CPU time goes, or another event comes from: samples of what "
		       "runs on each CPU, by stack.\n" STACK_FORMATS_DOC,
		.own = &own_argp,
		.own_keys = true,
	},
	.own_size = sizeof(struct profile), .skeleton = &profile_skeleton,
	.init = init, .check = check, .alone = alone, .load = load, .attach = attach, .arm = arm,
	.disarm = disarm, .report = report,
	.end = end, .free = release,
};

TOOL_MEASURING(profile, spec, AREA_SCHEDULER, "where CPU time goes: stacks, flame graphs");
