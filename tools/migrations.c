// SPDX-License-Identifier: BSD-2-Clause
/*
 * migrations: which tasks move between CPUs, from where to where. The measurement is
 * bpf/migrations.bpf.c.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/task_key.h"
#include "count/counts.h"
#include "host/topology.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/migrations.h"
#include "migrations.skel.h"

#define SOURCE "tp_btf/sched_migrate_task"

/* Of our own options; those of user/cli are below. */
#define KEY_MATRIX 0x1000

/*
 * An element of the map is a key, a way from CPU to CPU, and the CPU that moved the task. Room for
 * as many of them for each key; most have fewer.
 */
#define WAYS_PER_KEY 4
#define CPUS_PER_KEY 8

/* A way is kept as struct count: place is the CPU that the task left, row the one it went to. */
struct migrations {
	bool matrix, with_stacks;
	struct stack_options options;
	struct stacks stacks;
	struct migrations_bpf *bpf;
	struct counts before;           /* the last snapshot */
	struct loss_counters losses_before;
	int *column;                    /* of --matrix: the CPUs that were online at the start */
	char (*title)[16];
	size_t ncolumns;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct migrations *m = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &m->options;
		return 0;
	case KEY_MATRIX:
		m->matrix = true;
		return 0;
	case 'g':
		m->with_stacks = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_about_stacks(const struct stack_options *o)
{
	return o->max_depth || o->no_kernel || o->no_user || o->leaf || o->format > FORMAT_CSV ||
	       o->callee_first || o->with || o->without;
}

/* --by, and --format, of ways. */
static int check_ways(struct migrations *m, struct cli *cli)
{
	char bad[32];
	u32 by = 0;

	if (is_about_stacks(&m->options)) {
		diag_error("what is said of stacks goes with -g");
		return -EINVAL;
	}
	if (cli->by_text && task_key__parse(cli->by_text, NULL, &by, bad, sizeof(bad))) {
		diag_error("--by: no key '%s'; there are %s", bad, task_key_parts());
		return -EINVAL;
	}
	cli->by |= by;
	if (m->options.format >= 0)
		cli->format = m->options.format;
	if (!m->matrix && !cli->by)
		cli->by = BY_TID;
	return 0;
}

static int check_options(struct migrations *m, struct cli *cli)
{
	int err;

	if (m->matrix && (cli->by || cli->by_text || m->with_stacks)) {
		diag_error("--matrix is about CPUs; it cannot be combined with --by, -P, -L or -g");
		return -EINVAL;
	}
	err = m->with_stacks ? stack_options__check(&m->options, &m->stacks, cli, BY_COMM) :
			       check_ways(m, cli);
	if (!err && cli->by & BY_CPU) {
		diag_error("--by cpu: each row has the CPUs a task came from and went to already");
		err = -EINVAL;
	}
	return err;
}

/* --- reading ----------------------------------------------------------------------------------- */

static int add_element(struct counts *counts, const struct migrations_key *key,
		       const struct migrations_count *value)
{
	struct count count = {
		.key = key->task, .place = key->from, .row = key->to, .value = value->count,
		.name_stamp = value->name_stamp,
	};

	memcpy(count.name, value->name, sizeof(count.name));
	return counts__add(counts, &count);
}

/* Nothing is ever deleted from the map, so walking it meets each element once. */
static int read_counts(const struct migrations *m, struct counts *counts)
{
	int fd = bpf_map__fd(m->bpf->maps.migrations), err = 0;
	struct migrations_key key, next, *from = NULL;
	struct migrations_count value;

	*counts = (struct counts){};
	while (!err && !bpf_map_get_next_key(fd, from, &next)) {
		key = next;
		from = &key;
		err = bpf_map_lookup_elem(fd, &key, &value);
		if (!err)
			err = add_element(counts, &key, &value);
	}
	if (err)
		counts__free(counts);
	counts__settle(counts);
	return err;
}

/* What came since the last call: the snapshot becomes the next one's "before". */
static int difference(struct migrations *m, struct counts *counts, struct loss_counters *losses)
{
	struct loss_counters losses_now;
	struct counts now;
	int err;

	err = loss__read(&losses_now, bpf_map__fd(m->bpf->maps.losses), m->bpf->obj);
	if (!err)
		err = read_counts(m, counts);
	if (err)
		return err;
	err = counts__copy(&now, counts);
	if (err) {
		counts__free(counts);
		return err;
	}
	counts__subtract(counts, &m->before);
	*losses = loss__difference(&losses_now, &m->losses_before);
	counts__free(&m->before);
	m->before = now;
	m->losses_before = losses_now;
	return 0;
}

/* --- the table of ways ------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	int d;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	d = memcmp(&x->key, &y->key, sizeof(x->key));
	if (d)
		return d;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int put_way(struct report *r, const struct count *c, u32 by, struct task_key_names *names)
{
	struct report_row row = {};
	int err;

	err = task_key__add_fields(&row, &c->key, c->name, by, names);
	if (!err)
		err = report_row__add_number(&row, "from", c->place, FIELD_ID);
	if (!err)
		err = report_row__add_number(&row, "to", c->row, FIELD_ID);
	if (!err)
		err = report_row__add_number(&row, "count", c->value, FIELD_NUMBER);
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static int put_ways(const struct run *run, struct report *r, struct counts *c)
{
	struct task_key_names names = { .hierarchy = run->scope.hierarchy };
	const struct cli *cli = run->cli;
	int err = 0;
	size_t i;

	if (c->n)
		qsort(c->count, c->n, sizeof(*c->count), by_value);
	for (i = 0; i < c->n && c->count[i].value && !err; i++) {
		if (cli->top && i >= cli->top)
			r->hidden++;
		else
			err = put_way(r, &c->count[i], cli->by, &names);
	}
	task_key_names__free(&names);
	return err;
}

/* --- the matrix -------------------------------------------------------------------------------- */

/* The same columns in all reports of a run: those of CSV are named once. */
static int make_columns(struct migrations *m)
{
	struct topology t;
	int err = topology__read(&t);
	size_t i;

	if (err)
		return err;
	m->column = calloc(t.n ?: 1, sizeof(*m->column));
	m->title = calloc(t.n ?: 1, sizeof(*m->title));
	if (!m->column || !m->title)
		err = -ENOMEM;
	for (i = 0; i < t.n && !err; i++) {
		m->column[i] = t.cpu[i].cpu;
		snprintf(m->title[i], sizeof(m->title[i]), "to %d", t.cpu[i].cpu);
	}
	m->ncolumns = err ? 0 : t.n;
	topology__free(&t);
	return err;
}

/* The row of a CPU: n counts, sorted by the CPU they go to. */
static int put_from(const struct migrations *m, struct report *r, const struct count *c, size_t n)
{
	struct report_row row = {};
	u64 sum = 0, here;
	size_t i, k;
	int err;

	err = report_row__add_number(&row, "from", c->place, FIELD_ID);
	for (k = 0; k < m->ncolumns && !err; k++) {
		here = 0;
		for (i = 0; i < n; i++)
			if ((int)c[i].row == m->column[k])
				here += c[i].value;
		err = report_row__add_number(&row, m->title[k], here, FIELD_NUMBER);
	}
	for (i = 0; i < n; i++)
		sum += c[i].value;
	if (!err)
		err = report_row__add_number(&row, "total", sum, FIELD_NUMBER);
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
}

static u64 sum_of(const struct count *c, size_t n)
{
	u64 sum = 0;

	while (n--)
		sum += c[n].value;
	return sum;
}

static int put_matrix(const struct migrations *m, struct report *r, const struct counts *c)
{
	size_t from, to;
	int err = 0;

	for (from = 0; from < c->n && !err; from = to) {
		for (to = from + 1; to < c->n && c->count[to].place == c->count[from].place; to++)
			;
		if (sum_of(&c->count[from], to - from))
			err = put_from(m, r, &c->count[from], to - from);
	}
	return err;
}

/* --- the course -------------------------------------------------------------------------------- */

static int report_stacks(struct migrations *m, struct run *run, struct report *r)
{
	int err = stacks__report(&m->stacks, run, r, m->options.table ? 0 : run->cli->top);

	if (err)
		return err;
	r->stacks->unit = "migrations";
	return m->options.table ? stacks__tabulate(r, m->options.leaf, run->cli->top) : 0;
}

static int watch(struct run *run)
{
	struct migrations *m = run->context;

	return stacks__watch(&m->stacks);
}

static int report(struct run *run, struct report *r)
{
	struct migrations *m = run->context;
	struct counts counts;
	int err;

	r->value = "tasks moved to another CPU";
	r->source = SOURCE;
	if (m->with_stacks)
		return report_stacks(m, run, r);
	r->table = true;
	err = difference(m, &counts, &r->counters);
	if (err)
		return err;
	r->has_events = true;
	r->events = sum_of(counts.count, counts.n);
	err = m->matrix ? put_matrix(m, r, &counts) : put_ways(run, r, &counts);
	counts__free(&counts);
	return err;
}

/*
 * Either the map of ways or those of stacks are made: the program has the other branch taken out.
 */
static int configure_stacks(struct migrations *m, struct run *run)
{
	const struct stacks_constants constants = {
		&m->bpf->rodata->scope, &m->bpf->rodata->by, &m->bpf->rodata->stack_depth,
		&m->bpf->rodata->stack_walk, &m->bpf->rodata->stack_seed,
	};
	const struct cli *cli = run->cli;
	int err;

	m->bpf->rodata->take = stack_options__take(&m->options, &m->stacks);
	m->stacks.at_tracepoints = true;
	err = stacks__prepare(&m->stacks, run, m->bpf->obj, "counts",
			      cli->max_keys == CLI_DEFAULT_MAX_KEYS ? 0 : cli->max_keys, &constants);
	return err ?: bpf_map__set_autocreate(m->bpf->maps.migrations, false);
}

static int leave_out_stacks(const struct migrations *m)
{
	struct bpf_map *maps[] = {
		m->bpf->maps.stack_slots, m->bpf->maps.stack_slots_taken, m->bpf->maps.stacks_small,
		m->bpf->maps.stacks_medium, m->bpf->maps.stacks_large,
		m->bpf->maps.stack_processes, m->bpf->maps.counts,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps) && !err; i++)
		err = bpf_map__set_autocreate(maps[i], false);
	return err;
}

