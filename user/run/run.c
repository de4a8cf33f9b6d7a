// SPDX-License-Identifier: BSD-2-Clause
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/kernel_btf.h"
#include "report/diag.h"
#include "report/openmetrics.h"
#include "run/measurement.h"
#include "run/subjects.h"

/* What a run waits for with a descriptor: without it, it would not end when it should. */
static int complain_of_waiting(const char *what, int err)
{
	if (err == -EMFILE || err == -ENFILE)
		return host__complain_of_files();
	diag_error("cannot wait for %s: %s", what, strerror(-err));
	return err;
}

static int take_signals(struct run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, &run->setting.signals))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return run->signal_fd < 0 ? complain_of_waiting("signals", -errno) : 0;
}

static int start_command(struct run *run)
{
	struct cli *cli = run->cli;
	int err = command__start(&run->command, cli->command, &run->setting);

	if (err == -EMFILE || err == -ENFILE)
		return host__complain_of_files();
	if (err) {
		diag_error("cannot start '%s': %s", cli->command[0], strerror(-err));
		return err;
	}
	/* perf's habit: with tasks named, or -a, the command only sets the time. */
	if (!cli->scope.npids && !cli->scope.ntids && !cli->scope.all)
		cli->scope.command_pid = run->command.pid;
	return 0;
}

/* JSON and CSV have all that is in a heat map: the reports of its intervals. */
static int open_heat(struct measurement *m)
{
	const struct cli *cli = m->cli;

	if (!cli->heat || cli->explain || cli->format == FORMAT_JSON || cli->format == FORMAT_CSV)
		return 0;
	m->heat = heat__new(heat_style__of(m->writer->file), cli->interval_ns, cli->heat_live,
			      cli->heat_top, cli->sort);
	return m->heat ? 0 : -ENOMEM;
}

static int refresh(void *context);

static int open_listen(struct run *run)
{
	int err;

	if (!run->cli->listen.n || run->cli->explain)
		return 0;
	err = listen__open(&run->listen, &run->cli->listen, refresh, run);
	run->writer.publish = listen__publish;
	run->writer.publisher = run->listen;
	return err;
}

int run__init(struct run *run, struct cli *cli)
{
	int err;

	*run = (struct run){ .cli = cli, .signal_fd = -1, .overhead.stats_fd = -1 };
	diag_verbose(cli->verbose);
	if (cli->explain || strcmp(cli->meant, cli->command_line))
		diag_detail("meant as: %s", cli->meant);
	err = host__read(&run->host);
	if (err)
		return err;
	if (!cli->explain) {
		err = host__check_rights(&run->host);
		if (err)
			return err;
	}
	if (cli->format == FORMAT_OPENMETRICS) {
		cli->metrics_top = cli->top;
		cli->top = 0;
	}
	err = cli__open_writer(cli, &run->writer);
	if (!err)
		err = open_listen(run);
	if (err)
		return err;
	getrlimit(RLIMIT_NOFILE, &run->setting.files);
	err = take_signals(run);
	if (err)
		return err;
	return cli->command && !cli->explain ? start_command(run) : 0;
}

int run__add(struct run *run, struct measurement *m)
{
	int err;

	if (run->n == RUN_MOST)
		return -E2BIG;
	run->measurement[run->n++] = m;
	m->run = run;
	m->writer = &run->writer;
	err = open_heat(m);
	return err ?: scope__resolve(&m->scope, &m->cli->scope);
}

int run__again(struct run *run)
{
	int err;

	command__release(&run->command);
	err = start_command(run);
	return err ?: scope__resolve(&run->measurement[0]->scope, &run->cli->scope);
}

/*
 * Beside what the object holds: what libbpf opens for a moment to ask what the kernel can do, a ring
 * and its clock, the timers of the run, files of /proc.
 */
#define FILES_BESIDE 12

