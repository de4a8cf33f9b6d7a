// SPDX-License-Identifier: BSD-2-Clause
#include "machine/prove/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * --- reading reports ---------------------------------------------------------------------------
 */

/* Returns 0 if there is no such member. No true value is 0, so the claim then fails. */
static u64 number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static bool is_text(const json_t *object, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value && !strcmp(value, text);
}

/* The row whose column has this text, or NULL. */
static json_t *row_of(const struct prove_evidence *e, const char *column, const char *text)
{
	json_t *rows = json_object_get(e->report, "rows"), *row;
	size_t i;

	json_array_foreach(rows, i, row) if (is_text(row, column, text)) return row;
	return NULL;
}

static u64 sum_of_members(const json_t *object)
{
	const char *name;
	json_t *value;
	u64 sum = 0;

	json_object_foreach((json_t *)object, name, value) sum += json_integer_value(value);
	return sum;
}

/* The sum of a column over all rows, for loads with several threads, directions, and so on. */
static u64 sum_of_rows(const struct prove_evidence *e, const char *column)
{
	json_t *rows = json_object_get(e->report, "rows"), *row;
	u64 sum = 0;
	size_t i;

	json_array_foreach(rows, i, row) sum += number(row, column);
	return sum;
}

static bool has_frame(const json_t *stack, const char *function)
{
	json_t *frames = json_object_get(stack, "frames"), *frame;
	size_t i;

	json_array_foreach(frames, i, frame) if (is_text(frame, "name", function)) return true;
	return false;
}

/* The values of stacks with this function, or of all stacks if it is NULL. */
static u64 sum_of_stacks(const struct prove_evidence *e, const char *function)
{
	json_t *stacks = json_object_get(e->report, "stacks"), *stack;
	u64 sum = 0;
	size_t i;

	json_array_foreach(stacks, i, stack) if (!function || has_frame(stack, function)) sum += number(stack, "value");
	return sum;
}

static void claim(struct prove_evidence *e, const char *what, const char *unit, u64 said, u64 least, u64 most)
{
	e->claim[e->nclaims++] = (struct prove_claim){
		.what = what,
		.unit = unit,
		.said = said,
		.least = least,
		.most = most,
		.lost = sum_of_members(json_object_get(e->report, "lost")),
		.inexact = sum_of_members(json_object_get(e->report, "inexact")),
	};
}

static void claim_equal(struct prove_evidence *e, const char *what, const char *unit, u64 said, u64 truth)
{
	claim(e, what, unit, said, truth, truth);
}

static json_t *values(const json_t *line)
{
	return json_object_get(line, "values");
}

/*
 * --- checks ------------------------------------------------------------------------------------
 */

#define SAMPLES_PER_S 997
#define ARGUMENTS(...)                                                                                                 \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

static void judge_calls(struct prove_evidence *e)
{
	claim_equal(e, "calls of getppid", "events", number(row_of(e, "syscall", "getppid"), "calls"), e->n);
}

static void judge_no_files(struct prove_evidence *e)
{
	char path[64];
	json_t *line;
	u64 said = 0;
	size_t i;

	/* Each event must occur once, and in order. */
	json_array_foreach(e->lines, i, line)
	{
		snprintf(path, sizeof(path), PROVE_NO_FILE, (u64)i);
		said += is_text(values(line), "path", path) && is_text(values(line), "error", "ENOENT");
	}
	claim_equal(e, "opens of missing files", "events", said, e->n);
}

static void judge_files(struct prove_evidence *e)
{
	claim_equal(e, "files opened", "events", sum_of_rows(e, "count"), e->n);
}

static void judge_exits(struct prove_evidence *e)
{
	json_t *line;
	u64 said = 0;
	size_t i;

	json_array_foreach(e->lines, i, line) said += json_is_integer(json_object_get(values(line), "status")) &&
						      number(values(line), "status") == said % 256;
	claim_equal(e, "exit statuses", "events", said, e->n);
}

