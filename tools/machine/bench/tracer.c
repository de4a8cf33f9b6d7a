// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/program_path.h"
#include "report/diag.h"

#define STOP_NS (20 * NSEC_PER_SEC)
/* Some hooks are removed by the kernel only after an RCU grace period, some time after their descriptors are closed. */
#define GONE_NS (50 * NSEC_PER_MSEC)
#define STATUS_OF_SIGINT (128 + SIGINT) /* as in shells and some programs */

/*
 * --- recognizing tally itself ------------------------------------------------------------------
 */

static bool is_this_program(const char *name)
{
	char *path = program_path(name);
	struct stat it, self;
	bool is_it = path && !stat(path, &it) && !stat("/proc/self/exe", &self) && it.st_dev == self.st_dev &&
		     it.st_ino == self.st_ino;

	free(path);
	return is_it;
}

int tracer__prepare(struct tracer *t, bool (*is_tool)(const char *name))
{
	const char *name = strrchr(t->argv[0], '/');
	size_t n = 0, before = 1;

	t->messages = -1;
	t->ours = is_this_program(t->argv[0]);
	if (!t->ours)
		return 0;
	while (t->argv[n])
		n++;
	/* The options follow the name of the tool, which may be the second word: tally syscount -a */
	if (!is_tool(name ? name + 1 : t->argv[0]) && n > 1)
		before = 2;
	t->own_argv = calloc(n + 3, sizeof(*t->own_argv));
	if (!t->own_argv)
		return -ENOMEM;
	memcpy(t->own_argv, t->argv, before * sizeof(*t->argv));
	t->own_argv[before] = "--ready-fd";
	t->own_argv[before + 1] = t->number;
	memcpy(t->own_argv + before + 2, t->argv + before, (n - before) * sizeof(*t->argv));
	return 0;
}

void tracer__free(struct tracer *t)
{
	free(t->own_argv);
	t->own_argv = NULL;
}

/*
 * --- start -------------------------------------------------------------------------------------
 */

static void redirect(const struct tracer *t)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(t->output >= 0 ? t->output : null, STDOUT_FILENO);
	dup2(t->messages, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/*
 * Runs in the child. ready: descriptor that exec closes, except in our own tools. On failure, the
 * errno is written to it.
 */
static _Noreturn void become(struct tracer *t, int ready)
{
	char **argv = t->ours ? t->own_argv : t->argv;
	int err;

	/* Shells start background commands with SIGINT ignored, which their children would inherit. */
	signal(SIGINT, SIG_DFL);
	redirect(t);
	if (t->ours) {
		snprintf(t->number, sizeof(t->number), "%d", ready);
		fcntl(ready, F_SETFD, 0);
	}
	execvp(argv[0], argv);
	err = errno;
	if (write(ready, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

/* Shows the last line of its messages, if any. */
static void show_messages(const struct tracer *t)
{
	off_t end = lseek(t->messages, 0, SEEK_END), from;
	char text[1024], *line;
	ssize_t n;

	from = end > (off_t)sizeof(text) - 1 ? end - ((off_t)sizeof(text) - 1) : 0;
	n = pread(t->messages, text, sizeof(text) - 1, from);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	text[n] = 0;
	line = strrchr(text, '\n');
	diag_hint("it said: %s", line ? line + 1 : text);
}

static int open_messages(struct tracer *t)
{
	t->messages = t->output >= 0 ? dup(t->output) : memfd_create("messages", MFD_CLOEXEC);
	if (t->messages < 0)
		return -errno;
	fcntl(t->messages, F_SETFD, FD_CLOEXEC);
	return 0;
}

static void release(struct tracer *t)
{
	close(t->messages);
	t->messages = -1;
}

static void complain_of_end(const struct tracer *t, int status, const char *when)
{
	if (WIFSIGNALED(status))
		diag_error("the tracer '%s' was killed by signal %d %s", t->argv[0],
			   WTERMSIG(status), when);
	else
		diag_error("the tracer '%s' ended %s, with status %d", t->argv[0], when,
			   WEXITSTATUS(status));
	show_messages(t);
}

static int ended_early(struct tracer *t)
{
	complain_of_end(t, child__end(&t->child), "before the load ended");
	release(t);
	return -ECHILD;
}

static int interrupted(struct tracer *t)
{
	tracer__stop(t);
	return -EINTR;
}

/* Reads the pipe: our tools send a line, an exec closes it, a failure sends an errno. */
static int await_ready(struct tracer *t, int ready)
{
	char text[16];
	ssize_t n;
	int err;

	if (child__await(&t->child, t->signals, ready, UINT64_MAX) == CHILD_SIGNAL)
		return interrupted(t);
	n = read(ready, text, sizeof(text));
	if (n == sizeof(err)) {
		memcpy(&err, text, sizeof(err));
		diag_error("cannot run '%s': %s", t->argv[0], strerror(err));
		child__end(&t->child);
		release(t);
		return -err;
	}
	if (t->ours && n > 0)
		return 0;
	switch (child__await(&t->child, t->signals, -1, t->ours ? STOP_NS : t->settle_ns)) {
	case CHILD_TIMEOUT:
		return 0;
	case CHILD_SIGNAL:
		return interrupted(t);
	default:
		return ended_early(t);
	}
}

int tracer__start(struct tracer *t)
{
	int ready[2], err;

	err = open_messages(t);
	if (err)
		return err;
	if (pipe2(ready, O_CLOEXEC)) {
		err = -errno;
		release(t);
		return err;
	}
	err = child__start(&t->child, t->signals, SIGTERM);
	if (!err)
		become(t, ready[1]);
	close(ready[1]);
	if (err < 0) {
		diag_error("cannot start '%s': %s", t->argv[0], strerror(-err));
		release(t);
	} else {
		err = await_ready(t, ready[0]);
	}
	close(ready[0]);
	return err;
}

/*
 * --- stop --------------------------------------------------------------------------------------
 */

static bool ended_well(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGINT;
	return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == STATUS_OF_SIGINT;
}

int tracer__stop(struct tracer *t)
{
	const struct timespec gone = { 0, GONE_NS };
	bool in_time;
	int status;

	if (child__has_ended(&t->child))
		return ended_early(t);
	kill(-t->child.pid, SIGINT);
	in_time = child__await(&t->child, NULL, -1, STOP_NS) == CHILD_ENDED;
	status = child__end(&t->child);
	if (!in_time)
		diag_error("the tracer '%s' did not end within %llu s of SIGINT, and was killed",
			   t->argv[0], STOP_NS / NSEC_PER_SEC);
	else if (!ended_well(status))
		complain_of_end(t, status, "on SIGINT");
	release(t);
	nanosleep(&gone, NULL);
	return in_time && ended_well(status) ? 0 : -ECHILD;
}