static size_t files_of(const struct bpf_object *obj)
{
	size_t n = FILES_BESIDE;
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
		n += bpf_map__autocreate(map);
	bpf_object__for_each_program(prog, obj)
		n += 2 * bpf_program__autoload(prog);   /* it, and where it is attached */
	return n;
}

int run__load(struct bpf_object_skeleton *skeleton)
{
	int err = host__need_files(files_of(*skeleton->obj));

	return err ?: bpf_object__load_skeleton(skeleton);
}

/* What the main loop waits for. */
enum {
	WAIT_SIGNAL, WAIT_INTERVAL, WAIT_END, WAIT_COMMAND, WAIT_SUBJECTS, WAIT_BUDGET, WAIT_LISTEN,
	WAIT_WATCH,             /* and on: that of each measurement */
	WAITS = WAIT_WATCH + RUN_MOST,
};

/* The programs' share is looked at so often. */
#define BUDGET_WINDOW_NS NSEC_PER_SEC

/* first_ns 0: there is none, and nothing is waited for. */
static int MUST_CHECK start_timer(struct pollfd *wait, u64 first_ns, u64 period_ns)
{
	struct itimerspec spec = {
		.it_value = { first_ns / NSEC_PER_SEC, first_ns % NSEC_PER_SEC },
		.it_interval = { period_ns / NSEC_PER_SEC, period_ns % NSEC_PER_SEC },
	};

	if (!first_ns)
		return 0;
	wait->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (wait->fd < 0 || timerfd_settime(wait->fd, 0, &spec, NULL))
		return complain_of_waiting("the time", -errno);
	return 0;
}

static int MUST_CHECK start_timers(const struct cli *cli, struct pollfd wait[WAITS])
{
	int err = start_timer(&wait[WAIT_INTERVAL], cli->interval_ns, cli->interval_ns);

	if (!err)
		err = start_timer(&wait[WAIT_END], cli->duration_ns, 0);
	if (!err && cli->budget)
		err = start_timer(&wait[WAIT_BUDGET], BUDGET_WINDOW_NS, BUDGET_WINDOW_NS);
	return err;
}

static void stop_timers(struct pollfd wait[WAITS])
{
	static const int timers[] = { WAIT_INTERVAL, WAIT_END, WAIT_BUDGET };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(timers); i++)
		if (wait[timers[i]].fd >= 0)
			close(wait[timers[i]].fd);
}

