// SPDX-License-Identifier: BSD-2-Clause
/* probe: the distribution of a value of an event. The measurement is bpf/probe.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/attach.h"
#include "event/typed.h"
#include "expr/expr.h"
#include "jit/filter.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "tools.h"

#include "bpf/probe.h"
#include "probe.skel.h"

#define KEY_HIST 0x1000

/* What is compiled for each site: its fields decide what the names mean. */
struct site_code {
	struct code filter, value;
};

struct probe {
	const char *hist;               /* the expression of --hist */
	struct events events;
	const char **text;              /* of each event, the -e it came from */
	struct event_sites sites;
	struct site_code *code;
	struct attach_code *bodies;
	u32 *slot;                      /* all zero: nothing tells sites apart yet */
	struct probe_bpf *bpf;
	struct attachments attachments;
	struct measure measure;
	char source[256];
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct probe *p = state->input;

	if (key != KEY_HIST)
		return ARGP_ERR_UNKNOWN;
	p->hist = arg;
	return 0;
}

/* --- events and expressions -------------------------------------------------------------------- */

static int check_site(const struct probe *p, const struct event_site *site)
{
	const char *text = p->text[site->event - p->events.event];
	struct complaint c = {};

	if (!site->tracepoint_id) {
		complain(&c, 0, site->event->at, site->event->len, "%s is no tracepoint, and values of other "
			 "events cannot be had yet", site->name);
		complain_hint(&c, 0, "`stat -e %s` counts it", site->name);
		diag_complaint("-e", text, &c);
		return -EOPNOTSUPP;
	}
	if (!tracepoint_has_task(site->name))
		return 0;
	complain(&c, 0, site->event->at, site->event->len, "%s is about another task than the one that runs, "
		 "whose scope and keys its record cannot tell", site->name);
	diag_complaint("-e", text, &c);
	return -EOPNOTSUPP;
}

static int find_events(struct probe *p, const struct cli *cli)
{
	const struct event_context ctx = { .binary = cli->binary };
	struct complaint c = {};
	size_t which = 0, i;
	int err = 0;

	for (i = 0; i < cli->nevents && !err; i++)
		err = events__take(&p->events, &p->text, &ctx, cli->events[i]);
	if (err)
		return err;
	err = events__resolve(&p->sites, &p->events, &ctx, &c, &which);
	if (err)
		diag_complaint("-e", p->text[which], &c);
	for (i = 0; i < p->sites.n && !err; i++)
		err = check_site(p, &p->sites.site[i]);
	return err;
}

static int parse(struct expr **e, const char *option, const char *text)
{
	struct complaint c = {};
	int err = expr__parse(e, text, &c);

	if (err)
		diag_complaint(option, text, &c);
	return err;
}

static int compile_site(struct probe *p, size_t i, const struct cli *cli, const struct expr *filter,
			const struct expr *value, const struct tracepoint_format *format)
{
	const char *name = p->sites.site[i].name;
	struct site_code *code = &p->code[i];
	struct complaint c = {};
	int err;

	err = filter ? filter__compile(&code->filter, filter, format, name, &c) :
		       filter__accept(&code->filter);
	if (err) {
		diag_complaint("--filter", cli->filter, &c);
		return err;
	}
	err = value__compile(&code->value, value, format, name, &c);
	if (err) {
		diag_complaint("--hist", p->hist, &c);
		return err;
	}
	p->bodies[i] = (struct attach_code){ { code->filter.insn, code->filter.n },
					     { code->value.insn, code->value.n } };
	return 0;
}

static int compile(struct probe *p, const struct cli *cli)
{
	struct expr *filter = NULL, *value = NULL;
	struct tracepoint_format format;
	int tracefs = -1, err = 0;
	size_t i;

	p->code = calloc(p->sites.n, sizeof(*p->code));
	p->bodies = calloc(p->sites.n, sizeof(*p->bodies));
	p->slot = calloc(p->sites.n, sizeof(*p->slot));
	if (!p->code || !p->bodies || !p->slot)
		return -ENOMEM;
	if (cli->filter)
		err = parse(&filter, "--filter", cli->filter);
	if (!err)
		err = parse(&value, "--hist", p->hist);
	if (!err)
		tracefs = tracefs__open();
	for (i = 0; i < p->sites.n && !err; i++) {
		err = event_site__read_format(&format, &p->sites.site[i], tracefs);
		if (err) {
			diag_error("the fields of %s cannot be read: %s", p->sites.site[i].name,
				   strerror(-err));
			break;
		}
		err = compile_site(p, i, cli, filter, value, &format);
		tracepoint_format__free(&format);
	}
	if (tracefs >= 0)
		close(tracefs);
	expr__free(filter);
	expr__free(value);
	return err;
}

