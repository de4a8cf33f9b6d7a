// SPDX-License-Identifier: BSD-2-Clause
/* runqlen: how many tasks wait for each CPU, by sampling. The measurement is bpf/runqlen.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "host/topology.h"
#include "out/diag.h"
#include "run/explain.h"
#include "run/measure.h"
#include "tools.h"

#include "bpf/runqlen.h"
#include "runqlen.skel.h"

#define DEFAULT_HZ 99           /* not in step with the scheduler's tick */
#define SHORTEST_PERIOD_NS 10000        /* the kernel's own (perf_swevent_hrtimer()) */

/* Of our own options; those of user/cli are below. */
#define KEY_BY_CPU 0x1000
#define KEY_CLASS 0x1001

struct sampled_cpu {
	int cpu;
	struct bpf_link *link;  /* NULL: the CPU went offline, and its timer with it */
	u64 missed;             /* samples that did not come, since the start */
};

struct runqlen {
	u64 hz;
	bool fair_only, by_cpu;
	const char *cpus;       /* -C */
	char source[160];
	struct runqlen_bpf *bpf;
	struct measure measure;
	struct sampled_cpu *cpu;
	size_t ncpus;
	u64 armed_ns;           /* CLOCK_MONOTONIC: the one that the samples' timers go by */
	u64 missed;             /* of all CPUs, as of the last report */
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* --- options ----------------------------------------------------------------------------------- */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct runqlen *rl = state->input;

	switch (key) {
	case 'F':
		if (!parse_u64_between(arg, 1, UINT32_MAX, &rl->hz))
			return 0;
		diag_error("-F: '%s' is not a number of samples a second", arg);
		return EINVAL;
	case 'C':
		rl->cpus = arg;
		return 0;
	case 'A':
		rl->by_cpu = true;
		return 0;
	case KEY_BY_CPU:
		if (strcmp(arg, "cpu")) {
			diag_error("--by: no key '%s'; a run queue belongs to a CPU: cpu", arg);
			return EINVAL;
		}
		rl->by_cpu = true;
		return 0;
	case KEY_CLASS:
		if (strcmp(arg, "all") && strcmp(arg, "fair")) {
			diag_error("--class: no class '%s'; there are all, fair", arg);
			return EINVAL;
		}
		rl->fair_only = !strcmp(arg, "fair");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The kernel would refuse it, too, but only with a number. */
static int check_rate(const struct runqlen *rl)
{
	char line[32];
	u64 limit;

	if (read_line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line)) ||
	    parse_u64(line, &limit) || rl->hz <= limit)
		return 0;
	diag_error("-F: %llu samples a second are more than the kernel allows: "
		   "kernel.perf_event_max_sample_rate is %llu", rl->hz, limit);
	return -EINVAL;
}

/* --- the samples' timers ----------------------------------------------------------------------- */

static bool is_in_scope(const struct run *run, int cpu)
{
	const struct scope_config *scope = &run->scope;

	return !scope->has_cpus ||
	       (cpu < SCOPE_MAX_CPUS && scope->cpus[cpu / 64] & 1ULL << cpu % 64);
}

static int list_cpus(struct runqlen *rl, const struct run *run)
{
	struct topology t;
	int err = topology__read(&t);
	size_t i;

	if (err)
		return err;
	rl->cpu = calloc(t.n ?: 1, sizeof(*rl->cpu));
	for (i = 0; rl->cpu && i < t.n; i++)
		if (is_in_scope(run, t.cpu[i].cpu))
			rl->cpu[rl->ncpus++].cpu = t.cpu[i].cpu;
	topology__free(&t);
	if (!rl->cpu)
		return -ENOMEM;
	if (!rl->ncpus) {
		diag_error("-C: none of the CPUs %s is online", rl->cpus);
		return -ENOENT;
	}
	return 0;
}

/* A timer on the CPU, idle or not, that runs the program. */
static int attach_cpu(struct runqlen *rl, struct sampled_cpu *c)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = rl->hz,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, c->cpu, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	c->link = bpf_program__attach_perf_event(rl->bpf->progs.on_sample, fd);
	if (c->link)
		return 0;       /* which owns fd now, and has enabled the timer */
	err = -errno;
	close(fd);
	return err;
}

static int attach(struct runqlen *rl, struct run *run)
{
	int err = measure__begin(&rl->measure, run, "lengths");
	size_t i;

	host__allow_files(rl->ncpus);
	for (i = 0; i < rl->ncpus && !err; i++)
		err = attach_cpu(rl, &rl->cpu[i]);
	if (err) {
		diag_error("cannot sample (cpu-clock, perf_event_open): %s", strerror(-err));
		return err == -EACCES ? -EPERM : err;
	}
	rl->bpf->bss->armed = 1;
	rl->armed_ns = now_ns();
	return 0;
}

static void release_cpus(struct runqlen *rl)
{
	size_t i;

	for (i = 0; i < rl->ncpus; i++)
		bpf_link__destroy(rl->cpu[i].link);
	free(rl->cpu);
}

/* --- samples that did not come ----------------------------------------------------------------- */

/* The samples due on each CPU since the start; the newest may be about to come. */
static u64 samples_due(const struct runqlen *rl, u64 now)
{
	u64 period = NSEC_PER_SEC / rl->hz, due;

	if (period < SHORTEST_PERIOD_NS)
		period = SHORTEST_PERIOD_NS;
	due = (now - rl->armed_ns) / period;
	return due ? due - 1 : 0;
}

