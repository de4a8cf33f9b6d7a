// SPDX-License-Identifier: BSD-2-Clause
/* snap: every thread at this moment. See bpf/calls/snap.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/snap/snap.h"
#include "calls/snap/user_stacks.h"
#include "calls/snap/waits.h"
#include "report/column.h"
#include "report/diag.h"
#include "tools.h"
#include "types/tracefs.h"

#include "snap.skel.h"

SKELETON(snap);

static const char *const formats[] = {
	"text", "tree", "folded", "flame", "svg", "pprof", "speedscope", "json", "csv", "html", "openmetrics",
	"prometheus",
};

#define FORMAT_NAMES \
	"text, json, csv, html, openmetrics, prometheus; for stacks also tree, folded, flame, svg, pprof, speedscope"

static int parse_format(void *own, char *arg)
{
	struct snap *s = own;

	s->options.format = report_stack_format(arg);
	if (s->options.format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of " FORMAT_NAMES, arg);
	return EINVAL;
}

static const struct column columns[] = {
	ADDED_BY_TOOL(SNAP_ORDER_USUAL, ROLE_UNSAID,
		      .help = "D, long runnable, stopped, zombies, then the most threads; idle kernel threads last"),
	ADDED_BY_TOOL("threads", ROLE_GAUGE),
	ADDED_BY_TOOL("longest", ROLE_GAUGE),
	{},
};

#define USUAL_KEYS (BY_OWN(SNAP_BY_STATE) | BY_OWN(SNAP_BY_CALL) | BY_OWN(SNAP_BY_OBJECT) | BY_OWN(SNAP_BY_WCHAN))

/* Takes a single picture by default; with an interval, one per interval. */
static int check(void *own, struct cli *cli)
{
	struct snap *s = own;

	if (s->each && s->with_stacks) {
		diag_error("--each and -g cannot be combined");
		return -EINVAL;
	}
	if (s->with_stacks && cli->live) {
		diag_error("--live cannot show stacks; `snap -g 1` prints them every second");
		return -EINVAL;
	}
	if (s->each && cli->by) {
		diag_error("--each and --by cannot be combined");
		return -EINVAL;
	}
	s->order = cli->order;
	if (s->with_waits)
		s->deadlocks = s->servers = s->locks = false;
	s->with_waits = s->with_waits || snap__is_partial(s);
	if (s->with_waits && (s->with_stacks || cli->by || (s->order && strcmp(s->order, SNAP_ORDER_USUAL)))) {
		diag_error("--%s cannot be combined with -g, --by or --sort",
			   s->deadlocks ? "deadlocks" : s->servers ? "servers" : s->locks ? "locks" : "waits");
		return -EINVAL;
	}
	if (s->each && s->order && !strcmp(s->order, "longest"))
		s->order = "time";
	if (s->each && s->order && !strcmp(s->order, "threads")) {
		diag_error("--sort threads and --each cannot be combined: every row is one thread");
		return -EINVAL;
	}
	if (!cli->by && !s->with_stacks && !s->with_waits)
		cli->by = USUAL_KEYS;
	if (!cli->interval_ns && !cli->duration_ns)
		cli->duration_ns = 1;
	return s->with_stacks ? stack_options__check(&s->options, &s->stacks, cli, 0) :
				stack_options__check_none(&s->options, cli);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct snap *s = m->own;

	s->bpf = m->bpf;
	if (s->with_stacks)
		stack_options__take(&s->options, &s->stacks);
	s->stacks.unwind = s->stacks.unwind && s->stacks.user;
	s->stacks.python = s->stacks.python && s->stacks.user && ARCH_HAS_PYTHON;
	s->bpf->rodata->with_stacks = s->stacks.kernel;
	s->bpf->rodata->with_user_stacks = s->stacks.user;
	s->bpf->rodata->with_waits = s->with_waits;
	s->socket_visitor = s->bpf->progs.show_socket;
	bpf_program__set_autoload(s->socket_visitor, s->with_waits);
	s->names.signatures.tracefs = tracefs__open();
	snap_pass__describe((u8(*)[TRACE_FDS])s->bpf->rodata->descriptors, &s->names.signatures);
	return s->stacks.unwind ? 0 : stacks__leave_out(s->bpf->obj);
}

