// SPDX-License-Identifier: BSD-2-Clause
/* syscount: system calls, their errors, and how long they took. See bpf/syscount.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "count/calls.h"
#include "host/errno_name.h"
#include "host/syscall_set.h"
#include "host/task_state.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "run/waits.h"
#include "tools.h"

#include "bpf/syscount.h"
#include "syscount.skel.h"

/* Of our own options; those of user/cli are below. */
#define KEY_CALLS 'e'
#define KEY_LATENCY 0x1000
#define KEY_HIST 0x1001
#define KEY_FAILED 0x1002
#define KEY_ERRNO 0x1003
#define KEY_ORDER 0x1004

/* An element for each key and CPU that it is seen on. */
#define CPUS_PER_KEY 8

_Static_assert(BY_SYSCALL == BY_OWN(0) && BY_ERRNO == BY_OWN(1), "own parts of keys");

struct syscount {
	struct syscall_set wanted;
	bool chosen;            /* by -e; else all */
	bool latency;
	bool hist;
	bool one_unit;          /* a column has, else each number the one that fits */
	bool failed;
	int only_errno;         /* 0: any */
	const char *order;      /* a column; NULL: the usual one */
	struct syscount_bpf *bpf;
	struct measure measure; /* of times */
	struct counts counts;   /* the last snapshot */
	struct loss_counters losses;
	struct calls before;
	struct bpf_link *running;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Of several -e, whatever one of them names. */
static error_t parse_calls(struct syscount *s, const char *text)
{
	struct complaint c = {};
	struct syscall_set set;

	if (syscall_set__parse(&set, text, &c)) {
		diag_complaint("-e", text, &c);
		return EINVAL;
	}
	syscall_set__add(&s->wanted, &set);
	s->chosen = true;
	return 0;
}

static error_t parse_errno(struct syscount *s, const char *text)
{
	if (!errno_number(text, &s->only_errno))
		return 0;
	diag_error("--errno: no error '%s'", text);
	diag_hint("a name like ENOENT or EAGAIN, or a number; errno(3) has them all");
	return EINVAL;
}

static const struct {
	const char *name;
	bool is_time;
} columns[] = {
	{ "calls", false }, { "errors", false }, { "time", true },    { "avg", true },
	{ "max", true },    { "p50", true },     { "p99", true },     { "running", true },
	{ "longest", true }, { "key", false },
};

static error_t parse_order(struct syscount *s, const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		if (strcmp(columns[i].name, text))
			continue;
		s->order = columns[i].name;
		s->latency |= columns[i].is_time;
		return 0;
	}
	diag_error("--sort: no column '%s'; there are calls, errors, time, avg, max, p50, p99, "
		   "running, longest, key",
		   text);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct syscount *s = state->input;