/* One signal asks for the last report; the next one is not to wait for anything. */
static void restore_signals(struct run *run)
{
	struct signalfd_siginfo info;
	sigset_t set;

	if (read(run->signal_fd, &info, sizeof(info)) < 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int write_or_add(struct measurement *m, const struct report *r)
{
	int err;

	if (m->hold)
		return 0;
	if (!m->heat)
		return measurement__write(m, r);
	err = heat__add(m->heat, m->writer, r);
	if (err == -EOPNOTSUPP) {
		diag_error("--heat is about a histogram, and this report has none");
		m->run->usage = true;
		return -EINVAL;
	}
	return err;
}

static int add_overhead(struct run *run, struct report *r)
{
	struct report_overhead *cost = &run->overhead.cost;
	int err = overhead__since(&run->overhead, r->duration_ns, r->cpus);

	cost->budget = run->cli->budget;
	cost->over_budget = run->over_budget;
	r->overhead = cost;
	return err;
}

/* Where reports have no place for it. */
static void tell_overhead(const struct measurement *m, const struct report *r)
{
	enum report_format format = m->writer->format;
	char *line = NULL;
	size_t n = 0;
	FILE *f;

	if (m->hold || m->writer->sink || (!m->heat && (format == FORMAT_TEXT || format == FORMAT_JSON ||
					 format == FORMAT_OPENMETRICS)))
		return;
	f = open_memstream(&line, &n);
	if (!f)
		return;
	put_overhead_line(f, r->overhead);
	if (!fclose(f))
		diag_hint("%s", line);
	free(line);
}

/* What the programs cost is told once, with the last report of an interval. */
static bool tells_overhead(const struct measurement *m)
{
	const struct run *run = m->run;

	return run->cli->overhead && m == run->measurement[run->n - 1];
}

/*
 * What the writer knows of whoever writes now: of several, each has its own headings and its own
 * unit of times, and names itself in messages.
 */
static void begin_writing(struct measurement *m)
{
	m->writer->of_tool = m->tool;
	m->writer->of_command = m->cli->command_line;
	if (m->run->n == 1)
		return;
	m->writer->header = m->header;
	m->writer->milliseconds = m->cli->milliseconds;
	m->writer->tool = m->tool;
	diag_speaker(m->tool);
}

static void end_writing(struct measurement *m)
{
	if (m->run->n == 1)
		return;
	m->header = m->writer->header;
	diag_speaker(NULL);
}

/*
 * The next interval begins where this one ends. Several measurements are read one after the other:
 * each has intervals of its own, but for the beginning of the first and the end of the last.
 */
static int write_report(struct measurement *m)
{
	struct run *run = m->run;
	u64 duration_ns = (run->ended_ns ?: monotonic_ns()) - m->began_ns;
	struct report r = {
		.tool = m->tool,
		.command = m->cli->command_line,
		.kernel = run->host.uts.release,
		.cpus = run->host.cpus_online,
		.start_ns = m->start_ns,
		.duration_ns = duration_ns,
		.has_max_keys = m->cli->has_max_keys,
	};
	int err = measurement__report(m, &r);

	if (!err && tells_overhead(m))
		err = add_overhead(run, &r);
	if (!err) {
		run->lost |= (r.has_events || r.has_losses) && !loss__is_none(&r.counters);
		err = write_or_add(m, &r);
		if (r.overhead)
			tell_overhead(m, &r);
	} else if (err == -EMFILE || err == -ENFILE) {
		host__complain_of_files();
	} else {
		diag_error("cannot read the results: %s", strerror(-err));
	}
	report__free(&r);
	m->start_ns += duration_ns;
	m->began_ns += duration_ns;
	return err;
}

static int write_reports(struct run *run)
{
	int err = 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++) {
		begin_writing(run->measurement[i]);
		err = write_report(run->measurement[i]);
		end_writing(run->measurement[i]);
	}
	if (!err && run->writer.sink)
		err = run->writer.sink->end(run->writer.sink->context);
	return err;
}

/* A look at the end of each window: have the programs taken more than they may? */
struct budget {
	u64 program_ns, time_ns;
};

static bool is_over_budget(struct run *run, struct budget *last)
{
	struct budget now = { overhead__program_ns(), monotonic_ns() };
	double share = 100.0 * ((double)now.program_ns - last->program_ns) /
		       (now.time_ns - last->time_ns) / run->host.cpus_online;

	*last = now;            /* programs may have gone since: less than before is no cost */
	if (share <= run->cli->budget)
		return false;
	run->over_budget = share;
	run->lost = true;
	diag_warn("the programs took %.3g%% of the machine's CPU time, --budget is %g%%: stopped",
		  share, run->cli->budget);
	return true;
}

/* Nothing more is counted, by any measurement. */
static void close_gates(struct run *run)
{
	size_t i;

	for (i = 0; i < run->n; i++)
		measurement__disarm(run->measurement[i]);
	run->ended_ns = monotonic_ns();
}

/*
 * The command goes on without being measured. Hooks that are not the skeleton's find the gate
 * closed.
 */
static void await_command(struct run *run, struct pollfd wait[WAITS])
{
	struct pollfd end[] = { wait[WAIT_SIGNAL], wait[WAIT_END], wait[WAIT_COMMAND] };
	size_t i;

	close_gates(run);
	for (i = 0; i < run->n; i++)
		bpf_object__detach_skeleton(run->measurement[i]->skeleton);
	while (poll(end, ARRAY_SIZE(end), -1) < 0 && errno == EINTR)
		;
}

/* Returns 0, 1 to end the run with a last report, or a negative errno. */
static int take_events(struct run *run)
{
	int err = 0, end = 0;
	size_t i;

	for (i = 0; i < run->n && err >= 0; i++) {
		struct measurement *m = run->measurement[i];

		begin_writing(m);
		err = m->watch ? m->watch(m) : 0;
		end_writing(m);
		end |= err > 0;
	}

	if (err == -EMFILE || err == -ENFILE)
		host__complain_of_files();
	else if (err < 0 && !run->writer.failed)
		diag_error("cannot read the events: %s", strerror(-err));
	return err < 0 ? err : end;
}

static int end_interval(struct run *run)
{
	run->has_reported = true;
	return write_reports(run);
}

/*
 * Somebody asks for metrics. With an interval everybody is told of the last one. Else the counters
 * are read now, but not again and again: who asks is not to decide how much work that is.
 */
#define FRESH_NS (500 * NSEC_PER_MSEC)

static int refresh(void *context)
{
	struct run *run = context;

	if (!run->cli->on_demand ||
	    (run->has_reported && monotonic_ns() - run->measurement[0]->began_ns < FRESH_NS))
		return 0;
	return end_interval(run);
}

static bool has_events(const struct run *run, const struct pollfd wait[WAITS])
{
	size_t i;

	for (i = 0; i < run->n; i++)
		if (wait[WAIT_WATCH + i].revents)
			return true;
	return false;
}

static int loop(struct run *run, struct pollfd wait[WAITS], struct subjects *subjects)
{
	struct budget spent = { run->cli->budget ? overhead__program_ns() : 0, monotonic_ns() };
	bool end = false, due, is_last;
	u64 expired, n = 0;
	int err;

	if (subjects->epoll_fd >= 0 && !subjects->alive)
		raise(SIGTERM);         /* all ended before they were watched */
	while (!end) {
		if (poll(wait, WAIT_WATCH + run->n, listen__timeout_ms(run->listen)) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (wait[WAIT_SIGNAL].revents) {
			restore_signals(run);
			run->interrupted = true;
			end = true;
		}
		if (wait[WAIT_END].revents || wait[WAIT_COMMAND].revents)
			end = true;
		if (wait[WAIT_SUBJECTS].revents)
			end |= subjects__all_ended(subjects);
		if (wait[WAIT_BUDGET].revents &&
		    read(wait[WAIT_BUDGET].fd, &expired, sizeof(expired)) > 0 && !end)
			end = is_over_budget(run, &spent);
		due = wait[WAIT_INTERVAL].revents;
		is_last = end || (due && run->cli->count && n + 1 == run->cli->count);
		/* Several measurements are read one after the other, and end at one instant. */
		if (is_last && run->n > 1)
			close_gates(run);
		if (end || due || wait[WAIT_LISTEN].revents || has_events(run, wait)) {
			err = take_events(run);
			if (err < 0)
				return err;
			end |= err;
		}
		if (run->listen && !end) {
			err = listen__serve(run->listen);
			if (err)
				return err;
		}
		if (!end && !due)
			continue;
		if (due &&
		    read(wait[WAIT_INTERVAL].fd, &expired, sizeof(expired)) < 0 && !end)
			continue;
		err = end_interval(run);
		if (err)
			return err;
		if (run->cli->count && ++n == run->cli->count)
			end = true;
	}
	return 0;
}

static int announce(struct run *run)
{
	static const char line[] = "ready\n";

	listen__announce(run->listen);
	if (run->cli->ready_fd < 0)
		return 0;
	if (write(run->cli->ready_fd, line, sizeof(line) - 1) < 0)
		return -errno;
	close(run->cli->ready_fd);
	run->cli->ready_fd = -1;
	return 0;
}

static int start_overhead(struct run *run)
{
	bool stops = true;
	size_t i;

	for (i = 0; i < run->n; i++)
		stops &= measurement__can_stop(run->measurement[i]);
	if (run->cli->budget && run->command.pid && !stops) {
		diag_error("--budget: this tool cannot stop before the command ends");
		diag_hint("measure it without --, by -p or -G, or take --overhead");
		return -EINVAL;
	}
	return overhead__start(&run->overhead);
}

static void watch_events(const struct run *run, struct pollfd wait[WAITS])
{
	size_t i;

	for (i = 0; i < run->n; i++)
		wait[WAIT_WATCH + i] =
			(struct pollfd){ run->measurement[i]->watch_fd, POLLIN, 0 };
}

static int arm(const struct run *run)
{
	int err = 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++)
		err = measurement__arm(run->measurement[i]);
	return err;
}

static void begin_interval(struct run *run)
{
	u64 began_ns = monotonic_ns(), start_ns = realtime_ns();
	size_t i;

	run->ended_ns = 0;
	for (i = 0; i < run->n; i++) {
		run->measurement[i]->began_ns = began_ns;
		run->measurement[i]->start_ns = start_ns;
	}
}

static int write_heat(const struct run *run)
{
	int err = 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++)
		if (run->measurement[i]->heat)
			err = heat__write(run->measurement[i]->heat, run->measurement[i]->writer);
	return err;
}