/* With its timer gone for good, an offline CPU is no longer sampled. */
static int forget_offline(struct runqlen *rl)
{
	struct topology t;
	int err = topology__read(&t);
	size_t i;

	for (i = 0; i < rl->ncpus && !err; i++) {
		if (!rl->cpu[i].link || topology__place(&t, rl->cpu[i].cpu))
			continue;
		diag_warn("CPU %d went offline and is not sampled any more", rl->cpu[i].cpu);
		bpf_link__destroy(rl->cpu[i].link);
		rl->cpu[i].link = NULL;
	}
	if (!err)
		topology__free(&t);
	return err;
}

/* A CPU that is held up (by its hypervisor, with interrupts off), or throttled, skips samples. */
static int count_missed(struct runqlen *rl, struct run *run, u64 *missed)
{
	u64 due, *taken = calloc(run->host.cpus_possible, sizeof(*taken)), sum = 0;
	int fd = bpf_map__fd(rl->bpf->maps.samples), err;
	u32 zero = 0;
	size_t i;

	if (!taken)
		return -ENOMEM;
	err = forget_offline(rl);
	/* The time first: what is due by then has been taken when the samples are read. */
	due = samples_due(rl, now_ns());
	if (!err)
		err = bpf_map_lookup_elem(fd, &zero, taken);
	for (i = 0; i < rl->ncpus && !err; i++) {
		struct sampled_cpu *c = &rl->cpu[i];

		if (c->link && due > taken[c->cpu] + c->missed)
			c->missed = due - taken[c->cpu];
		sum += c->missed;
	}
	free(taken);
	if (err)
		return err;
	*missed = sum - rl->missed;
	rl->missed = sum;
	return 0;
}

/* --- the course -------------------------------------------------------------------------------- */

static int report(struct run *run, struct report *r)
{
	struct runqlen *rl = run->context;
	u64 missed;
	int err;

	r->value = "tasks waiting";
	r->unit = UNIT_COUNT;
	r->source = rl->source;
	r->caveat = "queued and not running; what a cgroup's CPU quota holds back is not queued";
	err = count_missed(rl, run, &missed);
	if (!err)
		err = measure__report(&rl->measure, run, r);
	if (!err)
		r->counters.lost[LOSS_MISSED] += missed;
	return err;
}

static int load(struct runqlen *rl, struct run *run)
{
	int err;

	rl->bpf = runqlen_bpf__open();
	if (!rl->bpf)
		return -errno;
	rl->bpf->rodata->fair_only = rl->fair_only;
	err = measure__prepare(&rl->measure, run, rl->bpf->obj, "lengths", sizeof(struct runqlen_key),
			       &rl->bpf->rodata->scope, &rl->bpf->rodata->by);
	if (!err && !run->cli->explain)
		err = runqlen_bpf__load(rl->bpf);
	if (!err)
		return 0;
	diag_error("this kernel cannot load the program: %s", strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return -EOPNOTSUPP;
}

static int measure(struct runqlen *rl, struct run *run)
{
	int err;

	snprintf(rl->source, sizeof(rl->source),
		 "%s, looked at %llu times a second on each CPU (perf event cpu-clock)",
		 rl->fair_only ? "tasks of the fair class on the run queue (rq->cfs.h_nr_*)" :
				 "tasks of all classes on the run queue (rq->nr_running)", rl->hz);
	run->cli->max_keys = run->host.cpus_possible;   /* a key is a CPU */
	err = list_cpus(rl, run);
	if (!err)
		err = load(rl, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, rl->bpf->obj, rl->source);
	} else if (!err) {
		err = attach(rl, run);
		if (!err)
			err = run__loop(run);
	}
	release_cpus(rl);
	measure__free(&rl->measure);
	runqlen_bpf__destroy(rl->bpf);
	return err;
}

static int runqlen(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ NULL, 0, NULL, 0, "Sampling:", 1 },
		{ "frequency", 'F', "HZ", 0, "Samples a second on each CPU; 99 without this", 1 },
		{ "class", KEY_CLASS, "NAME", 0, "all (default) or fair (CFS, EEVDF): whose queue", 1 },
		{ "cpu", 'C', "CPUS", 0, "Only these CPUs, e.g. 0,2-5", 1 },
		{ NULL, 'A', NULL, 0, "One result per CPU", 1 },
		{ "by", KEY_BY_CPU, "cpu", 0, "The same", 1 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct runqlen rl = { .hz = DEFAULT_HZ };
	const struct cli_spec spec = {
		.groups = CLI_TIME | CLI_TOP | CLI_GROUPS | CLI_OUTPUT | CLI_RUN | CLI_COMMAND,
		.doc = "How many tasks wait for each CPU: the length of the run queues, by sampling.",
		.own = &own,
		.own_input = &rl,
	};
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	if (check_rate(&rl)) {
		cli__free(&cli);
		return EXIT_USAGE;
	}
	/* Queues are not about tasks: a command only sets the time. */
	cli.scope.all = true;
	cli.scope.cpus = rl.cpus;
	cli.by = rl.by_cpu ? BY_CPU : 0;
	err = run__init(&run, "runqlen", &cli);
	run.report = report;
	run.context = &rl;
	if (!err)
		err = measure(&rl, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(runqlen, AREA_SCHEDULER, "how many tasks wait for each CPU");