	switch (key) {
	case KEY_CALLS:
		return parse_calls(s, arg);
	case KEY_LATENCY:
		s->latency = true;
		return 0;
	case KEY_HIST:
		s->latency = s->hist = true;
		return 0;
	case KEY_FAILED:
		s->failed = true;
		return 0;
	case KEY_ERRNO:
		return parse_errno(s, arg);
	case KEY_ORDER:
		return parse_order(s, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

/* "read", "read@32" of the 32-bit table, "syscall_999" for a number without a name. */
static int add_call(struct report_row *row, u32 call)
{
	const char *name = syscall_name(call_abi(call), call_number(call));
	const char *table = call_abi(call) == SYSCALL_COMPAT ? "@32" : "";
	char text[64];

	if (name)
		snprintf(text, sizeof(text), "%s%s", name, table);
	else if (call_number(call) == CALL_BEYOND)
		snprintf(text, sizeof(text), "(no such call)%s", table);
	else
		snprintf(text, sizeof(text), "syscall_%u%s", call_number(call), table);
	return report_row__add_text(row, "syscall", text);
}

static int add_errno(struct report_row *row, u32 number)
{
	const char *name = errno_name(number);
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return report_row__add_text(row, "errno", name ?: number ? text : "success");
}

static int add_own_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	u64 outcome = *(const u64 *)own;
	int err = 0;

	(void)context;
	if (by & BY_SYSCALL)
		err = add_call(row, outcome_call(outcome));
	if (!err && by & BY_ERRNO)
		err = add_errno(row, outcome_errno(outcome));
	return err;
}

static const char *const own_names[] = { "syscall", "errno" };
static const struct own_parts own_parts = {
	.name = own_names,
	.n = ARRAY_SIZE(own_names),
	.text = "syscall, errno",
	.add = add_own_parts,
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int read_counts(struct syscount *s, const struct run *run, struct calls *set,
		       struct loss_counters *losses)
{
	struct loss_counters losses_now;
	struct counts now = {}, grown = {};
	int err;

	err = loss__read(&losses_now, bpf_map__fd(s->bpf->maps.losses), s->bpf->obj);
	if (!err && run->cli->by == BY_SYSCALL)
		err = calls__read_array(&now, bpf_map__fd(s->bpf->maps.counts));
	else if (!err)
		err = calls__read_keyed(&now, bpf_map__fd(s->bpf->maps.keyed_counts));
	counts__settle(&now);
	if (!err)
		err = counts__copy(&grown, &now);
	if (err) {
		counts__free(&now);
		return err;
	}
	counts__subtract(&grown, &s->counts);
	err = calls__add_counts(set, &grown);
	*losses = loss__difference(&losses_now, &s->losses);
	s->losses = losses_now;
	counts__free(&grown);
	counts__free(&s->counts);
	s->counts = now;
	return err;
}

/* Calls that returned first: see calls__add_up(). */
static int read_times(struct syscount *s, struct calls *set, struct loss_counters *losses)
{
	struct hist_set times;
	int err = measure__difference(&s->measure, &times, losses), fd;

	if (err)
		return err;
	err = calls__add_times(set, &times);
	hist_set__free(&times);
	if (err || !s->running)
		return err;
	fd = bpf_iter_create(bpf_link__fd(s->running));
	if (fd < 0)
		return fd;
	err = calls__add_running(set, fd);
	close(fd);
	return err;
}

static int add_times(struct report_row *row, const struct syscount *s, const struct call *c)
{
	enum field_kind kind = s->one_unit ? FIELD_TIME : FIELD_DURATION;
	enum field_kind time = c->calls ? kind : FIELD_NONE;
	const struct histogram *h = &c->hist;
	int err;

	err = report_row__add_number(row, "time", c->time_ns, kind);
	if (!err)
		err = report_row__add_number(row, "avg", histogram__average(h), time);
	if (!err)
		err = report_row__add_number(row, "p50", histogram__percentile(h, 5000), time);
	if (!err)
		err = report_row__add_number(row, "p99", histogram__percentile(h, 9900), time);
	if (!err)
		err = report_row__add_number(row, "max", h->max, time);
	if (err || !s->running)
		return err;
	err = report_row__add_number(row, "running", c->running, FIELD_NUMBER);
	return err ?: report_row__add_number(row, "longest", c->longest_ns,
					    c->running ? kind : FIELD_NONE);
}

static int add_figures(struct report_row *row, const struct syscount *s, const struct call *c)
{
	int err = report_row__add_number(row, "calls", c->calls, FIELD_NUMBER);

	if (!err)
		err = report_row__add_number(row, "errors", c->errors, FIELD_NUMBER);
	if (!err && s->latency)
		err = add_times(row, s, c);
	return err;
}

/* Takes row over, whatever err says of the making of it. */
static int finish_row(struct report *r, struct report_row *row, int err)
{
	if (!err)
		return report__add_row(r, row);
	report_row__free(row);
	return err;
}

static int add_to_total(struct call *total, const struct call *c)
{
	total->calls += c->calls;
	total->errors += c->errors;
	total->time_ns += c->time_ns;
	total->running += c->running;
	if (c->longest_ns > total->longest_ns)
		total->longest_ns = c->longest_ns;
	return histogram__add(&total->hist, &c->hist);
}

/* For people; programs can add up rows, and would have to leave out this one. */
static int add_total(struct report *r, const struct syscount *s, const struct call *total,
		     size_t nkeys)
{
	struct report_row row = {};
	int err = 0;
	size_t i;

	for (i = 0; i < nkeys && !err; i++)
		err = report_row__add_text(&row, r->row[0].cell[i].name, i ? NULL : "total");
	if (!err)
		err = add_figures(&row, s, total);
	return finish_row(r, &row, err);
}

static int fill_rows(struct syscount *s, struct run *run, struct report *r,
		     const struct calls *set)
{
	const char *order = s->order ?: s->latency ? "time" : "calls";
	struct task_key_names names = { .hierarchy = run->scope.hierarchy };
	struct call total = {};
	size_t i, nkeys = 0;
	int err = 0;

	for (i = 0; i < set->n && !err; i++) {
		const struct call *c = &set->call[i];
		struct report_row row = {};

		if (!c->calls && !c->running && !c->time_ns)
			continue;
		err = add_own_parts(NULL, &c->outcome, run->cli->by, &row);
		if (!err)
			err = task_key__add_fields(&row, &c->task, c->name, run->cli->by, &names);
		nkeys = row.ncells;
		if (!err)
			err = add_figures(&row, s, c);
		err = finish_row(r, &row, err);
		if (!err)
			err = add_to_total(&total, c);
	}
	task_key_names__free(&names);
	r->events = total.calls;
	report__sort_rows(r, strcmp(order, "key") ? order : NULL, nkeys, run->cli->top);
	if (!err && r->nrows && run->cli->format == FORMAT_TEXT)
		err = add_total(r, s, &total, nkeys);
	histogram__free(&total.hist);
	return err;
}

static const char *source_text(const struct syscount *s)
{
	return s->latency ? "tp_btf/sys_enter, tp_btf/sys_exit" : "tp_btf/sys_exit";
}

static int report(struct run *run, struct report *r)
{
	struct calls set = { .tell_errors = run->cli->by & BY_ERRNO };
	struct syscount *s = run->context;
	int err;

	r->value = s->hist ? "time in system calls" : "system calls that returned";
	r->unit = s->hist ? UNIT_NS : UNIT_COUNT;
	r->source = source_text(s);
	if (s->hist)
		return measure__report(&s->measure, run, r);
	r->table = true;
	r->has_events = true;
	err = s->latency ? read_times(s, &set, &r->counters)
			 : read_counts(s, run, &set, &r->counters);
	if (!err)
		err = calls__add_up(&set, &s->before);
	if (!err)
		err = fill_rows(s, run, r, &set);
	calls__free(&set);
	return err;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	u8 traits;
} special_calls[] = {
	{ "fork", CALL_ASKED | CALL_FORKS },
	{ "vfork", CALL_ASKED | CALL_FORKS },
	{ "clone", CALL_ASKED | CALL_FORKS },
	{ "clone3", CALL_ASKED | CALL_FORKS },
	{ "sigreturn", CALL_ASKED | CALL_SIGRETURN },
	{ "rt_sigreturn", CALL_ASKED | CALL_SIGRETURN },
	/* They never return: there is nothing to count, and zombies would seem to be in them. */
	{ "exit", 0 },
	{ "exit_group", 0 },
};

static u8 traits_of(const struct syscount *s, enum syscall_abi abi, u32 number)
{
	const char *name = syscall_name(abi, number);
	u8 asked = syscall_set__has(&s->wanted, abi, number) ? CALL_ASKED : 0;
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(special_calls); i++)
		if (!strcmp(special_calls[i].name, name))
			return special_calls[i].traits & (asked | ~CALL_ASKED);
	return asked;
}

static void describe_calls(struct syscount *s)
{
	u32 *sigreturn = (u32 *)s->bpf->rodata->sigreturn;
	u8 *traits = (u8 *)s->bpf->rodata->traits;
	u32 abi, i;
	int number;

	for (abi = 0; abi < SYSCALL_ABIS; abi++) {
		for (i = 0; i < SYSCALL_NUMBERS; i++)
			traits[abi << CALL_NUMBER_BITS | i] = traits_of(s, abi, i);
		number = syscall_number_in(abi, "rt_sigreturn");
		sigreturn[abi] = number < 0 ? CALL_BEYOND : number;
	}
}

/* Histograms are reported from keys with a task in them. */
static bool only_calls(const struct syscount *s, const struct run *run)
{
	return run->cli->by == BY_SYSCALL && !s->hist;
}

static const char *times_map(const struct syscount *s, const struct run *run)
{
	return only_calls(s, run) ? "call_times" : "times";
}

static int choose_programs(struct syscount *s)
{
	struct syscount_bpf *bpf = s->bpf;
	int err;

	err = bpf_program__set_autoload(bpf->progs.count_exit, !s->latency);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.time_enter, s->latency);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.time_exit, s->latency);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.seed_calls, s->latency);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.show_running, s->latency);
	bpf_program__set_autoattach(bpf->progs.seed_calls, false);
	bpf_program__set_autoattach(bpf->progs.show_running, false);
	return err;
}

