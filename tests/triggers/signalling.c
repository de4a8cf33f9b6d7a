// SPDX-License-Identifier: BSD-2-Clause
/*
 * signalling N: sends itself N signals of each kind: to its process, to its thread, with a value, ignored ones, blocked
 * ones, and one that the kernel sends.
 * ready, done CAUGHT (by its handler)
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "trigger.h"

static volatile long caught;

static void catch(int signal)
{
	(void)signal;
	caught++;
}

static void work(long n)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 1000 } };
	pid_t pid = getpid();
	sigset_t block, before;
	long i;

	for (i = 0; i < n; i++) {
		kill(pid, SIGUSR1);
		syscall(SYS_tgkill, pid, pid, SIGUSR1);
		sigqueue(pid, SIGRTMIN + 1, (union sigval){ .sival_int = i });
		kill(pid, SIGWINCH);
		kill(pid, SIGUSR2);
		kill(pid, 0);
	}
	/* Blocked until sigsuspend(), which would not see a signal that has already come. */
	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	sigprocmask(SIG_BLOCK, &block, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (caught < 3 * n + 1)
		sigsuspend(&before);
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 1);
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, NULL);
	signal(SIGUSR1, catch);
	signal(SIGALRM, catch);
	signal(SIGRTMIN + 1, catch);
	trigger__name();
	trigger__say("ready");
	trigger__wait();
	work(n);
	trigger__say("done %ld", caught);
	trigger__end();
}
