// SPDX-License-Identifier: BSD-2-Clause
#include "machine/prove/prove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/features.h"
#include "machine/bench/child.h"
#include "machine/prove/check.h"
#include "report/diag.h"
#include "types/binary.h"

#define WORDS_MOST 24
#define WHY_ROOM 512
#define LOOK_NS (5 * NSEC_PER_MSEC) /* time between two looks at the load */

struct trial {
	const struct prove_check *check;
	const struct child_signals *signals;
	u64 until_ns; /* deadline, CLOCK_MONOTONIC */
	struct prove_truth *truth;
	struct child load, tool;
	int gate;		    /* closing it starts the load */
	int output, messages;	    /* output and stderr of the tool */
	enum prove_verdict verdict; /* verdict of a trial without claims */
	char why[WHY_ROOM];
	double ns_per_run;
	struct prove_evidence evidence;
};

static u64 time_left(const struct trial *t)
{
	u64 now = monotonic_ns();

	return now < t->until_ns ? t->until_ns - now : 0;
}

/* Ends a trial whose only result is this verdict. */
__attribute__((format(printf, 3, 4))) static int give_up(struct trial *t, enum prove_verdict verdict, const char *fmt,
							 ...)
{
	va_list args;

	t->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	return -ECANCELED;
}

/*
 * --- needs of the check ------------------------------------------------------------------------
 */

static const struct feature *feature_of(const char *name)
{
	size_t i;

	for (i = 0; i < feature_count; i++)
		if (!strcmp(features[i].name, name))
			return &features[i];
	return NULL;
}

static int lacks(struct trial *t, const char *name)
{
	const struct feature *f = feature_of(name);

	return give_up(t, PROVE_CANNOT, "no %s. To do: %s", name, f ? f->remedy : "use another kernel");
}

/* A check of our own function needs the symbol of this function. */
static int look_for_symbol(struct trial *t)
{
	bool is_relative;
	u64 address;

	if (t->check->load != prove_load__function ||
	    !binary__symbol("/proc/self/exe", PROVE_CALLED, &address, &is_relative))
		return 0;
	return give_up(t, PROVE_CANNOT, "this program has no symbols. To do: use one that is not stripped");
}

static int look_for_needs(struct trial *t)
{
	static const char *const always[] = { "CAP_BPF", "CAP_PERFMON", "kernel BTF", "tp_btf tracepoints" };
	const char *const *needs = t->check->needs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(always); i++)
		if (feature__probe(always[i]) != FEATURE_OK)
			return lacks(t, always[i]);
	if (!needs[0] || feature__probe(needs[0]) == FEATURE_OK || (needs[1] && feature__probe(needs[1]) == FEATURE_OK))
		return look_for_symbol(t);
	return lacks(t, needs[0]);
}

/*
 * --- the load ----------------------------------------------------------------------------------
 */

static int start_load(struct trial *t)
{
	struct prove_load load = { .truth = t->truth, .n = t->check->n };
	int gate[2], err;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	err = child__start(&t->load, t->signals, SIGKILL);
	if (!err) {
		close(gate[1]);
		load.gate = gate[0];
		t->check->load(&load);
	}
	close(gate[0]);
	t->gate = gate[1];
	return err < 0 ? err : 0;
}

static int load_ended(struct trial *t)
{
	if (t->truth->failed)
		return give_up(t, PROVE_CANNOT, "the load failed: %s%s%s", t->truth->failed,
			       t->truth->error ? ": " : "", t->truth->error ? strerror(t->truth->error) : "");
	return give_up(t, PROVE_CANNOT, "the load ended early");
}

/*
 * Waits until the load has reached this stage and sleeps, and two successive readings of its accounting agree: in
 * /proc, a thread is asleep before it has left its CPU.
 */
static int await_load(struct trial *t, enum prove_stage stage, struct prove_books *books)
{
	struct prove_books last = {};
	bool slept = false, asleep;
	int err;

	for (;;) {
		switch (child__await(&t->load, t->signals, -1, LOOK_NS)) {
		case CHILD_SIGNAL:
			return -EINTR;
		case CHILD_ENDED:
			return load_ended(t);
		default:
			break;
		}
		if (!time_left(t))
			return give_up(t, PROVE_CANNOT, "the load did not end by the --deadline, and was killed");
		if (t->truth->stage != stage)
			continue;
		err = prove_books__read(books, t->load.pid, &asleep);
		if (err)
			return err;
		if (asleep && slept && !memcmp(books, &last, sizeof(last)))
			return 0;
		slept = asleep;
		last = *books;
	}
}