static int prepare_times(struct syscount *s, struct run *run)
{
	struct syscount_bpf *bpf = s->bpf;
	bool storage = false;
	int err;

	bpf->rodata->only_calls = only_calls(s, run);
	err = measure__prepare(&s->measure, run, bpf->obj, times_map(s, run),
			       only_calls(s, run) ? sizeof(struct syscount_call_key)
						  : sizeof(struct syscount_time_key),
			       &bpf->rodata->scope, &bpf->rodata->by);
	if (!err)
		err = task_state__prepare(bpf->obj, "call_states", &run->host, &storage);
	bpf->rodata->have_task_storage = storage;
	if (!err)
		err = bpf_map__set_max_entries(bpf->maps.counts, 1);
	return err;
}

static int prepare_counts(struct syscount *s, struct run *run)
{
	struct syscount_bpf *bpf = s->bpf;
	u64 cpus = run->host.cpus_online < CPUS_PER_KEY ? run->host.cpus_online : CPUS_PER_KEY;
	u64 keys = run->cli->by == BY_SYSCALL ? 1 : cpus * run->cli->max_keys;
	int err;

	memcpy((void *)&bpf->rodata->scope, &run->scope, sizeof(run->scope));
	bpf->rodata->by = run->cli->by;
	err = scope__prepare(bpf->obj, &run->scope, &run->cli->scope);
	if (!err)
		err = map__set_room(bpf->maps.keyed_counts, &run->host, keys);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.call_states, false);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.call_states_hash, false);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.call_states_hash_on_free, false);
	return err;
}

