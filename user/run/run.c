// SPDX-License-Identifier: BSD-2-Clause
#include "run/run.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "types/kernel_btf.h"
#include "host/signal_name.h"
#include "report/diag.h"
#include "report/openmetrics.h"
#include "run/budget.h"
#include "run/measurement.h"
#include "run/reports.h"
#include "run/subjects.h"

/* Reports that a descriptor that the run waits on could not be set up. Without it, the run might not end in time. */
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
	if (run->live) {
		sigaddset(&set, SIGTSTP);
		sigaddset(&set, SIGCONT);
		sigaddset(&set, SIGWINCH);
	}
	if (sigprocmask(SIG_BLOCK, &set, &run->setting.signals))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	run->writer.stop_fd = run->signal_fd < 0 ? 0 : run->signal_fd;
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
	/* As in perf: if tasks or -a are given, the command only sets the duration. */
	if (!cli->scope.npids && !cli->scope.ntids && !cli->scope.all)
		cli->scope.command_pid = run->command.pid;
	else
		cli->scope.command_apart = run->command.pid;
	return 0;
}

/* Creates the heat map. JSON and CSV have the reports of its intervals instead. */
static int open_heat(struct measurement *m)
{
	const struct cli *cli = m->cli;

	if (!cli->heat || cli->explain || cli->format == FORMAT_JSON || cli->format == FORMAT_CSV)
		return 0;
	m->heat = heat__new(heat_style__of(m->writer->file), cli->interval_ns, cli->heat_live,
			      cli->heat_top, cli->sort);
	return m->heat ? 0 : -ENOMEM;
}

static int open_metrics(struct measurement *m)
{
	const struct cli *cli = m->cli;

	if (m->run->cli->format != FORMAT_OPENMETRICS || cli->explain)
		return 0;
	m->metrics = openmetrics__new(m->run->several ? cli->command_line : NULL);
	return m->metrics ? 0 : -ENOMEM;
}

static int refresh(void *context);

static int open_listen(struct run *run)
{
	int err;

	if (!run->cli->listen.n || run->cli->explain)
		return 0;
	err = listen__open(&run->listen, &run->cli->listen, run->cli->profiles,
			   run->cli->on_demand ? refresh : NULL, run);
	run->writer.publish = listen__publish;
	run->writer.publisher = run->listen;
	return err;
}

int run__init(struct run *run, struct cli *cli)
{
	int err;

	*run = (struct run){
		.cli = cli, .signal_fd = -1, .overhead.stats_fd = -1, .several = run->several,
		.metrics.started_ns = realtime_ns(),
	};
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
	run->writer.host = run->host.uts.nodename;
	run->rows = run->writer.terminal.rows;
	if (!err)
		err = open_listen(run);
	if (!err && cli->live && !cli->explain)
		err = live__new(&run->live, cli);
	if (err)
		return err;
	getrlimit(RLIMIT_NOFILE, &run->setting.files);
	run->setting.env = cli->env;
	run->setting.nenv = cli->nenv;
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
	m->run = run;
	m->writer = &run->writer;
	err = open_heat(m) ?: open_metrics(m);
	err = err ?: scope__resolve(&m->scope, &m->cli->scope);
	if (!err)
		run->measurement[run->n++] = m;
	return err;
}

/* Takes over the command's exit status, unless the signal that interrupted the run may also have ended the command. */
static void release_command(struct run *run)
{
	struct command *c = &run->command;
	char name[SIGNAL_NAME_SPACE];

	command__release(c);
	if (!c->has_ended || run->interrupted)
		return;
	if (WIFSIGNALED(c->status))
		diag_warn("'%s' was killed by %s", c->name, signal_name(name, WTERMSIG(c->status)));
	run->command_status = run->command_status ?: command__shell_status(c->status);
	c->has_ended = false;
}

int run__again(struct run *run)
{
	int err;

	release_command(run);
	err = start_command(run);
	return err ?: scope__resolve(&run->measurement[0]->scope, &run->cli->scope);
}

