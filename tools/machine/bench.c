// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench: loads that measure a machine, or the cost of a tracer. Rounds with and without the tracer
 * alternate. See tools/machine/bench/load.h and round.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "machine/bench/table.h"
#include "machine/bench/tracer.h"
#include "cli/options.h"
#include "host/host.h"
#include "report/diag.h"
#include "run/run.h"
#include "tools.h"

#define MOST_LOOPS (1ULL << 40)
#define MOST_TASKS 10000
#define MOST_ROUNDS 1000
#define LONGEST_NS (86400 * NSEC_PER_SEC)
/* Duration of a round without -l and -d. With many tasks, it takes a while until all of them run. */
#define ROUND_NS (200 * NSEC_PER_MSEC)
#define ROUND_NS_EACH_TASK (2 * NSEC_PER_MSEC)

extern const struct tool *const __start_tally_tools[];
extern const struct tool *const __stop_tally_tools[];

struct bench {
	const struct load *load;
	struct load_options asked;      /* zero if not given */
	u64 loops;                      /* 0 if not determined yet */
	u64 duration_ns;                /* of all rounds; 0 if not given */
	u64 repeat;
	const char *tracer_output;
	struct tracer tracer;
	struct child_signals signals;
	struct rounds rounds[2];        /* without the tracer, with it */
	struct cli cli;
	struct host host;
	struct writer writer;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int take_cpus(void *own, char *arg)
{
	struct bench *b = own;
	u64 words[CPU_SETSIZE / 64] = {};
	size_t i;

