// SPDX-License-Identifier: BSD-2-Clause
/* faults: page faults by task and by mapping. The measurement is bpf/memory/faults.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "types/kernel_btf.h"
#include "host/task_state.h"
#include "memory/fault_events.h"
#include "memory/fault_keys.h"
#include "memory/rss.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/named_files.h"
#include "run/sum_table.h"
#include "stack/options.h"
#include "tools.h"

#include "faults.skel.h"

SKELETON(faults);

struct faults {
	struct stack_options options;
	bool with_stacks;
	u32 kinds;              /* 1 << enum fault_kind, ORed; 0: all */
	struct faults_bpf *bpf;
	struct fault_events events;
	struct stacks stacks;   /* for -g */
	/* Used for tables: */
	struct named_files files;
	struct rss_set rss, rss_before; /* at this report, and as the base of growth */
};

/* An element of the set of sums. */
struct fault_sum {
	struct faults_key key;
	struct faults_sums sums;
};

/* dso and sym name the code that caused the fault. */

/* dso and sym name the code that faults. */
static bool names_code(const char *by_text)
{
	char *text = strdup(by_text ?: ""), *rest = text, *part;
	bool found = false;

	while (text && (part = strsep(&rest, ",")))
		found |= !strcmp(part, "dso") || !strcmp(part, "sym");
	free(text);
	return found;
}

static int check_table(struct faults *f, struct cli *cli)
{
	char bad[64];

	if (stack_options__check_none(&f->options, cli))
		return -EINVAL;
	if (cli->by_text &&
	    task_key__parse(cli->by_text, &fault_own_parts, &cli->by, bad, sizeof(bad))) {
		diag_error("--by: unknown key '%s'; expected one of %s, %s, dso, sym", bad,
			   task_key_parts(), fault_own_parts.text);
		return -EINVAL;
	}
	if (!cli->by)
		cli->by = BY_PID;
	return 0;
}

static int check(void *context, struct cli *cli)
{
	struct faults *f = context;

	cli->scope.command_joins_at_exec = true;
	f->with_stacks |= names_code(cli->by_text);
	return f->with_stacks ? stack_options__check(&f->options, &f->stacks, cli, BY_COMM) :
				check_table(f, cli);
}

/*
 * --- the table ---------------------------------------------------------------------------------
 */

/* The resident set of the process and its growth; no values if the process is gone. */
static int add_rss(struct report_row *row, const struct rss *now, const struct rss_set *earlier)
{
	static const char *const names[RSS_PARTS] = {
		[RSS_ANON] = "anon_growth", [RSS_FILE] = "file_growth",
		[RSS_SHMEM] = "shmem_growth",
	};
	s64 growth[RSS_PARTS] = {};
	u64 bytes = 0;
	int err, i;

	if (now)
		rss__growth(now, earlier, growth);
	for (i = 0; now && i < RSS_PARTS; i++)
		bytes += now->bytes[i];
	err = report_row__add_figure(row, "rss", bytes, now ? FIELD_SIZE : FIELD_NONE, ROLE_GAUGE);
	for (i = 0; i < RSS_PARTS && !err; i++)
		err = report_row__add_sum(row, names[i], growth[i], now ? FIELD_SIGNED_SIZE : FIELD_NONE);
	return err;
}

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct fault_sum *e = element;
	const struct faults *f = t->own;
	int err = task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);

	return err ?: fault_parts__add(row, &e->key.parts, t->cli->by, &f->files.names);
}

static const struct column columns[] = {
	COUNTER("faults", SUM(struct faults_sums, minor) | SUM(struct faults_sums, major), FIELD_NUMBER),
	COUNTER("minor", SUM(struct faults_sums, minor), FIELD_NUMBER),
	COUNTER("major", SUM(struct faults_sums, major), FIELD_NUMBER),
	ADDED_BY_TOOL("rss", ROLE_GAUGE),
	ADDED_BY_TOOL("anon_growth", ROLE_COUNTER),
	ADDED_BY_TOOL("file_growth", ROLE_COUNTER),
	ADDED_BY_TOOL("shmem_growth", ROLE_COUNTER),
	{},
};

static int add_memory(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct fault_sum *e = element;
	const struct faults *f = t->own;

	return t->cli->by == BY_PID ? add_rss(row, rss_set__find(&f->rss, e->key.task.pid), &f->rss_before) : 0;
}