/* --- the course -------------------------------------------------------------------------------- */

static struct attach_programs templates(const struct probe *p)
{
	return (struct attach_programs){ .filtered_tracepoint = p->bpf->progs.on_tracepoint };
}

static int load(struct probe *p, struct run *run)
{
	struct attach_programs programs;
	int err;

	p->bpf = probe_bpf__open();
	if (!p->bpf)
		return -errno;
	programs = templates(p);
	err = attach__plan(&p->attachments, &p->sites, p->bodies, &programs);
	if (!err)
		err = measure__prepare(&p->measure, run, p->bpf->obj, "values",
				       sizeof(struct probe_key), &p->bpf->rodata->scope,
				       &p->bpf->rodata->by);
	if (!err && !run->cli->explain)
		err = probe_bpf__load(p->bpf);
	if (!err)
		return 0;
	diag_error("this kernel cannot load the programs: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

/* Programs that keep the scope up to date; those of the events are attached one by one. */
static int attach_scope(struct probe *p)
{
	bpf_program__set_autoattach(p->bpf->progs.on_tracepoint, false);
	return probe_bpf__attach(p->bpf);
}

static int attach(struct probe *p, struct run *run)
{
	struct attach_programs programs = templates(p);
	struct complaint c = {};
	size_t which = 0;
	int err;

	err = measure__begin(&p->measure, run, "values");
	if (!err)
		err = attach_scope(p);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return -EOPNOTSUPP;
	}
	err = attach__sites(&p->attachments, &p->sites, p->slot, &programs, &c, &which);
	if (err) {
		diag_complaint("-e", p->text[p->sites.site[which].event - p->events.event], &c);
		return err;
	}
	p->bpf->bss->armed = 1;
	attach__describe(&p->attachments, p->source, sizeof(p->source));
	return 0;
}

static int report(struct run *run, struct report *r)
{
	struct probe *p = run->context;

	r->value = p->hist;
	r->unit = UNIT_COUNT;
	r->source = p->source;
	return measure__report(&p->measure, run, r);
}

static int measure(struct probe *p, struct run *run)
{
	int err = find_events(p, run->cli);

	if (!err)
		err = compile(p, run->cli);
	if (!err)
		err = load(p, run);
	if (err)
		return err;
	if (run->cli->explain)
		return run__explain(run, p->bpf->obj, "the records of tracepoints");
	err = attach(p, run);
	return err ?: run__loop(run);
}

static void probe__free(struct probe *p)
{
	size_t i;

	measure__free(&p->measure);
	attach__release(&p->attachments);
	probe_bpf__destroy(p->bpf);
	for (i = 0; p->code && i < p->sites.n; i++) {
		code__free(&p->code[i].filter);
		code__free(&p->code[i].value);
	}
	event_sites__free(&p->sites);
	events__free(&p->events);
	free(p->text);
	free(p->code);
	free(p->bodies);
	free(p->slot);
}

static int check_options(const struct probe *p, const struct cli *cli)
{
	if (!cli->nevents) {
		diag_error("no event is named");
		diag_hint("as in: probe -e syscalls:sys_enter_read --hist count");
		return -EINVAL;
	}
	if (!p->hist) {
		diag_error("nothing is measured: --hist EXPR is missing");
		diag_hint("`list -v %s` shows the fields; `stat -e %s` counts", cli->events[0],
			  cli->events[0]);
		return -EINVAL;
	}
	return 0;
}

static int probe(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "hist", KEY_HIST, "EXPR", 0, "Distribution of this value of the event's fields", 0 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct probe p = {};
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | CLI_EVENTS,
		.doc = "The distribution of a value of tracepoints: a field, or an expression of fields.",
		.own = &own,
		.own_input = &p,
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
	err = run__init(&run, "probe", &cli);
	run.report = report;
	run.context = &p;
	if (!err)
		err = measure(&p, &run);
	probe__free(&p);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(probe, AREA_EVENTS, "how a value of an event is distributed");