static void judge_execs(struct prove_evidence *e)
{
	claim_equal(e, "programs executed", "events", json_array_size(e->lines), e->n);
}

/* A clock_nanosleep() call is never shorter than requested, and all calls together are no longer than the load took. */
static void judge_sleep_calls(struct prove_evidence *e)
{
	json_t *row = row_of(e, "call", "clock_nanosleep");

	claim_equal(e, "sleeps of 2 ms", "events", number(row, "calls"), e->n);
	claim(e, "time of sleeps", "ns", number(row, "total"), e->n * PROVE_SLEEP_NS, e->truth.elapsed_ns);
}

/*
 * The timer of a sleep starts before the thread blocks. A thread that runs or waits for a CPU in between is blocked for
 * less time than the sleep, and not at all if the timer expires first. The kernel's accounting bounds both. Each
 * voluntary switch is one blocked period.
 */
static void claim_blocked(struct prove_evidence *e, u64 time)
{
	u64 asked = e->n * PROVE_SLEEP_NS, not_blocked = e->books.run_ns + e->books.wait_ns;
	u64 least = e->books.switches - e->books.preemptions;

	if (asked > not_blocked && asked - not_blocked > least)
		least = asked - not_blocked;
	claim(e, "time blocked in sleeps of 2 ms", "ns", time, least, e->truth.elapsed_ns);
}

static void judge_sleep_causes(struct prove_evidence *e)
{
	json_t *row = row_of(e, "cause", "timer");
	u64 preempted = e->books.preemptions < e->n ? e->books.preemptions : e->n;

	claim(e, "sleeps of 2 ms", "events", number(row, "count"), e->n - preempted, e->n);
	claim_blocked(e, number(row, "time"));
}

static void judge_blocked(struct prove_evidence *e)
{
	claim_blocked(e, sum_of_stacks(e, "hrtimer_nanosleep"));
}

static json_t *distribution(const struct prove_evidence *e)
{
	return json_array_get(json_object_get(e->report, "groups"), 0);
}

static void judge_run_time(struct prove_evidence *e)
{
	claim_equal(e, "slices of CPU time (schedstat)", "events", number(distribution(e), "count"), e->books.slices);
	claim_equal(e, "CPU time (schedstat)", "ns", number(distribution(e), "sum"), e->books.run_ns);
}

/*
 * A periodic timer fires in a time slice as often as the slice contains periods, rounded down or up: at most one more
 * or one fewer per slice. The kernel's run time excludes interrupts, which the load's clock includes.
 */
static void judge_samples(struct prove_evidence *e)
{
	u64 least = e->books.run_ns * SAMPLES_PER_S / NSEC_PER_SEC, slices = e->books.slices + 1;

	claim(e, "samples at 997 Hz (schedstat)", "events", sum_of_stacks(e, NULL), least > slices ? least - slices : 0,
	      e->truth.elapsed_ns * SAMPLES_PER_S / NSEC_PER_SEC + slices);
}

static void judge_switches(struct prove_evidence *e)
{
	claim_equal(e, "switches to a CPU (schedstat)", "events", sum_of_rows(e, "switches"), e->books.slices);
}

static void judge_waits(struct prove_evidence *e)
{
	claim_equal(e, "waits for a CPU (schedstat)", "events", number(distribution(e), "count"), e->books.slices);
	claim_equal(e, "time of waits for a CPU (schedstat)", "ns", number(distribution(e), "sum"), e->books.wait_ns);
}

static void judge_counters(struct prove_evidence *e)
{
	claim_equal(e, "context switches (status)", "events", number(row_of(e, "event", "context-switches"), "count"),
		    e->books.switches);
}

static void judge_pages(struct prove_evidence *e)
{
	u64 faults = sum_of_rows(e, "faults");

	claim_equal(e, "page faults (minflt, majflt)", "events", faults, e->books.faults);
	/* The load also touches the pages of its own stack and data. */
	claim(e, "fresh pages among the faults", "events", faults, e->n, e->books.faults);
}

