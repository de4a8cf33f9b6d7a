// SPDX-License-Identifier: BSD-2-Clause
/* filetop: reads and writes of files, file by file. The measurement is bpf/files/filetop.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agg/loss.h"
#include "agg/sum_set.h"
#include "base/clock.h"
#include "cli/order.h"
#include "cli/task_key.h"
#include "files/calls.h"
#include "files/mounts.h"
#include "files/name.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "run/ring.h"
#include "tools.h"

#include "bpf/files/filetop.h"
#include "filetop.skel.h"

SKELETON(filetop);

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
	struct sum_set before;
	struct loss_counters losses_before;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	static const char *const orders[] = {
		"bytes", "time", "reads", "writes", "read_bytes", "write_bytes", "read_time",
		"write_time", "failed",
	};
	struct filetop *s = state->input;

	if (key == KEY_ORDER)
		return order__parse(&s->order, orders, ARRAY_SIZE(orders), arg);
	return file_options__parse(&s->options, key, arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* An element of the map, the CPUs of its key added up. */
struct file_sums {
	struct filetop_key key;
	struct filetop_sums sums;
};

static const struct sum_layout layout = {
	.key_size = sizeof(struct filetop_key), .value_size = sizeof(struct filetop_sums),
	.writer_at = offsetof(struct filetop_key, writer),
	.nsums = offsetof(struct filetop_sums, name_stamp) / sizeof(u64), .named = true,
};

/* Everything counted, what failed included. */
static u64 calls(const struct filetop_sums *s)
{
	return s->read.calls + s->written.calls + s->failed;
}

static int read_interval(struct filetop *s, struct sum_set *set, struct loss_counters *losses)
{
	int err = loss__since(losses, &s->losses_before, bpf_map__fd(s->bpf->maps.losses),
			      s->bpf->obj);

	return err ?: sum_set__since(set, &s->before, &layout, bpf_map__fd(s->bpf->maps.sums),
				    &s->bpf->bss->writer_generation);
}

static int add_key(struct report_row *row, const struct filetop *s, const struct file_sums *e,
		   const struct cli *cli, struct task_key_names *names)
{
	const struct filetop_key *k = &e->key;
	char text[32];
	int err = 0;

	if (cli->by & BY_FILE) {
		snprintf(text, sizeof(text), "%u:%u", k->id.device >> 20,
			 k->id.device & ((1U << 20) - 1));
		err = report_row__add_text(row, "dev", text);
		if (!err)
			err = report_row__add_number(row, "inode", k->id.inode, FIELD_ID);
	}
	if (!err && cli->by & BY_FILE_FS) {
		snprintf(text, sizeof(text), "%.*s", FILE_FS_LEN, k->fs);
		err = report_row__add_text(row, "fs", text);
	}
	if (!err && cli->by & BY_FILE_MOUNT)
		err = report_row__add_mount(row, s->bpf->maps.mounts, &k->mount);
	return err ?: task_key__add_fields(row, &k->task, e->sums.name, cli->by, names);
}

