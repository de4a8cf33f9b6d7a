// SPDX-License-Identifier: BSD-2-Clause
/* fsdist: how long reads, writes, opens and fsyncs of files take. See bpf/fsdist.bpf.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/task_key.h"
#include "files/calls.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "tools.h"

#include "bpf/fsdist.h"
#include "fsdist.skel.h"

struct fsdist {
	struct file_options options;
	struct fsdist_bpf *bpf;
	struct measure measure;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct fsdist *s = state->input;

	return file_options__parse(&s->options, key, arg);
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct fsdist_own *key = own;
	u32 op = key->op & ~FSDIST_FAILED;
	char text[32];
	int err;

	(void)context;
	snprintf(text, sizeof(text), "%s%s", op < FILE_OPS ? file_op_names[op] : "?",
		 key->op & FSDIST_FAILED ? " failed" : "");
	err = report_row__add_text(row, "op", text);
	if (err || !(by & BY_FILE_FS))
		return err;
	snprintf(text, sizeof(text), "%.*s", FILE_FS_LEN, key->fs[0] ? key->fs : "-");
	return report_row__add_text(row, "fs", text);
}

static int report(struct run *run, struct report *r)
{
	struct fsdist *s = run->context;

	r->value = "time of calls";
	r->unit = UNIT_NS;
	r->source = file_calls_source;
	r->caveat = file_calls_caveat;
	return measure__report(&s->measure, run, r);
}

static int configure(struct fsdist *s, struct run *run)
{
	struct fsdist_bpf *bpf = s->bpf;
	bool storage = false;
	int err;

	err = measure__prepare(&s->measure, run, bpf->obj, "calls", sizeof(struct fsdist_key),
			       &bpf->rodata->scope, &bpf->rodata->by);
	if (!err)
		err = file_calls__prepare(bpf->obj, &run->host, &s->options,
					  bpf->rodata->file_calls, &storage);
	bpf->rodata->have_task_storage = storage;
	bpf->rodata->want_fs = run->cli->by & BY_FILE_FS;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	return err;
}

static int measure(struct fsdist *s, struct run *run)
{
	int err;

	s->bpf = fsdist_bpf__open();
	if (!s->bpf)
		return -errno;
	err = configure(s, run);
	if (!err && run->cli->explain)
		return run__explain(run, s->bpf->obj, file_calls_source);
	if (!err)
		err = fsdist_bpf__load(s->bpf);
	if (!err)
		err = measure__begin(&s->measure, run, "calls");
	if (!err)
		err = fsdist_bpf__attach(s->bpf);
	if (err) {
		diag_error("cannot attach to the tracepoints of system calls: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	s->bpf->bss->armed = 1;
	return run__loop(run);
}

static int fsdist(int argc, char **argv)
{
	static const struct argp_option options[] = {
		FILE_OPTION_FS, FILE_OPTION_OPS, FILE_OPTION_ALL_KINDS, {},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	static const char *const names[] = { "op", "fs" };
	static const struct own_parts parts = {
		.name = names, .n = ARRAY_SIZE(names), .text = "op, fs", .add = add_parts,
	};
	struct fsdist s = { .options = { .ops = ~0U } };
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long reads, writes, opens and fsyncs of files take.",
		.own = &own,
		.own_input = &s,
		.own_parts = &parts,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	cli.by |= BY_FILE_OP;
	err = run__init(&run, "fsdist", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = measure(&s, &run);
	measure__free(&s.measure);
	fsdist_bpf__destroy(s.bpf);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(fsdist, AREA_FILES, "how long reads, writes, opens and fsyncs of files take");