static void judge_bytes(struct prove_evidence *e)
{
	json_t *rows = json_object_get(e->report, "rows"), *row, *found = NULL;
	size_t i;

	json_array_foreach(rows, i, row) if (number(row, "inode") == e->truth.inode) found = row;
	claim_equal(e, "bytes written to a file", "bytes", number(found, "write_bytes"), e->n * PROVE_PIECE);
	claim_equal(e, "bytes read from a file", "bytes", number(found, "read_bytes"), e->n * PROVE_PIECE);
}

static void judge_signals(struct prove_evidence *e)
{
	json_t *line;
	u64 said = 0;
	size_t i;

	json_array_foreach(e->lines, i, line) said += is_text(values(line), "signal", "SIGUSR1");
	claim_equal(e, "signals", "events", said, e->n);
}

static void judge_connections(struct prove_evidence *e)
{
	u64 connected = 0, accepted = 0;
	json_t *line;
	size_t i;

	json_array_foreach(e->lines, i, line)
	{
		connected += is_text(line, "event", "connect");
		accepted += is_text(line, "event", "accept");
	}
	claim_equal(e, "connections made", "events", connected, e->n);
	claim_equal(e, "connections accepted", "events", accepted, e->n);
}

static void judge_sessions(struct prove_evidence *e)
{
	u64 sent = 0, received = 0;
	json_t *line;
	size_t i;

	json_array_foreach(e->lines, i, line)
	{
		sent += number(values(line), "sent");
		received += number(values(line), "received");
	}
	claim_equal(e, "closed TCP sessions, both sides", "events", json_array_size(e->lines), 2 * e->n);
	claim_equal(e, "bytes sent", "bytes", sent, e->n * PROVE_SENT);
	claim_equal(e, "bytes received", "bytes", received, e->n * PROVE_SENT);
}

static void judge_futex(struct prove_evidence *e)
{
	json_t *rows = json_object_get(e->report, "rows"), *row;
	u64 count = 0, time = 0;
	char address[32];
	size_t i;

	snprintf(address, sizeof(address), "0x%llx", e->truth.address);
	json_array_foreach(rows, i, row)
	{
		if (!is_text(row, "address", address))
			continue;
		count += number(row, "count");
		time += number(row, "total");
	}
	claim_equal(e, "waits of 1 ms for a futex", "events", count, e->n);
	claim(e, "time of waits for a futex", "ns", time, e->n * PROVE_WAIT_NS, e->truth.elapsed_ns);
}

static void judge_function(struct prove_evidence *e)
{
	claim_equal(e, "calls of a function", "events", sum_of_rows(e, "count"), e->n);
	claim_equal(e, "sum of products of its arguments", "value", sum_of_rows(e, "sum"), e->truth.sum);
}

static void judge_stacks(struct prove_evidence *e)
{
	claim_equal(e, "stacks of calls of a function", "events", sum_of_stacks(e, NULL), e->n);
}

static void judge_moves(struct prove_evidence *e)
{
	claim_equal(e, "moves to another CPU", "events", sum_of_rows(e, "count"), e->n);
}