static int add_figures(struct report_row *row, const struct filetop_sums *s)
{
	u64 bytes = s->read.bytes + s->written.bytes, ns = s->read.ns + s->written.ns;
	const struct field figures[] = {
		{ .name = "reads", .number = s->read.calls, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "writes", .number = s->written.calls, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "read_bytes", .number = s->read.bytes, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "write_bytes", .number = s->written.bytes, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "read_time", .number = s->read.ns, .kind = FIELD_TIME, .adds_up = true },
		{ .name = "write_time", .number = s->written.ns, .kind = FIELD_TIME, .adds_up = true },
		{ .name = "failed", .number = s->failed, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "bytes", .number = bytes, .kind = FIELD_NUMBER, .adds_up = true,
		  .machine = true },
		{ .name = "time", .number = ns, .kind = FIELD_TIME, .adds_up = true, .machine = true },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int fill_row(struct filetop *s, const struct cli *cli, const struct file_sums *e,
		    struct task_key_names *names, struct report *r, size_t *nkeys)
{
	struct report_row row = {};
	int err = add_key(&row, s, e, cli, names);

	*nkeys = row.ncells;
	if (!err)
		err = add_figures(&row, &e->sums);
	if (!err && cli->by & BY_FILE)
		err = report_row__add_text(&row, "path",
					   file_names__find(&s->names, &e->key.id) ?: "?");
	return report__end_row(r, &row, err);
}

static int fill_rows(struct filetop *s, struct measurement *m, struct report *r,
		     const struct sum_set *set)
{
	struct task_key_names names = { .hierarchy = m->scope.hierarchy };
	const struct cli *cli = m->cli;
	size_t i, nkeys = 0;
	int err = 0;

	for (i = 0; i < set->n && !err; i++) {
		const struct file_sums *e = sum_set__at(set, i);

		r->events += calls(&e->sums);
		err = fill_row(s, cli, e, &names, r, &nkeys);
	}
	task_key_names__free(&names);
	report__sort_rows(r, s->order, nkeys,
			  cli->top ?: cli->format == FORMAT_TEXT ? DEFAULT_TOP : 0);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct filetop *s = m->own;
	struct sum_set set;
	int err;

	r->value = "reads and writes";
	r->table = true;
	r->has_events = true;
	r->source = file_calls_source;
	r->caveat = file_calls_caveat;
	err = read_interval(s, &set, &r->counters);
	if (err)
		return err;
	/* Names are sent after their sums are there: what was sent meanwhile is wanted, too. */
	err = ring__drain(s->ring);
	if (!err)
		err = fill_rows(s, m, r, &set);
	sum_set__free(&set);
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

static int watch(struct measurement *m)
{
	struct filetop *s = m->own;

	return ring__drain(s->ring);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	(void)context;
	if (!cli->by)
		cli->by = BY_FILE;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	u64 cpus = m->run->host.cpus_online < CPUS_PER_KEY ? m->run->host.cpus_online : CPUS_PER_KEY;
	struct filetop_bpf *bpf = m->bpf;
	struct filetop *s = m->own;
	int err;

	s->bpf = bpf;
	bpf->rodata->want_ids = m->cli->by & BY_FILE;
	bpf->rodata->want_fs = m->cli->by & BY_FILE_FS;
	bpf->rodata->want_mount = m->cli->by & BY_FILE_MOUNT;
	FILE_OPTIONS_SET(bpf->rodata, &s->options);
	err = map__set_room_for_keys(bpf->maps.sums, &m->run->host,
					     cpus * m->cli->max_keys);
	if (!err && m->cli->by & BY_FILE_MOUNT)
		err = map__set_room(bpf->maps.mounts, &m->run->host, MOUNT_NAMES);
	if (!err)
		err = ring__prepare_bytes(bpf->obj, ring__bytes_of_rare(&m->run->host));
	if (!err)
		err = file_calls__prepare(bpf->obj, &m->run->host, &s->options);
	return err;
}

static int attach(struct measurement *m)
{
	struct filetop *s = m->own;
	int err;

	err = ring__open(&s->ring, s->bpf->maps.records, offsetof(struct filetop_name, name.names),
			 m->writer, take_name, s);
	if (err)
		return err;
	m->watch_fd = ring__fd(s->ring);
	m->watch = watch;
	return measurement__attach(m);
}

static void init(void *own)
{
	struct filetop *s = own;

	*s = (struct filetop){
		.options = { .ops = 1 << FILE_READ | 1 << FILE_WRITE }, .order = "bytes",
	};
}

static void release(void *own)
{
	struct filetop *s = own;

	ring__close(s->ring);
	file_names__free(&s->names);
	sum_set__free(&s->before);
}

static const struct argp_option option_list[] = {
	{ "sort", KEY_ORDER, "COL", 0,
	  "Order by bytes (default), time, reads, writes, read_bytes, write_bytes, "
	  "read_time, write_time, failed or key", 5 },
	FILE_OPTION_FS, FILE_OPTION_MOUNT, FILE_OPTION_ALL_KINDS, {},
};
static const struct argp own_argp = { .options = option_list, .parser = parse_own };
static const char *const key_names[] = { "file", "fs", "mount" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "file, fs, mount",
};

static const struct tool_spec spec = {
	.name = "filetop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Reads and writes of files, file by file: calls, bytes, time.",
		.own = &own_argp,
		.own_parts = &parts,
	},
	.own_size = sizeof(struct filetop), .skeleton = &filetop_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = file_calls_source, .free = release,
};

TOOL_MEASURING(filetop, spec, AREA_FILES,
	       "reads and writes of files: calls, bytes, time, file by file");