static int attach(struct measurement *m)
{
	struct snap *s = m->own;
	int err = stacks__begin_names(&s->stacks);

	if (!err && s->with_stacks)
		err = snap_user_stacks__begin(s, m, s->bpf->obj, (s64 *)&s->bpf->bss->snap_clock_ahead);
	if (!err)
		err = measurement__attach(m);
	if (err)
		return err;
	s->names.symbols = s->stacks.names.symbols;
	s->link = bpf_program__attach_iter(s->bpf->progs.snap, NULL);
	return s->link ? 0 : -errno;
}

static int report_waits(struct snap *s, struct measurement *m, struct report *r)
{
	struct snap_pass again = {};
	struct snap_waits waits;
	int err = snap_waits__collect(&waits, s, &again, bpf_link__fd(s->link), (s64 *)&s->bpf->bss->snap_clock_ahead);

	if (!err)
		err = snap_waits__report(&waits, m, r);
	snap_waits__free(&waits);
	snap_pass__free(&again);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct snap *s = m->own;
	int err = snap_pass__run(&s->pass, bpf_link__fd(s->link), (s64 *)&s->bpf->bss->snap_clock_ahead);

	r->value = "threads";
	r->standing = true;
	r->read_ns = s->pass.took_ns;
	r->has_events = true;
	r->nothing = "no thread is in scope";
	if (err)
		return err;
	if (s->with_waits)
		return report_waits(s, m, r);
	return s->with_stacks ? snap_stacks__report(s, m, r) : snap_rows__report(s, m, r);
}

static void init(void *own)
{
	struct snap *s = own;

	s->options = STACK_OPTIONS;
	s->names.signatures.tracefs = -1;
}

static void release(void *own)
{
	struct snap *s = own;

	bpf_link__destroy(s->link);
	snap_user_stacks__free(s->user_stacks);
	snap_pass__free(&s->pass);
	unwinder__end(&s->stacks.unwinder);
	python__end(&s->stacks.interpreters);
	stack_names__free(&s->stacks.names);
	stack_choice__free(&s->stacks.choice);
	free(s->stacks.note);
	call_signatures__free(&s->names.signatures);
	kernel_variables__free(&s->variables);
	if (s->names.signatures.tracefs >= 0)
		close(s->names.signatures.tracefs);
}

static const struct option_row rows[] = {
	HEADING("Rows:", 1),
	{ "each", 0, NULL, ROW_FLAG, "One row per thread, with the arguments of its call", 1,
	  FIELD(struct snap, each) },
	{ "stacks", 'g', NULL, ROW_FLAG, "Stacks of threads that are not on a CPU, as a tree", 1,
	  FIELD(struct snap, with_stacks) },
	{ "waits", 0, NULL, ROW_FLAG, "Each thread below the thread it waits for; deadlocks first", 1,
	  FIELD(struct snap, with_waits) },
	{ "deadlocks", 0, NULL, ROW_FLAG,
	  "Only deadlocks among locks and waits for children; cheaper than --waits, which also examines pipes and "
	  "sockets",
	  1, FIELD(struct snap, deadlocks) },
	{ "servers", 0, NULL, ROW_FLAG, "Only FUSE daemons and NFS servers, and the threads that wait for them", 1,
	  FIELD(struct snap, servers) },
	{ "locks", 0, NULL, ROW_FLAG, "Only threads that wait for locks of the kernel (from 6.16), and the owners of the locks", 1,
	  FIELD(struct snap, locks) },
	INCLUDE(struct snap, options, stack_part_rows),
	{ "format", 0, "NAME", ROW_OWN, FORMAT_NAMES, HELP_OUTPUT, .parse = parse_format, WORDS(formats) },
	{},
};

static const struct own_parts parts = {
	.name = snap_part_names, .n = SNAP_PARTS, .text = "state, call, object, wchan",
};

static const struct tool_spec spec = {
	.name = "snap",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_ORDER,
		.doc = "Every thread now: its state, its system call, what it waits for, and for how long. Takes one "
		       "snapshot, or one per interval, without stopping any thread.",
		.rows = rows,
		.own_parts = &parts, .columns = columns, .order = SNAP_ORDER_USUAL,
		.keys_without_room = true,
	},
	.own_size = sizeof(struct snap), .skeleton = &snap_skeleton,
	.source = "iter/task",
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(snap, spec, AREA_CALLS, "every thread now: its state and call, what it waits for, for how long");