/* Descriptors that the main loop polls. */
enum {
	WAIT_SIGNAL, WAIT_INTERVAL, WAIT_END, WAIT_COMMAND, WAIT_SUBJECTS, WAIT_BUDGET, WAIT_LISTEN,
	WAIT_KEYS,
	WAIT_WATCH,             /* and up: one per measurement */
	WAITS = WAIT_WATCH + RUN_MOST,
};

/* How often --budget is checked. */
#define BUDGET_WINDOW_NS NSEC_PER_SEC

/* A timer of the run. It starts with the measurement, so no run is shorter than requested. */
struct timer {
	int wait;               /* its index in the descriptors */
	u64 first_ns;           /* 0: not wanted */
	u64 period_ns;          /* 0: once */
};

#define TIMERS 3

static void get_timers(struct timer timer[TIMERS], const struct cli *cli)
{
	timer[0] = (struct timer){ WAIT_INTERVAL, cli->interval_ns, cli->interval_ns };
	timer[1] = (struct timer){ WAIT_END, cli->duration_ns, 0 };
	timer[2] = (struct timer){ WAIT_BUDGET, cli->budget ? BUDGET_WINDOW_NS : 0, BUDGET_WINDOW_NS };
}

static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static int MUST_CHECK open_timers(const struct cli *cli, struct pollfd wait[WAITS])
{
	struct timer timer[TIMERS];
	size_t i;

	get_timers(timer, cli);
	for (i = 0; i < TIMERS; i++) {
		if (!timer[i].first_ns)
			continue;
		wait[timer[i].wait].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (wait[timer[i].wait].fd < 0)
			return complain_of_waiting("the time", -errno);
	}
	return 0;
}

static int MUST_CHECK start_timers(const struct cli *cli, const struct pollfd wait[WAITS], u64 began_ns)
{
	struct timer timer[TIMERS];
	size_t i;

	get_timers(timer, cli);
	for (i = 0; i < TIMERS; i++) {
		struct itimerspec spec = {
			.it_value = own_monotonic(began_ns + timer[i].first_ns),
			.it_interval = timespec_of(timer[i].period_ns),
		};

		if (timer[i].first_ns &&
		    timerfd_settime(wait[timer[i].wait].fd, TFD_TIMER_ABSTIME, &spec, NULL))
			return complain_of_waiting("the time", -errno);
	}
	return 0;
}

static void close_timers(const struct cli *cli, struct pollfd wait[WAITS])
{
	struct timer timer[TIMERS];
	size_t i;

	get_timers(timer, cli);
	for (i = 0; i < TIMERS; i++)
		if (wait[timer[i].wait].fd >= 0)
			close(wait[timer[i].wait].fd);
}

/*
 * timeout(1) signals its command and then their process group, and a shell in the terminal's process group may forward
 * the signal. So another signal soon after the first one is the same request.
 */
#define SAME_SIGNAL_NS (300 * NSEC_PER_MSEC)

static u64 first_signal_ns;

static void take_another(int signo)
{
	if (monotonic_ns() - first_signal_ns < SAME_SIGNAL_NS)
		return;
	signal(signo, SIG_DFL);
	raise(signo);
}

static void end_at_another_signal(void)
{
	const struct sigaction action = { .sa_handler = take_another, .sa_flags = SA_RESTART };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	size_t i;

	first_signal_ns = monotonic_ns();
	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The first signal requests the last report; a second one ends the run at once. Returns true if the run ends. */
static bool take_signal(struct run *run)
{
	struct signalfd_siginfo info = {};

	if (read(run->signal_fd, &info, sizeof(info)) < 0)
		return true;
	if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGCONT || info.ssi_signo == SIGWINCH) {
		live__take_signal(run->live, info.ssi_signo);
		return false;
	}
	if (info.ssi_signo == SIGHUP && run->reload) {
		run->reload(run->reloader);
		return false;
	}
	end_at_another_signal();
	run->interrupted = true;
	return true;
}

/*
 * Stops all measurements from counting. Stopping some of them takes time, since they read files, so each has its own
 * end.
 */
