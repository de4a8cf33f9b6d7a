// SPDX-License-Identifier: BSD-2-Clause
/* filetop: reads and writes of files, file by file. The measurement is bpf/filetop.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agg/loss.h"
#include "cli/task_key.h"
#include "files/calls.h"
#include "files/name.h"
#include "files/sums.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "run/ring.h"
#include "tools.h"

#include "bpf/filetop.h"
#include "filetop.skel.h"

#define KEY_ORDER 0x1000

/* An element for each key and CPU that it is seen on. */
#define CPUS_PER_KEY 8

/* Of people, who see the largest at the top; programs are given all. */
#define DEFAULT_TOP 20

struct filetop {
	struct file_options options;
	const char *order;              /* a cell's name; NULL: by key */
	struct filetop_bpf *bpf;
	struct ring *ring;
	struct file_names names;
	struct file_sums_set before;
	struct loss_counters losses_before;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_order(struct filetop *s, const char *arg)
{
	static const char *const orders[] = {
		"bytes", "time", "reads", "writes", "read_bytes", "write_bytes", "read_time",
		"write_time", "failed",
	};
	size_t i;

	s->order = NULL;
	if (!strcmp(arg, "key"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(orders); i++)
		if (!strcmp(arg, orders[i]))
			s->order = orders[i];
	if (s->order)
		return 0;
	diag_error("--sort: no column '%s'; there are bytes, time, reads, writes, read_bytes, "
		   "write_bytes, read_time, write_time, failed, key", arg);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct filetop *s = state->input;

	if (key == KEY_ORDER)
		return parse_order(s, arg);
	return file_options__parse(&s->options, key, arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int read_interval(struct filetop *s, struct file_sums_set *set, struct loss_counters *losses)
{
	struct loss_counters losses_now;
	struct file_sums_set now;
	int err;

	err = loss__read(&losses_now, bpf_map__fd(s->bpf->maps.losses), s->bpf->obj);
	if (!err)
		err = file_sums__read(&now, bpf_map__fd(s->bpf->maps.sums));
	if (err)
		return err;
	err = file_sums__difference(set, &now, &s->before);
	if (err) {
		file_sums__free(&now);
		return err;
	}
	*losses = loss__difference(&losses_now, &s->losses_before);
	file_sums__free(&s->before);
	s->before = now;
	s->losses_before = losses_now;
	return 0;
}

static int add_number(struct report_row *row, const char *name, u64 n, enum field_kind kind,
		      bool machine)
{
	const struct field f = { .name = name, .number = n, .kind = kind, .machine = machine };

	return report_row__add_field(row, &f);
}

static int add_key(struct report_row *row, const struct file_sums *e, const struct cli *cli,
		   struct task_key_names *names)
{
	const struct filetop_key *k = &e->key;
	char text[32];
	int err = 0;

	if (cli->by & BY_FILE) {
		snprintf(text, sizeof(text), "%u:%u", k->id.device >> 20,
			 k->id.device & ((1U << 20) - 1));
		err = report_row__add_text(row, "dev", text);
		if (!err)
			err = add_number(row, "inode", k->id.inode, FIELD_ID, false);
	}
	if (!err && cli->by & BY_FILE_FS) {
		snprintf(text, sizeof(text), "%.*s", FILE_FS_LEN, k->fs);
		err = report_row__add_text(row, "fs", text);
	}
	return err ?: task_key__add_fields(row, &k->task, e->sums.name, cli->by, names);
}

static int add_figures(struct report_row *row, const struct filetop_sums *s)
{
	int err;

	err = add_number(row, "reads", s->read.calls, FIELD_NUMBER, false);
	if (!err)
		err = add_number(row, "writes", s->written.calls, FIELD_NUMBER, false);
	if (!err)
		err = add_number(row, "read_bytes", s->read.bytes, FIELD_NUMBER, false);
	if (!err)
		err = add_number(row, "write_bytes", s->written.bytes, FIELD_NUMBER, false);
	if (!err)
		err = add_number(row, "read_time", s->read.ns, FIELD_TIME, false);
	if (!err)
		err = add_number(row, "write_time", s->written.ns, FIELD_TIME, false);
	if (!err)
		err = add_number(row, "failed", s->failed, FIELD_NUMBER, false);
	if (!err)
		err = add_number(row, "bytes", s->read.bytes + s->written.bytes, FIELD_NUMBER,
				 true);
	return err ?: add_number(row, "time", s->read.ns + s->written.ns, FIELD_TIME, true);
}

static int fill_row(struct filetop *s, const struct cli *cli, const struct file_sums *e,
		    struct task_key_names *names, struct report *r, size_t *nkeys)
{
	struct report_row row = {};
	int err = add_key(&row, e, cli, names);

	*nkeys = row.ncells;
	if (!err)
		err = add_figures(&row, &e->sums);
	if (!err && cli->by & BY_FILE)
		err = report_row__add_text(&row, "path",
					   file_names__find(&s->names, &e->key.id) ?: "?");
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static int fill_rows(struct filetop *s, struct run *run, struct report *r,
		     const struct file_sums_set *set)
{
	struct task_key_names names = { .hierarchy = run->scope.hierarchy };
	const struct cli *cli = run->cli;
	size_t i, nkeys = 0;
	int err = 0;

	for (i = 0; i < set->n && !err; i++) {
		r->events += file_sums__calls(&set->sums[i].sums);
		err = fill_row(s, cli, &set->sums[i], &names, r, &nkeys);
	}
	task_key_names__free(&names);
	report__sort_rows(r, s->order, nkeys,
			  cli->top ?: cli->format == FORMAT_TEXT ? DEFAULT_TOP : 0);
	return err;
}

static int report(struct run *run, struct report *r)
{
	struct filetop *s = run->context;
	struct file_sums_set set;
	int err;

	r->value = "reads and writes";
	r->table = true;
	r->has_events = true;
	r->source = file_calls_source;
	r->caveat = file_calls_caveat;
	err = read_interval(s, &set, &r->counters);
	/* Names are sent after their sums are there: what was sent meanwhile is wanted, too. */
	if (!err)
		err = ring__drain(s->ring);
	if (err)
		return err;
	err = fill_rows(s, run, r, &set);
	file_sums__free(&set);
	return err;
}

/*
 * --- names -------------------------------------------------------------------------------------
 */

static int take_name(void *context, const void *record, size_t size)
{
	const struct filetop_name *n = record;
	struct filetop *s = context;
	char *path;

	path = file_name__path(&n->name, size - offsetof(struct filetop_name, name));
	/* eventfd, epoll and their like share one inode: the name is that of one of them. */
	if (path && !n->name.mode)
		path[strcspn(path, ":")] = 0;
	return file_names__add(&s->names, &n->id, path);
}

static int watch(struct run *run)
{
	struct filetop *s = run->context;

	return ring__drain(s->ring);
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int configure(struct filetop *s, struct run *run)
{
	struct filetop_bpf *bpf = s->bpf;
	u64 cpus = run->host.cpus_online < CPUS_PER_KEY ? run->host.cpus_online : CPUS_PER_KEY;
	bool storage = false;
	int err;

	memcpy((void *)&bpf->rodata->scope, &run->scope, sizeof(run->scope));
	bpf->rodata->by = run->cli->by;
	bpf->rodata->want_ids = run->cli->by & BY_FILE;
	bpf->rodata->want_fs = run->cli->by & BY_FILE_FS;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	err = scope__prepare(bpf->obj, &run->scope, &run->cli->scope);
	if (!err)
		err = map__set_room(bpf->maps.sums, &run->host, cpus * run->cli->max_keys);
	if (!err)
		err = ring__prepare(bpf->maps.records, &run->host, &bpf->rodata->wake_bytes);
	if (!err)
		err = file_calls__prepare(bpf->obj, &run->host, &s->options,
					  bpf->rodata->file_calls, &storage);
	bpf->rodata->have_task_storage = storage;
	return err;
}

static int attach(struct filetop *s, struct run *run)
{
	struct filetop_bpf *bpf = s->bpf;
	int err;

	run__describe_memory(run, bpf->obj);
	err = scope__fill(bpf->obj, &run->cli->scope);
	if (!err)
		err = ring__open(&s->ring, bpf->maps.records,
				 offsetof(struct filetop_name, name.names), &run->writer, take_name,
				 s);
	if (!err)
		err = filetop_bpf__attach(bpf);
	if (err) {
		diag_error("cannot attach to the tracepoints of system calls: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	run->watch_fd = ring__fd(s->ring);
	run->watch = watch;
	bpf->bss->armed = 1;
	return 0;
}

static int measure(struct filetop *s, struct run *run)
{
	int err;

	s->bpf = filetop_bpf__open();
	if (!s->bpf)
		return -errno;
	err = configure(s, run);
	if (!err && run->cli->explain)
		return run__explain(run, s->bpf->obj, file_calls_source);
	if (!err)
		err = filetop_bpf__load(s->bpf);
	if (err) {
		diag_error("this kernel cannot load the programs; -v shows why");
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	err = attach(s, run);
	return err ?: run__loop(run);
}

static int filetop(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "sort", KEY_ORDER, "COL", 0,
		  "Order by bytes (default), time, reads, writes, read_bytes, write_bytes, "
		  "read_time, write_time, failed or key", 5 },
		FILE_OPTION_FS, FILE_OPTION_ALL_KINDS, {},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	static const char *const names[] = { "file", "fs" };
	static const struct own_parts parts = {
		.name = names, .n = ARRAY_SIZE(names), .text = "file, fs",
	};
	struct filetop s = {
		.options = { .ops = 1 << FILE_READ | 1 << FILE_WRITE }, .order = "bytes",
	};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Reads and writes of files, file by file: calls, bytes, time.",
		.own = &own,
		.own_input = &s,
		.own_parts = &parts,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (!cli.by)
		cli.by = BY_FILE;
	err = run__init(&run, "filetop", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = measure(&s, &run);
	ring__close(s.ring);
	file_names__free(&s.names);
	file_sums__free(&s.before);
	filetop_bpf__destroy(s.bpf);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(filetop, AREA_FILES, "reads and writes of files: calls, bytes, time, file by file");