static int configure(struct syscount *s, struct run *run)
{
	struct syscount_bpf *bpf = s->bpf;
	int err;

	bpf->rodata->only_failed = s->failed;
	bpf->rodata->only_errno = s->only_errno;
	bpf->rodata->tell_failed = !s->hist;
	describe_calls(s);
	err = choose_programs(s);
	if (!err)
		err = s->latency ? prepare_times(s, run) : prepare_counts(s, run);
	return err;
}

static int load(struct syscount *s, struct run *run)
{
	int err;

	s->bpf = syscount_bpf__open();
	if (!s->bpf)
		return -errno;
	err = configure(s, run);
	if (err || run->cli->explain)
		return err;
	err = syscount_bpf__load(s->bpf);
	if (!err)
		return 0;
	diag_error("this kernel cannot load the programs: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return err == -EPERM || err == -ENOMEM ? err : -EOPNOTSUPP;
}

/*
 * Calls that go on, for tables. Not where it is not known yet how they will count: by CPU, or by
 * how they end.
 */
static void prepare_running(struct syscount *s, const struct run *run)
{
	if (!s->latency || s->hist || s->failed || s->only_errno || run->cli->scope.cpus ||
	    run->cli->by & (BY_CPU | BY_ERRNO))
		return;
	s->running = bpf_program__attach_iter(s->bpf->progs.show_running, NULL);
	if (!s->running)
		diag_detail("no task iterator: calls count when they end");
}

static int attach(struct syscount *s, struct run *run)
{
	int err;

	if (s->latency) {
		err = measure__begin(&s->measure, run, times_map(s, run));
	} else {
		run__describe_memory(run, s->bpf->obj);
		err = scope__fill(s->bpf->obj, &run->cli->scope);
	}
	if (!err)
		err = syscount_bpf__attach(s->bpf);
	if (err) {
		diag_error("cannot attach to the tracepoints of system calls: %s", strerror(-err));
		return err == -EPERM ? err : -EOPNOTSUPP;
	}
	if (s->latency && tasks__visit(s->bpf->progs.seed_calls))
		diag_detail("no task iterator: calls that go on already are lost");
	prepare_running(s, run);
	s->bpf->bss->armed = 1;
	return 0;
}

static int measure(struct syscount *s, struct run *run)
{
	int err = load(s, run);

	if (!err && run->cli->explain) {
		err = run__explain(run, s->bpf->obj, source_text(s));
	} else if (!err) {
		err = attach(s, run);
		if (!err)
			err = run__loop(run);
	}
	bpf_link__destroy(s->running);
	measure__free(&s->measure);
	counts__free(&s->counts);
	calls__free(&s->before);
	syscount_bpf__destroy(s->bpf);
	return err;
}

/* What was not given; histograms have columns of their own. */
static int check_options(struct syscount *s, struct cli *cli)
{
	if (!s->chosen)
		syscall_set__all(&s->wanted);
	if (!cli->by)
		cli->by = BY_SYSCALL;
	s->one_unit = cli->milliseconds;
	if (!s->hist || !s->order)
		return 0;
	cli->sort = report_sort_column(!strcmp(s->order, "calls") ? "count" :
				       !strcmp(s->order, "time")  ? "sum" :
								    s->order);
	if (cli->sort >= 0)
		return 0;
	diag_error("--sort: histograms have no column '%s'", s->order);
	return -EINVAL;
}

static int syscount(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "Which calls, and what of them:", 1 },
		{ NULL, KEY_CALLS, "SET", 0,
		  "Only these: names, globs, classes like %file, with commas between; ! in front: all but",
		  1 },
		{ "failed", KEY_FAILED, NULL, 0, "Only those that fail", 1 },
		{ "errno", KEY_ERRNO, "ERROR", 0, "Only those that fail so: ENOENT, or a number", 1 },
		{ "latency", KEY_LATENCY, NULL, 0, "Also how long they take; calls that go on, too", 1 },
		{ "hist", KEY_HIST, NULL, 0, "A histogram of that for each key", 1 },
		{ "sort", KEY_ORDER, "COL", 0,
		  "Order by calls, errors, time, avg, p50, p99, max, running, longest or key", 5 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct syscount s = {};
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_RUN |
			  CLI_COMMAND | CLI_TIMES,
		.doc = "System calls: how many, how many failed, and how long they took.",
		.own = &own,
		.own_input = &s,
		.own_parts = &own_parts,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (check_options(&s, &cli)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	cli.scope.command_joins_at_exec = true;
	err = run__init(&run, "syscount", &cli);
	run.report = report;
	run.context = &s;
	if (!err)
		err = measure(&s, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(syscount, AREA_CALLS, "system calls: how many, which fail, how long they take");