static void close_gates(struct run *run)
{
	size_t i;

	if (run->ended_ns)
		return;
	for (i = 0; i < run->n; i++) {
		struct measurement *m = run->measurement[i];

		if (m->ended_ns)
			continue;
		measurement__disarm(m);
		if (!m->closed_ns)
			m->closed_ns = monotonic_ns();
	}
	run->ended_ns = monotonic_ns();
	slices__stop(run->slices);
}

/* Lets the command continue unmeasured. Programs that the skeleton does not attach find the gate closed. */
static void await_command(struct run *run, struct pollfd wait[WAITS])
{
	struct pollfd end[] = { wait[WAIT_SIGNAL], wait[WAIT_END], wait[WAIT_COMMAND] };
	size_t i;

	close_gates(run);
	for (i = 0; i < run->n; i++)
		bpf_object__detach_skeleton(run->measurement[i]->skeleton);
	while (poll(end, ARRAY_SIZE(end), -1) < 0 && errno == EINTR)
		;
	if (end[0].revents)
		run->interrupted = true;
}

/* Returns 0, 1 to end the run with a last report, or a negative errno. */
static int take_events(struct run *run)
{
	int err = 0, end = 0;
	size_t i;

	for (i = 0; i < run->n && err >= 0; i++) {
		struct measurement *m = run->measurement[i];

		reports__begin_lines(m);
		err = m->watch ? m->watch(m) : 0;
		reports__end_lines(m);
		end |= err > 0;
	}

	if (err == -EMFILE || err == -ENFILE)
		host__complain_of_files();
	else if (err < 0 && !run->writer.failed)
		diag_error("cannot read the events: %s", strerror(-err));
	return err < 0 ? err : end;
}

/* A run with --listen continues for weeks. Later intervals do not need the memory of a long interval with many keys. */
#define TRIM_NS (10 * NSEC_PER_SEC)

