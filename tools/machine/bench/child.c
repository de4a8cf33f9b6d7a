// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/child.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static void make_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

int child_signals__take(struct child_signals *s)
{
	sigset_t set;

	make_set(&set);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || sigprocmask(SIG_BLOCK, &set, &s->before))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

void child_signals__restore(const struct child_signals *s)
{
	struct signalfd_siginfo info;
	sigset_t set;

	make_set(&set);
	if (read(s->fd, &info, sizeof(info)) > 0)
		sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int child__start(struct child *c, const struct child_signals *s, int parent_dies)
{
	pid_t parent = getpid(), pid = fork();
	int err;

	if (pid < 0)
		return -errno;
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, parent_dies);
		if (getppid() != parent)
			_exit(1);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		sigprocmask(SIG_SETMASK, &s->before, NULL);
		return 0;
	}
	setpgid(pid, pid);              /* both parent and child do this, since either may run first */
	*c = (struct child){ pid, syscall(SYS_pidfd_open, pid, 0) };
	if (c->pidfd >= 0)
		return 1;
	err = -errno;
	child__end(c);
	return err;
}

static int poll_ms(u64 until_ns)
{
	u64 now = monotonic_ns(), ms;

	if (until_ns == UINT64_MAX)
		return -1;
	if (until_ns <= now)
		return 0;
	ms = (until_ns - now) / NSEC_PER_MSEC + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

enum child_event child__await(const struct child *c, const struct child_signals *s, int fd,
			      u64 timeout_ns)
{
	u64 until = timeout_ns == UINT64_MAX ? timeout_ns : monotonic_ns() + timeout_ns;
	struct pollfd wait[] = {
		{ s ? s->fd : -1, POLLIN, 0 }, { fd, POLLIN, 0 }, { c->pidfd, POLLIN, 0 },
	};
	int n;

	do
		n = poll(wait, ARRAY_SIZE(wait), poll_ms(until));
	while (n < 0 && errno == EINTR);
	if (wait[0].revents)
		return CHILD_SIGNAL;
	if (wait[1].revents)
		return CHILD_READABLE;
	return wait[2].revents ? CHILD_ENDED : CHILD_TIMEOUT;
}

bool child__has_ended(const struct child *c)
{
	return child__await(c, NULL, -1, 0) == CHILD_ENDED;
}

int child__end(struct child *c)
{
	int status = 0;

	/* The leader is not reaped yet, so its group still exists. */
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	/* Orphans of the child are now our children. */
	while (waitpid(-c->pid, NULL, 0) > 0 || errno == EINTR)
		;
	if (c->pidfd >= 0)
		close(c->pidfd);
	*c = (struct child){ 0, -1 };
	return status;
}