/*
 * Marks the processes of the interval as reported. Adds other processes that were reported before and have grown or
 * shrunk.
 */
static int add_quiet(void *own, struct sum_set *set)
{
	struct faults *f = own;
	struct fault_sum *quiet = calloc(f->rss.n ?: 1, sizeof(*quiet));
	s64 growth[RSS_PARTS];
	size_t i, n = 0;
	int err;

	if (!quiet)
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		const struct fault_sum *e = sum_set__at(set, i);
		struct rss *now = rss_set__find(&f->rss, e->key.task.pid);

		if (!now)
			continue;
		now->told = true;
		memcpy(now->comm, e->sums.name, sizeof(now->comm));
	}
	for (i = 0; i < f->rss.n; i++) {
		struct rss *now = &f->rss.rss[i];
		const struct rss *then = rss__told(now, &f->rss_before);

		if (!then || now->told)
			continue;
		now->told = true;
		memcpy(now->comm, then->comm, sizeof(now->comm));
		if (!rss__growth(now, &f->rss_before, growth))
			continue;
		quiet[n].key.task.pid = now->pid;
		memcpy(quiet[n++].sums.name, now->comm, sizeof(now->comm));
	}
	err = sum_set__insert(set, quiet, n);
	free(quiet);
	return err;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct faults_key), .value_size = sizeof(struct faults_sums),
		.writer_at = offsetof(struct faults_key, writer), .nsums = 2, .named = true,
	},
	.task_at = offsetof(struct faults_key, task), .of_cpus = true,
	.events = SUM(struct faults_sums, minor) | SUM(struct faults_sums, major),
	.add_key = add_key, .add_more = add_memory, .adjust = add_quiet,
};

static int read_rss(const struct measurement *m, struct rss_set *set)
{
	*set = (struct rss_set){};
	return m->cli->by == BY_PID ? rss_set__read(set) : 0;
}