static void give_memory_back(struct run *run)
{
	u64 now = monotonic_ns();

	if (!run->listen || now - run->trimmed_ns < TRIM_NS)
		return;
	run->trimmed_ns = now;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static int end_interval(struct run *run)
{
	int err;

	listen__set_ready(run->listen);
	err = reports__write(run);
	give_memory_back(run);
	run->has_reported = true;
	return err;
}

/*
 * Answers a request for metrics without an interval: the counters are read now, but at most once per FRESH_NS, because
 * clients must not control how much work we do.
 */
#define FRESH_NS (500 * NSEC_PER_MSEC)

static int refresh(void *context)
{
	struct run *run = context;

	if (run->has_reported && monotonic_ns() - run->measurement[0]->began_ns < FRESH_NS)
		return 0;
	return end_interval(run);
}

static void begin_last(struct run *run)
{
	size_t i;

	for (i = 0; i < run->n; i++)
		run->measurement[i]->writer->is_last = true;
}

static bool has_events(const struct run *run, const struct pollfd wait[WAITS])
{
	size_t i;

	for (i = 0; i < run->n; i++)
		if (wait[WAIT_WATCH + i].revents)
			return true;
	return false;
}

static void watch_events(const struct run *run, struct pollfd wait[WAITS])
{
	size_t i;

	for (i = 0; i < run->n; i++)
		wait[WAIT_WATCH + i] =
			(struct pollfd){ run->measurement[i]->watch_fd, POLLIN, 0 };
}

static int loop(struct run *run, struct pollfd wait[WAITS], struct subjects *subjects)
{
	struct budget spent = {};
	enum live_request request;
	bool end = false, due, is_last;
	u64 expired, n = 0;
	int err;

	budget__begin(&spent, run);
	if (subjects->epoll_fd >= 0 && !subjects->alive)
		raise(SIGTERM);         /* all processes ended before they could be watched */
	while (!end) {
		if (budget__take_out(run))
			watch_events(run, wait);
		wait[WAIT_KEYS].fd = live__fd(run->live);
		if (poll(wait, WAIT_WATCH + run->n, listen__timeout_ms(run->listen)) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (wait[WAIT_SIGNAL].revents) {
			end = take_signal(run);
			watch_events(run, wait);
		}
		if (wait[WAIT_END].revents || wait[WAIT_COMMAND].revents)
			end = true;
		if (wait[WAIT_SUBJECTS].revents)
			end |= subjects__all_ended(subjects);
		if (wait[WAIT_BUDGET].revents &&
		    read(wait[WAIT_BUDGET].fd, &expired, sizeof(expired)) > 0 && !end)
			end = budget__is_over(&spent, run);
		request = wait[WAIT_KEYS].revents ? live__take_keys(run->live) : LIVE_NOTHING;
		end |= request == LIVE_QUIT;
		due = wait[WAIT_INTERVAL].revents;
		is_last = end || (due && run->cli->count && n + 1 == run->cli->count);
		/* Events end here: everything read later happened before this point, however long reading takes. */
		if (is_last) {
			close_gates(run);
			begin_last(run);
		}
		if (end || due || wait[WAIT_LISTEN].revents || has_events(run, wait)) {
			err = take_events(run);
			if (err < 0)
				return err;
			end |= err;
			if (end)
				begin_last(run);
		}
		if (run->listen && !end) {
			err = listen__serve(run->listen);
			if (err)
				return err;
		}
		if (!end && !due && request == LIVE_NOW) {
			err = end_interval(run);
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

/* Before the first report: removes metrics of an earlier run from the file, and announces what is measured. */
static int begin_metrics(struct run *run)
{
	if (run->cli->on_demand)
		listen__set_ready(run->listen);
	return run->writer.path || run->writer.publish ? run__end_metrics(run) : 0;
}

#define LONG_NS (5 * NSEC_PER_SEC)     /* shorter runs need no explanation */

/* Tells a user at a terminal that the measurement is running, and how to end it. */
static void tell_who_waits(const struct run *run)
{
	const struct cli *cli = run->cli;
	char duration[UNITS_SPACE];

	if (!isatty(STDERR_FILENO) || cli->ready_fd >= 0 || cli->interval_ns || run->command.pid ||
	    run->listen)
		return;
	if (!cli->duration_ns)
		diag_hint("measuring; Ctrl-C ends it and prints the report");
	else if (cli->duration_ns >= LONG_NS)
		diag_hint("measuring for %s; Ctrl-C ends it earlier",
			  format_value(duration, cli->duration_ns, UNIT_NS, false));
}

static int announce(struct run *run)
{
	static const char line[] = "ready\n";

	listen__announce(run->listen);
	tell_who_waits(run);
	if (run->cli->ready_fd < 0)
		return 0;
	if (write(run->cli->ready_fd, line, sizeof(line) - 1) < 0)
		return -errno;
	close(run->cli->ready_fd);
	run->cli->ready_fd = -1;
	return 0;
}

/* Shorter intervals would have no slice, or consist mostly of one. */
#define SLICED_INTERVAL_NS (2 * NSEC_PER_SEC)

/* A run or interval of this length has several slices with statistics, even if only every third slice has them. */
#define RARE_STATISTICS_NS (10 * NSEC_PER_SEC)

/* Returns N: BPF statistics are on in every Nth slice. */
static u32 statistics_every(const struct cli *cli)
{
	u64 shortest_ns = RARE_STATISTICS_NS;

	if (cli->interval_ns)
		shortest_ns = cli->interval_ns;
	if (cli->duration_ns && cli->duration_ns < shortest_ns)
		shortest_ns = cli->duration_ns;
	return shortest_ns < RARE_STATISTICS_NS ? 1 : 3;
}

/* Without memory for slices, nothing is sliced. */
static void start_slices(struct run *run)
{
	const struct cli *cli = run->cli;
	bool wanted = cli->overhead_sliced;
	size_t i;

	for (i = 0; i < run->n; i++)
		wanted |= run->measurement[i]->sliced.n > 0;
	if (!wanted || cli->on_demand || (cli->interval_ns && cli->interval_ns < SLICED_INTERVAL_NS))
		return;
	run->slices = slices__begin(run->host.cpus_online, statistics_every(cli));
	for (i = 0; i < run->n; i++)
		slices__add(run->slices, run->measurement[i]);
}

static int start_overhead(struct run *run)
{
	bool stops = true;
	size_t i;

	for (i = 0; i < run->n; i++)
		stops &= measurement__can_stop(run->measurement[i]);
	if (run->cli->budget && run->command.pid && !stops) {
		diag_error("--budget: this tool cannot stop before the command ends");
		diag_hint("use -p or -G instead of --, or use --overhead");
		return -EINVAL;
	}
	return overhead__start(&run->overhead, run->cli->overhead_sliced && !run->cli->budget ? run->slices : NULL);
}

static void begin_interval(struct measurement *m)
{
	m->began_ns = monotonic_ns();
	m->start_ns = realtime_ns();
	m->closed_ns = 0;
	slices__rest_ns(m, m->began_ns);
}

/*
 * Begins each interval before the measurement counts, so that all counted events are in it, however long this process
 * is delayed in between. Arming some measurements takes time, since they read files, so each has its own begin.
 */
static int arm(struct run *run)
{
	int err = 0;
	size_t i;

	run->ended_ns = 0;
	for (i = 0; i < run->n && !err; i++) {
		begin_interval(run->measurement[i]);
		err = measurement__arm(run->measurement[i]);
	}
	return err;
}

/*
 * --delay: the command, or whatever else is measured, runs unmeasured until the delay has passed. A signal or the end
 * of the command shortens the delay; the loop then ends the run.
 */
static int begin_late(struct run *run, const struct pollfd wait[WAITS])
{
	u64 end_ns = monotonic_ns() + run->cli->delay_ns, now_ns;
	struct pollfd end[] = { wait[WAIT_SIGNAL], wait[WAIT_COMMAND] };
	struct timespec left;
	int err = run->command.pid ? command__go(&run->command) : 0;

	if (err)
		return err;
	while ((now_ns = monotonic_ns()) < end_ns) {
		left = timespec_of(end_ns - now_ns);
		if (ppoll(end, ARRAY_SIZE(end), &left, NULL) > 0)
			break;
	}
	return arm(run);
}

int run__arm_late(struct measurement *m)
{
	int err;

	m->began_ns = monotonic_ns();
	m->start_ns = realtime_ns();
	kernel_btf__drop();
	err = measurement__arm(m);
	slices__add(m->run->slices, m);
	err = err ?: overhead__watch_new(&m->run->overhead);
	if (err)
		diag_error("cannot start the measurement: %s", strerror(-err));
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
		[WAIT_KEYS] = { -1, POLLIN, 0 },
	};

	kernel_btf__drop();
	err = cli->delay_ns ? 0 : arm(run);
	if (err)
		return err;
	watch_events(run, wait);
	err = subjects__watch(&subjects, cli->scope.pids, cli->scope.npids);
	if (err)
		err = complain_of_waiting("the processes given by -p", err);
	wait[WAIT_SUBJECTS].fd = subjects.epoll_fd;
	if (!err)
		err = open_timers(cli, wait);
	if (!err)
		start_slices(run);
	if (!err && cli->overhead)
		err = start_overhead(run);
	if (!err && !run->command.pid)
		err = begin_metrics(run);
	run->measuring = !err;
	if (!err && cli->delay_ns)
		err = begin_late(run, wait);
	if (!err)
		err = announce(run);
	if (!err)
		err = start_timers(cli, wait, run->measurement[0]->began_ns);
	if (!err && run->command.pid && !cli->delay_ns)
		err = command__go(&run->command);
	if (!err && run->command.pid)
		err = begin_metrics(run);
	if (!err && run->live)
		live__begin(run->live);
	if (!err)
		err = loop(run, wait, &subjects);
	if (run->live)
		live__end(run->live);
	if (!err)
		err = reports__write_heat(run);
	if (!err && run->over_budget && run->command.pid)
		await_command(run, wait);
	overhead__stop(&run->overhead);
	slices__free(run->slices);
	run->slices = NULL;
	diag_detail("this process used %s of CPU time, loading included",
		    format_value(used, own_cpu_ns(), UNIT_NS, false));
	subjects__release(&subjects);
	close_timers(cli, wait);
	return err;
}

void run__release(struct run *run)
{
	release_command(run);
	listen__close(run->listen);
	live__free(run->live);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	run->unwritten = cli__close_writer(&run->writer, 0);
	openmetrics__free(run->writer.metrics);
}
