// SPDX-License-Identifier: BSD-2-Clause
/* profile: where CPU time or another event goes, by stack. The measurement is bpf/profile.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "annotate/annotate.h"
#include "base/numbers.h"
#include "event/sampled.h"
#include "out/diag.h"
#include "out/heat.h"
#include "out/listing.h"
#include "out/screen.h"
#include "run/explain.h"
#include "stack/options.h"
#include "stack/sampler.h"
#include "stack/throttled.h"
#include "tools.h"

#include "bpf/profile.h"
#include "profile.skel.h"

#define DEFAULT_HZ 99           /* not in step with the scheduler's tick */

#define LIVE_INTERVAL_NS (2 * NSEC_PER_SEC)

enum { KEY_IDLE = 0x1000, KEY_LIVE, KEY_ANNOTATE };

struct profile {
	struct sampler sampler;         /* by the clock, where no event is named */
	const char *typed;              /* -e */
	struct sampled_event event;
	struct throttled throttled;
	u64 hz, every;                  /* -F, -c; 0: not said */
	u64 missed;                     /* samples by the clock, since the last report */
	struct profile_samples seen;    /* of all CPUs, as of the last report */
	u64 counted;                    /* events the kernel itself has counted, likewise */
	s64 behind;                     /* how many of these the programs have not been told of */
	struct stack_options options;
	bool with_idle;
	bool live;
	const char *annotate;           /* functions that are shown as instructions */
	struct screen screen;
	char source[160];
	struct profile_bpf *bpf;
	struct stacks stacks;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct profile *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->options;
		return 0;
	case 'e':
		if (p->typed) {
			diag_error("-e: one event at a time");
			return EINVAL;
		}
		p->typed = arg;
		return 0;
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &p->hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case 'c':
		if (!parse_u64_between(arg, 1, INT64_MAX, &p->every))
			return 0;
		diag_error("-c: '%s' is not a number of events", arg);
		return EINVAL;
	case KEY_IDLE:
		p->with_idle = p->sampler.idle_counts = true;
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

/* The clock has a timer of its own, of which it is known when samples are due. */
static int check_event(struct profile *p)
{
	if (p->every && p->hz) {
		diag_error("-c and -F are two ways to say how often; give one");
		return -EINVAL;
	}
	if (p->every && !p->typed) {
		diag_error("-c is about an event: name it with -e");
		return -EINVAL;
	}
	if (p->typed && !strcmp(p->typed, "cpu-clock"))
		p->typed = NULL;
	p->sampler.hz = p->hz ?: DEFAULT_HZ;
	p->sampler.period_ns = p->typed ? 0 : p->every;
	p->event.hz = p->hz;
	p->event.every = p->every;
	return sampler__check_rate(p->sampler.hz);
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

static int check_options(struct profile *p, struct cli *cli)
{
	int err = check_event(p);

	if (!err && p->annotate)
		err = check_annotate(p, cli);
	else if (!err && p->live)
		err = check_live(p, cli);
	/* Whose time it is comes first, where nothing else is asked for. */
	return err ?: stack_options__check(&p->options, &p->stacks, cli,
					   p->annotate ? 0 : BY_COMM);
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static struct profile_samples *read_samples(const struct profile *p, const struct run *run)
{
	struct profile_samples *samples = calloc(run->host.cpus_possible, sizeof(*samples));
	u32 zero = 0;

	if (samples && bpf_map_lookup_elem(bpf_map__fd(p->bpf->maps.samples), &zero, samples)) {
		free(samples);
		samples = NULL;
	}
	return samples;
}

/*
 * A CPU that is held up (by its hypervisor, with interrupts off), or throttled, skips samples. To be
 * called just before the stacks are read: finding names for these takes long, and samples go on.
 */
static int find_missed(struct profile *p, const struct run *run)
{
	struct sampler_seen *seen = calloc(run->host.cpus_possible, sizeof(*seen));
	/* The time first: what is due by then has been taken when the samples are read. */
	u64 due = sampler__due(&p->sampler);
	struct profile_samples *samples = read_samples(p, run);
	int err = seen && samples ? 0 : -ENOMEM, i;

	for (i = 0; i < run->host.cpus_possible && !err; i++)
		seen[i] = (struct sampler_seen){ samples[i].taken, samples[i].idle };
	if (!err)
		err = sampler__missed(&p->sampler, due, seen, &p->missed);
	free(samples);
	free(seen);
	return err;
}

/* --- of an event that was named --- */

/* What the programs have seen on all CPUs since the last call. */
static int take_seen(struct profile *p, const struct run *run, struct profile_samples *gained)
{
	struct profile_samples *samples = read_samples(p, run), now = {};
	int i;

	if (!samples)
		return -ENOMEM;
	for (i = 0; i < run->host.cpus_possible; i++) {
		now.taken += samples[i].taken;
		now.events += samples[i].events;
		now.filtered += samples[i].filtered;
	}
	*gained = (struct profile_samples){
		.taken = now.taken - p->seen.taken,
		.events = now.events - p->seen.events,
		.filtered = now.filtered - p->seen.filtered,
	};
	p->seen = now;
	free(samples);
	return 0;
}

/*
 * The kernel's own count has also what no sample came for: the program was running already, or
 * sampling was throttled. With a frequency, what is left over of the last period is not known, and
 * nothing said.
 */
static u64 missed_events(struct profile *p, u64 counted, u64 seen)
{
	s64 begun = p->event.every ? (p->event.every - 1) * p->event.counters.n : 0, missed;

	p->behind += (s64)(counted - p->counted) - (s64)seen;
	p->counted = counted;
	missed = p->event.every && p->behind > begun ? p->behind - begun : 0;
	p->behind -= missed;
	return missed;
}

/* In events, all of them: what was lost is known in samples, that stand for a period each. */
static int count_events(struct profile *p, const struct run *run, struct report *r)
{
	struct profile_samples gained;
	u64 counted, period;
	/* The kernel's count first: what is in it has been seen when the samples are read. */
	int err = sampled_event__count(&p->event, &counted), i;

	if (!err)
		err = take_seen(p, run, &gained);
	if (err)
		return err;
	period = p->event.every ?: gained.taken ? gained.events / gained.taken : 1;
	for (i = 0; i < LOSS_REASONS; i++)
		r->counters.lost[i] *= period;
	r->counters.filtered = gained.filtered;
	if (!p->event.is_tracepoint)
		r->counters.lost[LOSS_MISSED] += missed_events(p, counted, gained.events);
	return 0;
}

static bool is_weighted(const struct profile *p)
{
	return p->typed && !p->event.is_time;
}

static bool is_page_fault(u64 software)
{
	return software == PERF_COUNT_SW_PAGE_FAULTS || software == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       software == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
}

/* What the instruction of a sample is to what was counted. */
static const char *describe_place(const struct profile *p)
{
	const struct event *e = p->typed ? &p->event.events.event[0] : NULL;

	if (!is_weighted(p))
		return "a sample stands at the instruction that was next when the timer came: what "
		       "a slow one took shows at the one after it, and code with interrupts off "
		       "where it turns them on again";
	if (e->type == EVENT_SOFTWARE && is_page_fault(e->attr.config))
		return "a sample stands at the instruction that faulted";
	if (e->type == EVENT_SOFTWARE)
		return "a sample stands where the kernel counts the event";
	if (e->type == EVENT_BREAKPOINT)
		return "a sample stands at the instruction after the one that touched the address";
	if (e->modifiers.precise > 1)
		return "a sample stands at the instruction that caused the event (:pp)";
	return "a sample stands some instructions after the one that caused the event, as far as "
	       "the CPU has run on; :pp asks for the one itself";
}

static void describe(const struct profile *p, struct report *r)
{
	r->value = is_weighted(p) ? sampled_event__name(&p->event) : "CPU time";
	r->source = p->source;
	if (p->annotate)
		r->caveat = describe_place(p);
	else if (!is_weighted(p) && !p->live)
		r->caveat = "the timer cannot interrupt code that has interrupts off: its time shows "
			    "where it turns them on again";
}

static int count_losses(struct profile *p, const struct run *run, struct report *r)
{
	if (!p->typed)
		r->counters.lost[LOSS_MISSED] += p->missed;
	return is_weighted(p) ? count_events(p, run, r) : 0;
}

static int report_instructions(struct profile *p, const struct run *run, struct report *r)
{
	const char *unit = is_weighted(p) ? "events" : "samples";
	int err = annotate__report(&p->stacks, p->annotate, unit, run->cli->top, r);

	if (err)
		return err;
	r->listings->colour = heat_style__of(run->writer.file).colour;
	return count_losses(p, run, r);
}

static int report(struct run *run, struct report *r)
{
	struct profile *p = run->context;
	int err = p->typed ? 0 : find_missed(p, run);

	describe(p, r);
	if (err)
		return err;
	if (p->annotate)
		return report_instructions(p, run, r);
	err = stacks__report(&p->stacks, run, r, p->options.table ? 0 : run->cli->top);
	if (!err)
		err = count_losses(p, run, r);
	if (err)
		return err;
	r->stacks->unit = is_weighted(p) ? "events" : "samples";
	if (!p->options.table)
		return 0;
	err = stacks__tabulate(r, p->options.leaf, p->live ? screen__rows() : run->cli->top);
	return err ?: p->live ? screen__show(r) : 0;
}

static int watch(struct run *run)
{
	struct profile *p = run->context;

	if (p->live && screen__is_quit())
		return 1;
	throttled__read(&p->throttled);
	return stacks__watch(&p->stacks);
}

static struct bpf_program *program_of(const struct profile *p)
{
	if (p->event.is_tracepoint)
		return p->bpf->progs.on_tracepoint;
	return is_weighted(p) ? p->bpf->progs.on_event : p->bpf->progs.on_sample;
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

static int load(struct profile *p, struct run *run)
{
	const struct cli *cli = run->cli;
	struct stacks_constants constants;
	int err;

	p->bpf = profile_bpf__open();
	if (!p->bpf)
		return -errno;
	constants = (struct stacks_constants){
		&p->bpf->rodata->scope, &p->bpf->rodata->by, &p->bpf->rodata->stack_depth,
		&p->bpf->rodata->stack_walk, &p->bpf->rodata->stack_seed,
	};
	p->bpf->rodata->take = stack_options__take(&p->options, &p->stacks);
	p->bpf->rodata->with_idle = p->with_idle;
	p->bpf->rodata->every = p->event.every;
	choose_program(p);
	err = stacks__prepare(&p->stacks, run, p->bpf->obj, "counts",
			      cli->max_keys == CLI_DEFAULT_MAX_KEYS ? 0 : cli->max_keys,
			      &constants);
	if (!err && !cli->explain)
		err = profile_bpf__load(p->bpf);
	if (!err)
		return 0;
	diag_error("this kernel cannot load the program: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

/* What is drawn there is not written, too; keys wake the run like what programs tell. */
static int start_screen(struct profile *p, struct run *run)
{
	struct epoll_event event = { .events = EPOLLIN };

	run->hold = true;
	if (epoll_ctl(run->watch_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event))
		return -errno;
	return screen__open(&p->screen);
}

static int start_clock(struct profile *p, struct run *run)
{
	int err = sampler__start(&p->sampler, p->bpf->progs.on_sample, &run->scope);
	size_t i;

	for (i = 0; i < p->sampler.n && !err; i++)
		err = throttled__watch(&p->throttled, p->sampler.cpu[i].fd, p->sampler.cpu[i].cpu,
				       run->watch_fd);
	return err ?: sampler__arm(&p->sampler);
}

/* What the programs have seen is read first, so that no more than was missed can seem to be. */
static int start_event(struct profile *p, struct run *run)
{
	struct profile_samples gained;
	const struct counters *c = &p->event.counters;
	int err = sampled_event__start(&p->event, program_of(p), &run->scope);
	size_t i;

	for (i = 0; i < c->n && !err; i++)
		err = throttled__watch(&p->throttled, c->counter[i].fd, c->counter[i].cpu,
				       run->watch_fd);
	if (!err)
		err = take_seen(p, run, &gained);
	return err ?: sampled_event__count(&p->event, &p->counted);
}

static int attach(struct profile *p, struct run *run)
{
	int err = stacks__begin(&p->stacks, run);

	if (!err && p->annotate)
		annotate__begin(&p->stacks);
	if (!err)
		err = profile_bpf__attach(p->bpf);
	if (err)
		diag_error("cannot attach: %s", strerror(-err));
	throttled__begin(&p->throttled);
	if (!err)
		err = p->typed ? start_event(p, run) : start_clock(p, run);
	if (!err && p->live)
		err = start_screen(p, run);
	if (!err)
		p->bpf->bss->armed = 1;
	return err;
}

static int find_source(struct profile *p)
{
	int err;

	if (!p->typed && p->sampler.period_ns) {
		snprintf(p->source, sizeof(p->source),
			 "cpu-clock, every %llu ns on each CPU (a timer; no hardware counter is used)",
			 p->sampler.period_ns);
		return 0;
	}
	if (!p->typed) {
		snprintf(p->source, sizeof(p->source),
			 "cpu-clock, %llu times a second on each CPU (a timer; no hardware counter is used)",
			 p->sampler.hz);
		return 0;
	}
	err = sampled_event__find(&p->event, p->typed, DEFAULT_HZ);
	if (err)
		return err;
	if (p->annotate && p->event.is_tracepoint) {
		diag_error("--annotate: a tracepoint is one place in the kernel; stackcount(1) shows "
			   "who gets there");
		return -EINVAL;
	}
	sampled_event__describe(&p->event, p->source, sizeof(p->source));
	p->stacks.at_tracepoints = p->event.is_tracepoint;
	return 0;
}

static int measure(struct profile *p, struct run *run)
{
	int err = find_source(p);

	if (!err)
		err = load(p, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, p->bpf->obj, p->source);
	} else if (!err) {
		err = attach(p, run);
		if (!err)
			err = run__loop(run);
	}
	screen__close(&p->screen);
	throttled__close(&p->throttled);
	sampler__free(&p->sampler);
	sampled_event__free(&p->event);
	stacks__free(&p->stacks);
	profile_bpf__destroy(p->bpf);
	return err;
}

static int profile(int argc, char **argv)
{
	static const struct argp_option options[] = {
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
	static const struct argp_child children[] = { { &stack_options_argp, 0, NULL, 0 }, {} };
	static const struct argp own = {
		.options = options, .parser = parse_own, .children = children};
	struct profile p = { .options = STACK_OPTIONS };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Where CPU time goes, or another event comes from: samples of what "
		       "runs on each CPU, by stack.\n" STACK_FORMATS_DOC,
		.own = &own,
		.own_input = &p,
		.own_keys = true,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (check_options(&p, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	cli.scope.command_joins_at_exec = true;
	err = run__init(&run, "profile", &cli);
	run.report = report;
	run.watch = watch;
	run.context = &p;
	if (!err)
		err = measure(&p, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(profile, AREA_SCHEDULER, "where CPU time goes: stacks, flame graphs");
