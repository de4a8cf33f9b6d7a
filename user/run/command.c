// SPDX-License-Identifier: BSD-2-Clause
#include "run/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_signal.h"
#include "base/numbers.h"
#include "host/user.h"
#include "report/diag.h"

/* Parses an ID that sudo(8) sets in the environment. False if absent or invalid. */
static bool sudo_id(const char *name, u32 *id)
{
	const char *text = getenv(name);
	u64 n;

	if (!text || parse_u64_between(text, 0, UINT32_MAX - 1, &n))
		return false;
	*id = n;
	return true;
}

static int become_invoking_user(void)
{
	u32 uid, gid;

	if (geteuid() || !sudo_id("SUDO_UID", &uid) || !sudo_id("SUDO_GID", &gid) || !uid)
		return 0;
	return user_become(uid, gid);
}

static int change_environment(const struct command_setting *setting)
{
	size_t i;

	for (i = 0; i < setting->nenv; i++)
		if (strchr(setting->env[i], '=') ? putenv(setting->env[i]) : unsetenv(setting->env[i]))
			return -errno;
	return 0;
}

static void child(char **argv, int go, int report, const struct command_setting *setting)
{
	struct rusage before;
	char byte;
	int err;

	sigprocmask(SIG_SETMASK, &setting->signals, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	child_signal__give_back();
	if (setting->files.rlim_max && setrlimit(RLIMIT_NOFILE, &setting->files))
		_exit(127);
	/* Done before measuring begins: looking up a user's groups reads files and queries servers. */
	err = become_invoking_user();
	if (!err)
		err = change_environment(setting);
	if (write(report, &err, sizeof(err)) != sizeof(err) || err || read(go, &byte, 1) != 1)
		_exit(127);
	if (getrusage(RUSAGE_SELF, &before) || write(report, &before, sizeof(before)) != sizeof(before))
		_exit(126);
	execvp(argv[0], argv);
	err = -errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static ssize_t read_on(int fd, void *data, size_t size)
{
	ssize_t n;

	do
		n = read(fd, data, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Waits until the child has become the user. If it has died, command__go() reports that. */
static int await_child(struct command *c)
{
	ssize_t n = read_on(c->error_fd, &c->exec_err, sizeof(c->exec_err));

	return n < 0 ? n : 0;
}

int command__start(struct command *c, char **argv, const struct command_setting *setting)
{
	int go[2], report[2];
	pid_t pid;
	int err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		err = -errno;
		goto close_go;
	}
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto close_report;
	}
	if (!pid) {
		close(go[1]);
		child(argv, go[0], report[1], setting);
	}
	close(go[0]);
	close(report[1]);
	*c = (struct command){
		.pid = pid, .pidfd = -1, .go_fd = go[1], .error_fd = report[0], .name = argv[0],
	};
	c->pidfd = syscall(SYS_pidfd_open, pid, 0);
	return c->pidfd < 0 ? -errno : await_child(c);

close_report:
	close(report[0]);
	close(report[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

/* Reports that the child died while it waited for command__go(). */
static int complain_of_early_end(const struct command *c)
{
	siginfo_t info = {};

	if (waitid(P_PID, c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		diag_error("'%s' cannot be started: its process has already exited", c->name);
	else if (info.si_code == CLD_EXITED)
		diag_error("'%s' cannot be started: its process has already exited with status %d",
			   c->name, info.si_status);
	else
		diag_error("'%s' was killed by signal %d before it was started", c->name,
			   info.si_status);
	return -ECHILD;
}

static int complain_of_command(const struct command *c, int err)
{
	diag_error("cannot run '%s': %s", c->name, strerror(-err));
	return err;
}

int command__go(struct command *c)
{
	union {
		struct rusage before;
		int err;
	} said;
	ssize_t n;

	if (c->exec_err)
		return complain_of_command(c, c->exec_err);
	/* The child is the only reader. */
	if (write(c->go_fd, "", 1) != 1)
		return errno == EPIPE ? complain_of_early_end(c) : -errno;
	n = read_on(c->error_fd, &said, sizeof(said));
	if (n == sizeof(said.before)) {
		c->before = said.before;
		/* A successful exec closes the pipe; a failed exec writes its errno. */
		n = read_on(c->error_fd, &said, sizeof(said));
		c->has_begun = !n;
		if (!n)
			return 0;
	}
	if (n != sizeof(said.err))
		return n < 0 ? n : complain_of_early_end(c);
	c->exec_err = said.err;
	return complain_of_command(c, said.err);
}

bool command__has_ended(const struct command *c)
{
	siginfo_t info = {};

	return c->pid && !waitid(P_PID, c->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

static void subtract(struct timeval *time, const struct timeval *before)
{
	if (timercmp(time, before, <))
		*time = (struct timeval){};
	else
		timersub(time, before, time);
}

int command__wait(const struct command *c, struct rusage *usage, int *status)
{
	siginfo_t info = {};

	/* The system call fills in usage; glibc's waitid() has no such argument. */
	while (syscall(SYS_waitid, P_PID, c->pid, &info, WEXITED | WNOWAIT, usage)) {
		if (errno != EINTR)
			return -errno;
	}
	subtract(&usage->ru_utime, &c->before.ru_utime);
	subtract(&usage->ru_stime, &c->before.ru_stime);
	*status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) :
					       W_EXITCODE(0, info.si_status);
	return 0;
}

int command__shell_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command__shell(const char *line, const struct command_setting *setting)
{
	char *argv[] = { "/bin/sh", "-c", (char *)line, NULL };
	struct command c = {};
	struct rusage usage;
	int err, status = 0;

	err = command__start(&c, argv, setting);
	if (!err)
		err = command__go(&c);
	if (!err)
		err = command__wait(&c, &usage, &status);
	command__release(&c);
	if (!err && status) {
		diag_error("'%s' failed with status %d", line, command__shell_status(status));
		err = -ECHILD;
	}
	return err;
}

void command__release(struct command *c)
{
	pid_t ended;

	if (!c->pid)
		return;
	close(c->go_fd);
	close(c->error_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	ended = waitpid(c->pid, &c->status, WNOHANG);
	if (!ended)
		kill(c->pid, SIGTERM);
	c->has_ended = c->has_begun && ended == c->pid;
	c->pid = 0;
}