	if (parse_cpu_list(arg, words, ARRAY_SIZE(words))) {
		diag_error("-C: '%s' is not a list of CPUs like 0,2-5", arg);
		return -EINVAL;
	}
	for (i = 0; i < CPU_SETSIZE; i++)
		if (words[i / 64] >> (i % 64) & 1)
			CPU_SET(i, &b->asked.cpus);
	b->asked.pinned = true;
	return 0;
}

static int take_load(void *own, char *arg)
{
	struct bench *b = own;
	const char *near;

	if (b->load) {
		diag_error("unexpected argument '%s': one load is run at a time", arg);
		diag_hint("a tracer follows --, as in: tally bench %s -- %s", b->load->name,
			  arg);
		return -EINVAL;
	}
	b->load = load__find(arg, &near);
	if (b->load)
		return 0;
	diag_error("no load '%s'", arg);
	if (near)
		diag_hint("did you mean '%s'?", near);
	else
		diag_hint("`tally bench` lists the loads");
	return -EINVAL;
}

static const struct option_row rows[] = {
	HEADING("Load:", 1),
	{ "loops", 'l', "N", ROW_COUNT, "Loops per round, without a warm-up round", 1,
	  FIELD(struct bench, loops), .least = 1, .most = MOST_LOOPS, .wanted = "a number of at least 1" },
	{ "groups", 0, "N", ROW_COUNT, "Groups of tasks", 1,
	  FIELD(struct bench, asked.groups), .least = 1, .most = MOST_TASKS },
	{ "tasks", 0, "N", ROW_COUNT, "Tasks; for sched-messaging, the senders of a group, and as many receivers", 1,
	  FIELD(struct bench, asked.tasks), .least = 1, .most = MOST_TASKS },
	{ "threads", 0, NULL, ROW_FLAG, "Tasks are threads of a process, not processes", 1,
	  FIELD(struct bench, asked.threads) },
	{ "size", 0, "BYTES", ROW_SIZE, "size of a message or a copy; 64K, 1M", 1,
	  FIELD(struct bench, asked.size), .least = 1, .most = 1ULL << 30 },
	{ "pipe", 0, NULL, ROW_FLAG, "Pipes instead of sockets", 1, FIELD(struct bench, asked.pipe) },
	{ "shared", 0, NULL, ROW_FLAG, "Futexes that processes can share", 1,
	  FIELD(struct bench, asked.shared) },
	{ "cpu", 'C', "CPUS", ROW_OWN, "Run the load on these CPUs, e.g. 0,2-5", 1, .parse = take_cpus },
	HEADING("Rounds:", 2),
	{ "repeat", 'r', "N", ROW_COUNT, "Rounds (with a tracer, pairs of rounds); 6 by default", 2,
	  FIELD(struct bench, repeat), .least = 1, .most = MOST_ROUNDS },
	{ "duration", 'd', "SECONDS", ROW_TIME,
	  "Time of all rounds together; by default 0.2 each, more with many tasks", 2,
	  FIELD(struct bench, duration_ns), .unit_ns = NSEC_PER_SEC,
	  .least = 1, .most = LONGEST_NS, .wanted = "a time in seconds, like 10 or 2.5 or 5m" },
	HEADING("Tracer (the command after --):", 3),
	{ "settle", 0, "SECONDS", ROW_TIME,
	  "Time to let it start, unless it is one of tally's tools; 1 by default", 3,
	  FIELD(struct bench, tracer.settle_ns), .unit_ns = NSEC_PER_SEC,
	  .most = LONGEST_NS, .wanted = "a time in seconds, like 1 or 0.5" },
	{ "tracer-output", 0, "FILE", ROW_TEXT, "write its output here; by default it is discarded", 3,
	  FIELD(struct bench, tracer_output) },
	{},
};

/* The options of loads that were given, as enum load_takes. */
static u32 given(const struct load_options *o)
{
	return (o->groups ? LOAD_GROUPS : 0) | (o->tasks ? LOAD_TASKS : 0) | (o->size ? LOAD_SIZE : 0) |
	       (o->threads ? LOAD_THREADS : 0) | (o->pipe ? LOAD_PIPE : 0) | (o->shared ? LOAD_SHARED : 0);
}

/* Combines the options with the defaults of the load. */
static int settle_options(struct bench *b)
{
	const struct load *load = b->load;
	struct load_options *o = &b->asked, usual = load->usual;
	u32 wrong = given(o) & ~load->takes;
	u64 cpus = o->pinned ? (u64)CPU_COUNT(&o->cpus) : (u64)b->host.cpus_online;

	if (wrong) {
		diag_error("%s does not take %s", load->name, load__option_name(wrong & -wrong));
		diag_hint("`tally bench` lists what each load takes");
		return -EINVAL;
	}
	if (usual.tasks == LOAD_EACH_CPU)
		usual.tasks = cpus;
	o->groups = o->groups ?: usual.groups;
	o->tasks = o->tasks ?: usual.tasks;
	o->size = o->size ?: usual.size;
	o->threads |= usual.threads;
	if (o->size < load->least_size || (load->most_size && o->size > load->most_size)) {
		diag_error("--size: %s takes %llu to %llu", load->name, load->least_size,
			   load->most_size);
		return -EINVAL;
	}
	if (o->groups * o->tasks > MOST_TASKS || load->tasks(o) > MOST_TASKS) {
		diag_error("%s: at most %u tasks are supported", load->name, MOST_TASKS);
		return -EINVAL;
	}
	if (b->loops && b->duration_ns) {
		diag_error("-l and -d cannot be combined");
		return -EINVAL;
	}
	return 0;
}

/*
 * --- the tracer --------------------------------------------------------------------------------
 */

static bool is_tool(const char *name)
{
	const struct tool *const *t;

	for (t = __start_tally_tools; t < __stop_tally_tools; t++)
		if (!strcmp((*t)->name, name))
			return true;
	return false;
}

static int prepare_tracer(struct bench *b)
{
	struct tracer *t = &b->tracer;

	t->argv = b->cli.command;
	t->signals = &b->signals;
	t->output = -1;
	if (!t->argv)
		return 0;
	if (b->tracer_output) {
		t->output = open(b->tracer_output,
				 O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
				 0600);
		if (t->output < 0) {
			diag_error("--tracer-output: '%s': %s", b->tracer_output, strerror(errno));
			return -errno;
		}
	}
	return tracer__prepare(t, is_tool);
}

static void free_tracer(struct bench *b)
{
	tracer__free(&b->tracer);
	if (b->tracer_output && b->tracer.output >= 0)
		close(b->tracer.output);
}

/*
 * --- rounds ------------------------------------------------------------------------------------
 */

static int do_round(struct bench *b, struct rounds *rounds, struct round *done)
{
	int err = round__run(done, b->load, &b->asked, b->loops, &b->signals);

	if (!err)
		diag_detail("%s, round %zu: %llu operations in %.3f ms",
			    rounds == b->rounds ? "without" : "with", rounds->n + 1,
			    done->operations, done->elapsed_ns / 1e6);
	return err;
}

static void keep(struct rounds *rounds, const struct round *done)
{
	rounds->round[rounds->n++] = *done;
}

/* Does a round without the tracer and one with it. Either both count or neither does. */
static int do_pair(struct bench *b)
{
	struct round without, with;
	int err = do_round(b, &b->rounds[0], &without), stopped;

	if (err)
		return err;
	if (b->tracer.argv) {
		err = tracer__start(&b->tracer);
		if (err)
			return err;
		err = do_round(b, &b->rounds[1], &with);
		stopped = tracer__stop(&b->tracer);
		if (err || stopped)
			return err ?: stopped;
		keep(&b->rounds[1], &with);
	}
	keep(&b->rounds[0], &without);
	return 0;
}

static u64 round_ns(const struct bench *b)
{
	if (b->duration_ns)
		return b->duration_ns / (b->repeat * (b->tracer.argv ? 2 : 1));
	return ROUND_NS + b->load->tasks(&b->asked) * ROUND_NS_EACH_TASK;
}

static int do_rounds(struct bench *b)
{
	int err = 0;
	u64 i;

	if (!b->loops)
		err = round__find_loops(&b->loops, round_ns(b), b->load, &b->asked, &b->signals);
	for (i = 0; i < b->repeat && !err; i++)
		err = do_pair(b);
	if (err == -EINTR) {
		child_signals__restore(&b->signals);
		if (b->rounds[0].n)
			return 0;
		diag_error("interrupted before the first round was done");
	}
	return err;
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static u64 wall_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int write_report(struct bench *b, u64 start_ns, u64 duration_ns)
{
	struct report r = {
		.tool = "bench", .command = b->cli.command_line, .kernel = b->host.uts.release,
		.cpus = b->host.cpus_online, .start_ns = start_ns, .duration_ns = duration_ns,
	};
	struct bench_table t = {};
	int err = bench_table__fill(&t, &r, b->load, &b->asked, &b->rounds[0],
				    b->tracer.argv ? &b->rounds[1] : NULL);

	if (!err)
		err = writer__write(&b->writer, &r);
	report__free(&r);
	bench_table__free(&t);
	return err;
}

static int list_loads(struct bench *b)
{
	struct report r = { .tool = "bench" };
	int err;

	if (given(&b->asked) || b->loops || b->cli.command) {
		diag_error("no load given; `tally bench` lists the loads");
		return -EINVAL;
	}
	err = cli__open_writer(&b->cli, &b->writer) ?: bench_table__list(&r);
	if (!err)
		err = writer__write(&b->writer, &r);
	report__free(&r);
	return err;
}

static int measure(struct bench *b)
{
	u64 start_ns = wall_clock_ns(), began = monotonic_ns();
	int err = settle_options(b), i;

	for (i = 0; i < 2 && !err; i++) {
		b->rounds[i].round = calloc(b->repeat, sizeof(*b->rounds[i].round));
		err = b->rounds[i].round ? 0 : -ENOMEM;
	}
	if (!err)
		err = cli__open_writer(&b->cli, &b->writer);
	if (!err)
		err = child_signals__take(&b->signals);
	if (!err)
		err = prepare_tracer(b);
	if (!err)
		err = do_rounds(b);
	if (!err)
		err = write_report(b, start_ns, monotonic_ns() - began);
	free_tracer(b);
	free(b->rounds[0].round);
	free(b->rounds[1].round);
	return err;
}

static void complete_load(struct completion *c)
{
	size_t i;

	for (i = 0; !c->position && i < load_count; i++)
		completion__add(c, loads[i]->name, loads[i]->summary);
}

static int bench(int argc, char **argv)
{
	struct bench b = { .repeat = 6, .tracer.settle_ns = NSEC_PER_SEC };
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT | CLI_COMMAND,
		.doc = "Measures a machine with a load, and the cost of a tracer. Without a load, lists the loads.",
		.rows = rows,
		.args_doc = "\nLOAD\nLOAD -- TRACER [ARG...]",
		.argument = take_load,
		.own_input = &b,
		.arguments = complete_load,
	};
	int err;

	if (cli__parse(&b.cli, &spec, argc, argv))
		return EXIT_USAGE;
	diag_verbose(b.cli.verbose);
	err = host__read(&b.host);
	if (!err)
		err = b.load ? measure(&b) : list_loads(&b);
	err = cli__close_writer(&b.writer, err);
	cli__free(&b.cli);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return EXIT_DONE;
}

TOOL(bench, AREA_MACHINE, "how much this machine does in a given time, and what a tracer costs");