int run__loop(struct run *run)
{
	const struct cli *cli = run->cli;
	struct subjects subjects;
	char used[UNITS_SPACE];
	int err;
	struct pollfd wait[WAITS] = {
		[WAIT_SIGNAL] = { run->signal_fd, POLLIN, 0 },
		[WAIT_INTERVAL] = { -1, POLLIN, 0 },
		[WAIT_END] = { -1, POLLIN, 0 },
		[WAIT_COMMAND] = { run->command.pid ? run->command.pidfd : -1, POLLIN, 0 },
		[WAIT_SUBJECTS] = { -1, POLLIN, 0 },
		[WAIT_BUDGET] = { -1, POLLIN, 0 },
		[WAIT_LISTEN] = { listen__fd(run->listen), POLLIN, 0 },
	};

	kernel_btf__drop();
	err = arm(run);
	if (err)
		return err;
	watch_events(run, wait);
	err = subjects__watch(&subjects, cli->scope.pids, cli->scope.npids);
	if (err)
		err = complain_of_waiting("the processes of -p", err);
	wait[WAIT_SUBJECTS].fd = subjects.epoll_fd;
	if (!err)
		err = start_timers(cli, wait);
	if (!err && cli->overhead)
		err = start_overhead(run);
	if (!err && !run->command.pid)
		err = writer__begin_metrics(&run->writer);
	if (!err)
		err = announce(run);
	run->measuring = !err;
	begin_interval(run);
	if (!err && run->command.pid)
		err = command__go(&run->command) ?: writer__begin_metrics(&run->writer);
	if (!err)
		err = loop(run, wait, &subjects);
	if (!err)
		err = write_heat(run);
	if (!err && run->over_budget && run->command.pid)
		await_command(run, wait);
	overhead__stop(&run->overhead);
	diag_detail("this process used %s of CPU time, loading included",
		    format_value(used, own_cpu_ns(), UNIT_NS, false));
	subjects__release(&subjects);
	stop_timers(wait);
	return err;
}

void run__release(struct run *run)
{
	command__release(&run->command);
	listen__close(run->listen);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	run->unwritten = cli__close_writer(&run->writer, 0);
	openmetrics__free(run->writer.metrics);
}

int run__exit_code(const struct run *run, int err)
{
	/* Nobody reads any more: an end like another. */
	if (run->writer.failed == -EPIPE)
		err = 0;
	if (run->unwritten)
		return EXIT_FAILED;
	if (run->measuring && err && !run->usage)
		return EXIT_FAILED;
	switch (err) {
	case 0:
		return run->cli->strict && run->lost ? EXIT_LOST : EXIT_DONE;
	case -EINVAL:
		return EXIT_USAGE;
	case -EPERM:
	case -EOPNOTSUPP:
		return EXIT_UNABLE;
	default:
		return EXIT_FAILED;
	}
}