static int configure(struct migrations *m, struct run *run)
{
	u64 cpus = run->host.cpus_possible, movers = cpus < CPUS_PER_KEY ? cpus : CPUS_PER_KEY;
	int err;

	if (m->with_stacks)
		return configure_stacks(m, run);
	memcpy((void *)&m->bpf->rodata->scope, &run->scope, sizeof(run->scope));
	m->bpf->rodata->by = run->cli->by;
	err = leave_out_stacks(m);
	if (!err)
		err = map__set_room(m->bpf->maps.migrations, &run->host,
				    movers * WAYS_PER_KEY * run->cli->max_keys);
	return err ?: scope__prepare(m->bpf->obj, &run->scope, &run->cli->scope);
}

static int load(struct migrations *m, struct run *run)
{
	int err;

	m->bpf = migrations_bpf__open();
	if (!m->bpf)
		return -errno;
	err = configure(m, run);
	if (!err && !run->cli->explain)
		err = migrations_bpf__load(m->bpf);
	if (!err)
		return 0;
	if (err == -ENOMEM || (err == -E2BIG && run->cli->max_keys > CLI_DEFAULT_MAX_KEYS)) {
		diag_error("not enough memory for the maps");
		diag_hint("ask for fewer keys with --max-keys");
		return err;
	}
	diag_error("this kernel cannot load the program: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

static int attach(struct migrations *m, struct run *run)
{
	int err;

	if (m->with_stacks) {
		err = stacks__begin(&m->stacks, run);
		run->watch = watch;
	} else {
		run__describe_memory(run, m->bpf->obj);
		err = scope__fill(m->bpf->obj, &run->cli->scope);
	}
	if (!err)
		err = migrations_bpf__attach(m->bpf);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	m->bpf->bss->armed = 1;
	return 0;
}

static int measure(struct migrations *m, struct run *run)
{
	int err;

	err = make_columns(m);
	if (!err)
		err = load(m, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, m->bpf->obj, SOURCE);
	} else if (!err) {
		err = attach(m, run);
		if (!err)
			err = run__loop(run);
	}
	stacks__free(&m->stacks);
	migrations_bpf__destroy(m->bpf);
	counts__free(&m->before);
	free(m->column);
	free(m->title);
	return err;
}

static int migrations(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "matrix", KEY_MATRIX, NULL, 0, "A table from each CPU to each, without tasks", 1 },
		{ "stacks", 'g', NULL, 0, "By the stack of whoever moves the task, instead", 1 },
		{},
	};
	static const struct argp_child children[] = { { &stack_options_argp, 0, NULL, 0 }, {} };
	static const struct argp own = {
		.options = options, .parser = parse_own, .children = children,
	};
	struct migrations m = { .options = STACK_OPTIONS };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND,
		.doc = "Which tasks move between CPUs, how often, from where to where.",
		.own = &own,
		.own_input = &m,
		.own_keys = true,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (check_options(&m, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	err = run__init(&run, "migrations", &cli);
	run.report = report;
	run.context = &m;
	if (!err)
		err = measure(&m, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(migrations, AREA_SCHEDULER, "which tasks move between CPUs, from where to where");
