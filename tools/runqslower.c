// SPDX-License-Identifier: BSD-2-Clause
/* runqslower: each long wait for a CPU, and who had it. The measurement is bpf/runqslower.bpf.c. */
#include <errno.h>
#include <string.h>

#include "agg/loss.h"
#include "base/numbers.h"
#include "out/diag.h"
#include "out/stream.h"
#include "run/explain.h"
#include "run/run.h"
#include "run/waits.h"
#include "sched/feed.h"
#include "tools.h"

#include "bpf/switches.h"
#include "runqslower.skel.h"

enum {
	KEY_SOURCE = 0x1000,
	KEY_MIN,
	KEY_TEMPLATE,
};

#define DEFAULT_MIN (10 * NSEC_PER_MSEC)

static const char *const field_names[] = { "wait", "prev_comm", "prev_pid", "prev_tid" };

struct runqslower {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	u64 min_ns;
	const char *template_text;
	struct stream_template template;
	struct runqslower_bpf *bpf;
	struct feed *feed;
	u64 to_wall_clock;
	u64 shown;              /* since the last report */
	struct loss_counters losses_before;
	struct writer *writer;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_min(struct runqslower *s, const char *arg)
{
	if (!parse_duration(arg, NSEC_PER_MSEC, &s->min_ns))
		return 0;
	diag_error("--min: '%s' is no time; as in 10ms, 500us", arg);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqslower *s = state->input;

	switch (key) {
	case KEY_SOURCE:
		return wait_source__parse(arg, &s->source) ? EINVAL : 0;
	case KEY_MIN:
		return parse_min(s, arg);
	case KEY_TEMPLATE:
		s->template_text = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int parse_template(struct runqslower *s)
{
	struct complaint c = {};
	int err;

	if (!s->template_text)
		return 0;
	err = stream_template__parse(&s->template, s->template_text, field_names,
				     ARRAY_SIZE(field_names), &c);
	if (err)
		diag_complaint("--template", s->template_text, &c);
	return err;
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static int show(void *context, const struct switches_record *r)
{
	struct runqslower *s = context;
	char comm[sizeof(r->task.comm) + 1] = "", prev[sizeof(r->other.comm) + 1] = "";
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		{ .field = { .name = field_names[0], .number = r->wait_ns, .kind = FIELD_TIME } },
		{ .field = { .name = field_names[1], .text = prev } },
		{ .field = { .name = field_names[2], .number = r->other.pid, .kind = FIELD_ID } },
		{ .field = { .name = field_names[3], .number = r->other.tid, .kind = FIELD_ID } },
	};
	const struct stream_line line = {
		.time_ns = r->time_ns + s->to_wall_clock,
		.comm = comm, .pid = r->task.pid, .tid = r->task.tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	memcpy(comm, r->task.comm, sizeof(r->task.comm));
	memcpy(prev, r->other.comm, sizeof(r->other.comm));
	s->shown++;
	return stream__write_line(s->writer, s->template_text ? &s->template : NULL, &line);
}

static int watch(struct run *run)
{
	struct runqslower *s = run->context;

	s->to_wall_clock = feed__to_wall_clock();
	return feed__drain(s->feed);
}

static int report(struct run *run, struct report *r)
{
	struct runqslower *s = run->context;
	struct loss_counters now;
	int err = loss__read(&now, bpf_map__fd(s->bpf->maps.losses), s->bpf->obj);

	if (err)
		return err;
	r->value = "waits for a CPU";
	r->table = true;
	r->source = wait_sources[s->source].text;
	r->caveat = wait_sources[s->source].caveat;
	r->has_events = true;
	r->events = s->shown;
	r->counters = loss__difference(&now, &s->losses_before);
	s->losses_before = now;
	s->shown = 0;
	return 0;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int configure(struct runqslower *s, struct run *run, enum wait_source source)
{
	struct runqslower_bpf *bpf = s->bpf;
	bool storage = false, prev_state = false;
	int err;

	memcpy((void *)&bpf->rodata->scope, &run->scope, sizeof(run->scope));
	bpf->rodata->min_ns = s->min_ns;
	err = scope__prepare(bpf->obj, &run->scope, &run->cli->scope);
	if (!err)
		err = feed__prepare(bpf->maps.records, &run->host, &bpf->rodata->wake_bytes);
	if (!err)
		err = waits__prepare(bpf->obj, &run->host, source, &prev_state, &storage);
	bpf->rodata->have_prev_state = prev_state;
	bpf->rodata->have_task_storage = storage;
	return err;
}

static int load(void *context, struct run *run, enum wait_source source)
{
	struct runqslower *s = context;
	int err;

	s->bpf = runqslower_bpf__open();
	if (!s->bpf)
		return -errno;
	err = configure(s, run, source);
	if (!err && !run->cli->explain)
		err = runqslower_bpf__load(s->bpf);
	if (err) {
		runqslower_bpf__destroy(s->bpf);
		s->bpf = NULL;
	}
	return err;
}

static int attach(struct runqslower *s, struct run *run)
{
	int err;

	bpf_program__set_autoattach(s->bpf->progs.seed_states, false);
	run__describe_memory(run, s->bpf->obj);
	err = scope__fill(s->bpf->obj, &run->cli->scope);
	if (!err)
		err = feed__open(&s->feed, s->bpf->maps.records, &run->writer, show, s);
	if (!err)
		err = runqslower_bpf__attach(s->bpf);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	if (tasks__visit(s->bpf->progs.seed_states))
		diag_detail("no task iterator: a task's first wait may be too short");
	run->watch = watch;
	run->watch_fd = feed__fd(s->feed);
	s->bpf->bss->armed = 1;
	return 0;
}

static int measure(struct runqslower *s, struct run *run)
{
	int err = waits__load(run, &s->source, load, s);

	if (!err && run->cli->explain) {
		err = run__explain(run, s->bpf->obj, wait_sources[s->source].text);
	} else if (!err) {
		s->writer = &run->writer;
		err = attach(s, run);
		if (!err)
			err = run__loop(run);
	}
	feed__close(s->feed);
	runqslower_bpf__destroy(s->bpf);
	return err;
}

static int runqslower(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "min", KEY_MIN, "TIME", 0, "Waits of at least so long (default: 10ms)", 0 },
		{ "source", KEY_SOURCE, "NAME", 0,
		  "auto (default), accounting (cheapest) or wakeup (sees waits under 2 us)", 0 },
		{ "template", KEY_TEMPLATE, "TEXT", 0,
		  "How a line looks: '{time} {comm} {wait}'", 0 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct runqslower s = { .source = WAIT_SOURCE_AUTO, .min_ns = DEFAULT_MIN };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_TIMES,
		.doc = "Each wait for a CPU that was a long one, and who had the CPU before.",
		.own = &own,
		.own_input = &s,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	err = parse_template(&s);
	if (err) {
		stream_template__free(&s.template);
		cli__free(&cli);
		return EXIT_USAGE;
	}
	err = run__init(&run, "runqslower", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = measure(&s, &run);
	run__release(&run);
	stream_template__free(&s.template);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(runqslower, AREA_SCHEDULER, "each long wait for a CPU, and who had it");
