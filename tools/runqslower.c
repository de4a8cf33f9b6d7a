// SPDX-License-Identifier: BSD-2-Clause
/* runqslower: each long wait for a CPU, and who had it. The measurement is bpf/runqslower.bpf.c. */
#include <errno.h>
#include <string.h>

#include "base/numbers.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/lines.h"
#include "run/waits.h"
#include "tools.h"

#include "bpf/switches.h"
#include "runqslower.skel.h"

enum {
	KEY_SOURCE = 0x1000,
	KEY_MIN,
};

#define DEFAULT_MIN (10 * NSEC_PER_MSEC)

static const char *const field_names[] = { "wait", "prev_comm", "prev_pid", "prev_tid" };

struct runqslower {
	int source;             /* enum wait_source or WAIT_SOURCE_AUTO */
	u64 min_ns;
	struct runqslower_bpf *bpf;
	struct lines lines;
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
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static int show(void *context, const void *record, size_t size)
{
	const struct switches_record *r = record;
	struct runqslower *s = context;
	char comm[sizeof(r->task.comm) + 1] = "", prev[sizeof(r->other.comm) + 1] = "";
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		{ .field = { .name = field_names[0], .number = r->wait_ns, .kind = FIELD_TIME } },
		{ .field = { .name = field_names[1], .text = prev } },
		{ .field = { .name = field_names[2], .number = r->other.pid, .kind = FIELD_ID } },
		{ .field = { .name = field_names[3], .number = r->other.tid, .kind = FIELD_ID } },
	};
	struct stream_line line = {
		.time_ns = r->time_ns,
		.comm = comm, .pid = r->task.pid, .tid = r->task.tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->task.comm, sizeof(r->task.comm));
	memcpy(prev, r->other.comm, sizeof(r->other.comm));
	return lines__write(&s->lines, &line);
}

static int watch(struct run *run)
{
	struct runqslower *s = run->context;

	return lines__drain(&s->lines);
}

static int report(struct run *run, struct report *r)
{
	struct runqslower *s = run->context;

	r->value = "waits for a CPU";
	r->source = wait_sources[s->source].text;
	r->caveat = wait_sources[s->source].caveat;
	return lines__report(&s->lines, r);
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
		err = lines__prepare(&s->lines, run, bpf->obj, &bpf->rodata->wake_bytes);
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
		err = lines__begin(&s->lines, run, sizeof(struct switches_record), show, s);
	if (!err)
		err = runqslower_bpf__attach(s->bpf);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	if (tasks__visit(s->bpf->progs.seed_states))
		diag_detail("no task iterator: a task's first wait may be too short");
	run->watch = watch;
	s->bpf->bss->armed = 1;
	return 0;
}

static int measure(struct runqslower *s, struct run *run)
{
	int err = waits__load(run, &s->source, load, s);

	if (!err && run->cli->explain) {
		err = run__explain(run, s->bpf->obj, wait_sources[s->source].text);
	} else if (!err) {
		err = attach(s, run);
		if (!err)
			err = run__loop(run);
	}
	runqslower_bpf__destroy(s->bpf);
	return err;
}

static int runqslower(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "min", KEY_MIN, "TIME", 0, "Waits of at least so long (default: 10ms)", 0 },
		{ "source", KEY_SOURCE, "NAME", 0,
		  "auto (default), accounting (cheapest) or wakeup (sees waits under 2 us)", 0 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct runqslower s = { .source = WAIT_SOURCE_AUTO, .min_ns = DEFAULT_MIN };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_TIMES |
			  CLI_LINES,
		.doc = "Each wait for a CPU that was a long one, and who had the CPU before.",
		.own = &own,
		.own_input = &s,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (lines__init(&s.lines, &cli, field_names, ARRAY_SIZE(field_names))) {
		lines__free(&s.lines);
		cli__free(&cli);
		return EXIT_USAGE;
	}
	err = run__init(&run, "runqslower", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = measure(&s, &run);
	lines__free(&s.lines);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(runqslower, AREA_SCHEDULER, "each long wait for a CPU, and who had it");