const struct prove_check prove_checks[] = {
	{ "system calls", "syscount", NULL, {}, 10000, prove_load__calls, judge_calls },
	{ "failed opens", "opensnoop", NULL, {}, 1000, prove_load__no_files, judge_no_files },
	{ "reads and writes", "filetop", NULL, {}, 256, prove_load__bytes, judge_bytes },
	{ "forks and exits", "exitsnoop", ARGUMENTS("--follow-forks"), {}, 50, prove_load__exits, judge_exits },
	{ "execs", "execsnoop", ARGUMENTS("--follow-forks"), {}, 10, prove_load__execs, judge_execs },
	{ "signals", "signals", NULL, {}, 1000, prove_load__signals, judge_signals },
	{ "sleeps, by call", "trace", ARGUMENTS("--summary"), {}, 50, prove_load__sleeps, judge_sleep_calls },
	{ "sleeps, by cause", "why", NULL, {}, 50, prove_load__sleeps, judge_sleep_causes },
	{ "sleeps, by stack", "offcputime", ARGUMENTS("-K"), {}, 50, prove_load__sleeps, judge_blocked },
	{ "CPU time", "cpudist", NULL, { "run-queue accounting" }, 200, prove_load__burn, judge_run_time },
	{ "samples of CPU time",
	  "profile",
	  ARGUMENTS("-K", "-F", "997"),
	  { "software counters" },
	  500,
	  prove_load__burn_alone,
	  judge_samples },
	{ "moves between CPUs", "migrations", NULL, {}, 100, prove_load__moves, judge_moves },
	{ "switches", "schedlat", NULL, {}, 500, prove_load__pipe, judge_switches },
	{ "waits for a CPU",
	  "runqlat",
	  ARGUMENTS("--source", "accounting"),
	  { "run-queue accounting" },
	  500,
	  prove_load__pipe,
	  judge_waits },
	{ "context switches",
	  "stat",
	  ARGUMENTS("-e", "context-switches"),
	  { "software counters" },
	  500,
	  prove_load__pipe,
	  judge_counters },
	{ "page faults", "faults", NULL, { "software counters" }, 1000, prove_load__pages, judge_pages },
	{ "connections", "connsnoop", NULL, {}, 50, prove_load__connections, judge_connections },
	{ "TCP sessions", "tcplife", NULL, {}, 50, prove_load__connections, judge_sessions },
	{ "waits for a futex", "futexstat", NULL, {}, 50, prove_load__futex, judge_futex },
	{ "calls of a function",
	  "probe",
	  ARGUMENTS("-x", "/proc/self/exe", "-e", PROVE_CALLED, "--sum", "$arg1 * $arg2"),
	  { "uprobe" },
	  1000,
	  prove_load__function,
	  judge_function },
	{ "stacks of a function",
	  "stackcount",
	  ARGUMENTS("-K", "-x", "/proc/self/exe", "-e", PROVE_CALLED),
	  { "uprobe" },
	  1000,
	  prove_load__function,
	  judge_stacks },
	{ "a kernel function",
	  "probe",
	  ARGUMENTS("-e", "vfs_open", "--count"),
	  { "kprobe", "fentry" },
	  1000,
	  prove_load__files,
	  judge_files },
};
const size_t prove_check_count = ARRAY_SIZE(prove_checks);

/*
 * --- output of tools ---------------------------------------------------------------------------
 */

/* Each line is an object. Single events have a time, the report has none. */
static int take_line(struct prove_evidence *e, const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, 0, NULL);

	if (!object)
		return -EINVAL;
	if (json_object_get(object, "time_ns"))
		return json_array_append_new(e->lines, object) ? -ENOMEM : 0;
	json_decref(e->report);
	e->report = object;
	return 0;
}

static double mean_run_ns(const json_t *overhead)
{
	double runs = number(overhead, "runs");

	return runs > 0 ? number(overhead, "ns") / runs : 0;
}

int prove_check__judge(const struct prove_check *check, struct prove_evidence *e, const char *text, size_t size,
		       double *ns_per_run)
{
	const char *end = text + size, *line, *next;
	int err = 0;

	e->lines = json_array();
	if (!e->lines)
		return -ENOMEM;
	for (line = text; line < end && !err; line = next) {
		next = memchr(line, '\n', end - line);
		next = next ? next + 1 : end;
		err = take_line(e, line, next - line);
	}
	if (!err && !e->report)
		err = -EINVAL;
	if (err)
		return err;
	*ns_per_run = mean_run_ns(json_object_get(e->report, "overhead"));
	check->judge(e);
	return 0;
}

void prove_evidence__free(struct prove_evidence *e)
{
	json_decref(e->report);
	json_decref(e->lines);
	e->report = e->lines = NULL;
}
