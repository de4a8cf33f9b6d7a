// SPDX-License-Identifier: BSD-2-Clause
/*
 * reborn ROUNDS CALLS: a child that calls getppid(2) CALLS times and exits; then, one after the other, ROUNDS more with
 * the same pid (clone3(2) with set_tid, since 5.5), each created as soon as the previous one has been waited for. Needs
 * CAP_SYS_ADMIN.
 * ready CHILD ... done
 */
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static void call(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		error(1, errno, "child %d ended with %#x", pid, status);
}

/* The pid is free once its last owner has been waited for, but the kernel may need a moment longer. */
static pid_t fork_as(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1,
	};
	pid_t pid;

	do
		pid = syscall(SYS_clone3, &args, sizeof(args));
	while (pid < 0 && errno == EEXIST);
	if (pid < 0)
		error(1, errno, "clone3");
	return pid;
}

int main(int argc, char **argv)
{
	long rounds = trigger__number(argc, argv, 1), calls = trigger__number(argc, argv, 2);
	int go[2];
	pid_t pid;
	char c;

	trigger__name();
	if (pipe(go))
		error(1, errno, "pipe");
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1))
			_exit(1);
		call(calls);
		_exit(0);
	}
	if (pid < 0)
		error(1, errno, "fork");
	trigger__say("ready %d", pid);
	trigger__wait();
	close(go[0]);
	close(go[1]);
	await(pid);
	while (rounds--) {
		if (!fork_as(pid)) {
			call(calls);
			_exit(0);
		}
		await(pid);
	}
	trigger__say("done");
	trigger__wait();
	return 0;
}