/*
 * --- the tool ----------------------------------------------------------------------------------
 */

static _Noreturn void become_tool(struct trial *t, int ready)
{
	char *argv[WORDS_MOST] = { "tally", (char *)t->check->tool }, pid[16], fd[16];
	const char *const *word = t->check->arguments;
	int null = open("/dev/null", O_RDONLY);
	size_t n = 2;

	snprintf(pid, sizeof(pid), "%d", t->load.pid);
	snprintf(fd, sizeof(fd), "%d", ready);
	while (word && *word)
		argv[n++] = (char *)*word++;
	argv[n++] = "-p";
	argv[n++] = pid;
	argv[n++] = "--json";
	argv[n++] = "--overhead";
	argv[n++] = "--ready-fd";
	argv[n] = fd;
	signal(SIGINT, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(t->output, STDOUT_FILENO);
	dup2(t->messages, STDERR_FILENO);
	fcntl(ready, F_SETFD, 0);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* A tool that fails although everything it needs is present gets the verdict "wrong". */
static int tool_failed(struct trial *t, const char *how)
{
	off_t end = lseek(t->messages, 0, SEEK_END);
	char text[WHY_ROOM / 2] = "", *line;
	ssize_t n = pread(t->messages, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	line = text;
	line[strcspn(line, "\n")] = 0;
	return give_up(t, PROVE_WRONG, "the tool %s%s%s", how, end > 0 ? ": " : "", line);
}

static int start_tool(struct trial *t)
{
	int ready[2], err;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	err = child__start(&t->tool, t->signals, SIGTERM);
	if (!err)
		become_tool(t, ready[1]);
	close(ready[1]);
	if (err > 0) {
		switch (child__await(&t->tool, t->signals, ready[0], time_left(t))) {
		case CHILD_SIGNAL:
			err = -EINTR;
			break;
		case CHILD_READABLE:
			err = read(ready[0], &byte, 1) == 1 ? 0 : tool_failed(t, "failed");
			break;
		case CHILD_ENDED:
			err = tool_failed(t, "failed");
			break;
		default:
			err = tool_failed(t, "did not begin by the --deadline, and was killed");
		}
	}
	close(ready[0]);
	return err;
}

static int stop_tool(struct trial *t)
{
	enum child_event event;
	int status;

	kill(t->tool.pid, SIGINT);
	event = child__await(&t->tool, t->signals, -1, time_left(t));
	status = child__end(&t->tool);
	if (event == CHILD_SIGNAL)
		return -EINTR;
	if (event == CHILD_TIMEOUT)
		return tool_failed(t, "did not end by the --deadline, and was killed");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return tool_failed(t, "failed");
	return 0;
}

/*
 * --- a trial -----------------------------------------------------------------------------------
 */

static int judge(struct trial *t)
{
	struct stat st;
	char *text;
	int err;

	if (fstat(t->output, &st))
		return -errno;
	if (!st.st_size)
		return tool_failed(t, "wrote nothing");
	text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, t->output, 0);
	if (text == MAP_FAILED)
		return -errno;
	err = prove_check__judge(t->check, &t->evidence, text, st.st_size, &t->ns_per_run);
	munmap(text, st.st_size);
	return err == -EINVAL ? tool_failed(t, "wrote no report") : err;
}

static int compare(struct trial *t)
{
	struct prove_books before, after;
	int err = start_load(t) ?: await_load(t, PROVE_STANDS, &before) ?: start_tool(t);

	if (err)
		return err;
	close(t->gate);
	t->gate = -1;
	err = await_load(t, PROVE_HAS_ENDED, &after) ?: stop_tool(t);
	if (err)
		return err;
	t->evidence.n = t->check->n;
	t->evidence.truth = *t->truth;
	t->evidence.books = prove_books__difference(&after, &before);
	return judge(t);
}

static void clean_up(struct trial *t)
{
	if (t->tool.pid)
		child__end(&t->tool);
	if (t->load.pid)
		child__end(&t->load);
	if (t->gate >= 0)
		close(t->gate);
	if (t->output >= 0)
		close(t->output);
	if (t->messages >= 0)
		close(t->messages);
	if (t->truth != MAP_FAILED)
		munmap(t->truth, sizeof(*t->truth));
}

/* Also returns 0 if nothing is proved. */
static int try(struct trial *t)
{
	int err = look_for_needs(t);

	t->gate = -1;
	t->output = memfd_create("output", MFD_CLOEXEC);
	t->messages = memfd_create("messages", MFD_CLOEXEC);
	t->truth = mmap(NULL, sizeof(*t->truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!err)
		err = t->output < 0 || t->messages < 0 || t->truth == MAP_FAILED ? -ENOMEM : compare(t);
	clean_up(t);
	return err == -ECANCELED ? 0 : err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int add_text(struct report_row *row, const char *name, const char *text, enum field_role role)
{
	return report_row__add_text_as(row, &(struct field){ .name = name, .kind = FIELD_NONE, .role = role }, text);
}

static struct field figure(const char *name, const struct prove_claim *c, u64 number)
{
	return (struct field){
		.name = name,
		.number = number,
		.kind = c ? FIELD_NUMBER : FIELD_NONE,
		.role = ROLE_GAUGE,
		.no_metric = true,
	};
}

/* c: may be NULL. */
static int add_figures(struct report_row *row, const struct trial *t, const struct prove_claim *c)
{
	const struct field figures[] = {
		figure("said", c, c ? c->said : 0),
		figure("least", c, c ? c->least : 0),
		figure("most", c, c ? c->most : 0),
	};
	const struct field cost = {
		.name = "ns_per_run",
		.kind = t->ns_per_run > 0 ? FIELD_REAL : FIELD_NONE,
		.real = t->ns_per_run,
		.decimals = 1,
		.role = ROLE_GAUGE,
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures))      ?:
		       add_text(row, "unit", c ? c->unit : NULL, ROLE_REMARK) ?:
										report_row__add_field(row, &cost);
}

static int add_row(struct report *r, const struct trial *t, const struct prove_claim *c, enum prove_verdict verdict)
{
	struct report_row row = {};
	char losses[64];
	const char *why = c ? NULL : t->why;

	if (verdict == PROVE_HIDDEN) {
		snprintf(losses, sizeof(losses), "reported: %llu lost, %llu inexact", c->lost, c->inexact);
		why = losses;
	}
	return report__end_row(r, &row,
			       add_text(&row, "verdict", prove_verdict_name(verdict), ROLE_REMARK)     ?:
				       add_text(&row, "tool", t->check->tool, ROLE_KEY)		       ?:
				       add_text(&row, "check", c ? c->what : t->check->name, ROLE_KEY) ?:
				       add_figures(&row, t, c)					       ?:
				       add_text(&row, "why", why, ROLE_REMARK));
}

static int add_rows(struct report *r, struct prove_result *result, const struct trial *t)
{
	enum prove_verdict verdict;
	size_t i;
	int err;

	if (!t->evidence.nclaims) {
		result->number[t->verdict]++;
		return add_row(r, t, NULL, t->verdict);
	}
	for (i = 0; i < t->evidence.nclaims; i++) {
		verdict = prove__compare(&t->evidence.claim[i]);
		result->number[verdict]++;
		err = add_row(r, t, &t->evidence.claim[i], verdict);
		if (err)
			return err;
	}
	return 0;
}

static int run_check(struct report *r, struct prove_result *result, const struct prove_check *check,
		     const struct child_signals *signals, u64 deadline_ns)
{
	struct trial t = { .check = check, .signals = signals, .until_ns = monotonic_ns() + deadline_ns };
	u64 began = monotonic_ns();
	int err = try(&t);

	diag_detail("%s, %s: %.1f ms", check->tool, check->name, (monotonic_ns() - began) / 1e6);
	if (!err)
		err = add_rows(r, result, &t);
	prove_evidence__free(&t.evidence);
	return err;
}

int prove__run(struct report *r, struct prove_result *result, u64 deadline_ns)
{
	struct child_signals signals;
	int err = child_signals__take(&signals);
	size_t i;

	for (i = 0; i < prove_check_count && !err; i++)
		err = run_check(r, result, &prove_checks[i], &signals, deadline_ns);
	if (err != -EINTR)
		return err;
	child_signals__restore(&signals);
	result->left = prove_check_count - (i - 1);
	return 0;
}
