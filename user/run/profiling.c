// SPDX-License-Identifier: BSD-2-Clause
#include "run/profiling.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Signals are set as in a shell's child. PR_SET_PDEATHSIG kills the child with its parent: if we were killed, its
 * programs would otherwise remain in the kernel.
 */
static void child(pid_t parent, int output, char *const argv[])
{
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() != parent || sigprocmask(SIG_SETMASK, &none, NULL) || input < 0 ||
	    dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(127);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static int reap(struct profiling *p)
{
	int status = -1;

	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(p->pidfd);
	p->pid = 0;
	return status;
}

int profiling__start(struct profiling *p, unsigned int seconds)
{
	pid_t parent = getpid();
	char duration[16];
	char *const argv[] = { "tally", "profile", "--format", "pprof", "-d", duration, NULL };
	struct profiling new = { .fd = memfd_create("profile", MFD_CLOEXEC) };
	int err;

	if (new.fd < 0)
		return -errno;
	snprintf(duration, sizeof(duration), "%u", seconds);
	new.pid = fork();
	if (!new.pid)
		child(parent, new.fd, argv);
	if (new.pid < 0) {
		err = -errno;
		close(new.fd);
		return err;
	}
	new.pidfd = syscall(SYS_pidfd_open, new.pid, 0);
	if (new.pidfd < 0) {
		err = -errno;
		profiling__stop(&new);
		return err;
	}
	*p = new;
	return 0;
}

int profiling__end(struct profiling *p)
{
	if (!reap(p))
		return p->fd;
	close(p->fd);
	return -EIO;
}

void profiling__kill(const struct profiling *p)
{
	kill(p->pid, SIGKILL);
}

void profiling__stop(struct profiling *p)
{
	if (!p->pid)
		return;
	profiling__kill(p);
	reap(p);
	close(p->fd);
}