static int report_table(struct faults *f, struct measurement *m, struct report *r)
{
	int err = read_rss(m, &f->rss);

	if (!err)
		err = sum_table__report(m, f->files.ring, r);
	rss_set__keep_untold(&f->rss, &f->rss_before);
	rss_set__free(&f->rss_before);
	f->rss_before = f->rss;
	f->rss = (struct rss_set){};
	return err;
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int report_stacks(struct faults *f, struct measurement *m, struct report *r)
{
	const struct stack_options *o = &f->options;
	int err = stacks__report(&f->stacks, m, r, o->table ? 0 : m->cli->top);

	if (err)
		return err;
	r->stacks->unit = "faults";
	return o->table ? stacks__tabulate(r, o->leaf, m->cli->top, false) : 0;
}

static int report(struct measurement *m, struct report *r)
{
	struct faults *f = m->own;
	u64 missed;
	int err = f->with_stacks ? report_stacks(f, m, r) : report_table(f, m, r);

	r->value = f->events.only_major ? "major page faults" : "page faults";
	r->source = "software events minor-faults and major-faults, every fault";
	if (!err)
		err = fault_events__missed(&f->events, m, &missed);
	if (!err)
		r->counters.lost[LOSS_MISSED] += missed;
	return err;
}

static int watch(struct measurement *m)
{
	struct faults *f = m->own;

	return f->with_stacks ? stacks__watch(&f->stacks) : named_files__drain(&f->files);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static bool wants_vma(const struct faults *f, const struct cli *cli)
{
	return f->kinds || (!f->with_stacks && cli->by & (BY_FAULT_KIND | BY_FAULT_FILE));
}

static bool wants_access(const struct faults *f, const struct cli *cli)
{
	return !f->with_stacks && cli->by & BY_FAULT_ACCESS;
}

/* fault_events__start() attaches on_minor and on_major. */
static void choose_programs(const struct faults *f, const struct measurement *m)
{
	bool access = wants_access(f, m->cli);

	bpf_program__set_autoload(f->bpf->progs.begin_in_user, access);
	bpf_program__set_autoload(f->bpf->progs.begin_in_kernel, access);
	bpf_program__set_autoattach(f->bpf->progs.on_minor, false);
	bpf_program__set_autoattach(f->bpf->progs.on_major, false);
}

static int prepare_stacks(struct faults *f, struct measurement *m)
{
	struct faults_bpf *bpf = f->bpf;

	bpf->rodata->take = stack_options__take(&f->options, &f->stacks);
	return stacks__prepare(&f->stacks, m, bpf->obj, "counts", m->cli->asked_keys);
}

static int prepare_table(struct faults *f, struct measurement *m)
{
	struct faults_bpf *bpf = f->bpf;
	int err;

	err = stacks__leave_out(bpf->obj);
	if (!err && !(m->cli->by >> BY_PARTS))
		err = bpf_map__set_key_size(bpf->maps.sums,
					    offsetof(struct faults_key, task) + task_key__size(m->cli->by));
	if (!err)
		err = sum_table__prepare(m);
	return err ?: named_files__prepare(m, bpf->obj);
}

static int open_skeleton(struct measurement *m)
{
	struct faults *f = m->own;
	struct faults_bpf *bpf;
	int err;

	if (wants_access(f, m->cli) && kernel_btf_arguments("btf_trace_page_fault_user") < 0) {
		diag_error("--by access: this kernel has no tracepoint exceptions:page_fault_user");
		return -EOPNOTSUPP;
	}
	bpf = m->bpf;
	f->bpf = bpf;
	bpf->rodata->want_vma = wants_vma(f, m->cli);
	if (f->kinds)
		bpf->rodata->kinds = f->kinds;
	err = task_state__prepare(bpf->obj, "fault_states", &m->run->host);
	choose_programs(f, m);
	return err ?: f->with_stacks ? prepare_stacks(f, m) : prepare_table(f, m);
}

static int begin(struct faults *f, struct measurement *m)
{
	int err;

	m->watch = watch;
	if (f->with_stacks)
		return stacks__begin(&f->stacks, m);
	err = named_files__open(&f->files, m);
	return err ?: measurement__fill_scope(m, f->bpf->obj);
}

static int attach(struct measurement *m)
{
	struct faults *f = m->own;
	struct faults_bpf *bpf = f->bpf;
	const struct bpf_program *programs[] = { bpf->progs.on_minor, bpf->progs.on_major };
	int err = begin(f, m);

	if (!err)
		err = measurement__attach_programs(m);
	if (!err)
		err = read_rss(m, &f->rss_before);
	if (err)
		return err;
	err = fault_events__start(&f->events, m, programs, bpf_map__fd(bpf->maps.taken));
	m->has_said = err;
	return err;
}

static void free_all(struct faults *f)
{
	fault_events__free(&f->events);
	named_files__free(&f->files);
	rss_set__free(&f->rss);
	rss_set__free(&f->rss_before);
	stacks__free(&f->stacks);
}

static void init(void *own)
{
	struct faults *f = own;

	*f = (struct faults){ .options = STACK_OPTIONS };
}

static void release(void *own)
{
	struct faults *f = own;

	free_all(f);
}

static const struct option_row rows[] = {
	HEADING("Page faults:", 1),
	{ NULL, 'g', NULL, ROW_FLAG, "Show page faults by stack", 1, FIELD(struct faults, with_stacks) },
	{ "kind", 0, "KIND,..", ROW_WORDS,
	  "Only page faults in heap, stack, anon, shmem, text, data, hugetlb, special, unknown", 1,
	  FIELD(struct faults, kinds), WORDS(fault_kind_names) },
	{ "major", 0, NULL, ROW_FLAG, "Only faults that had to wait for a disk", 1,
	  FIELD(struct faults, events.only_major) },
	INCLUDE(struct faults, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "faults",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.usual_stacks = STACKS_ON_DEMAND,
		.doc = "Page faults by process, kind of memory and stack (-g); growth of processes.",
		.rows = rows,
		.own_keys = true,
		.keys = TASK_KEY_PARTS ", kind, file, access, mode, dso, sym",
		.own_parts = &fault_own_parts, .columns = columns, .order = "faults",
	},
	.own_size = sizeof(struct faults), .skeleton = &faults_skeleton, .table = &table,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = "software events minor-faults, major-faults", .free = release,
};

TOOL_MEASURING(faults, spec, AREA_MEMORY,
	       "page faults by process, kind of memory and stack; growth");
