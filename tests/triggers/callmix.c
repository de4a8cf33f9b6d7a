// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that always make the same known system calls:
 *
 *   callmix mix [32]     calls of many kinds, including those of threads and children (below); with 32
 *                        also 32-bit ones; it begins at once
 *   callmix refused      ready, go; 9 times getppid(), which seccomp refuses with EPERM; done
 *   callmix nap MS       ready, go; one nanosleep(); done
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

static void repeat(int times, long number, long first, const char *second)
{
	while (times--)
		syscall(number, first, second, 0L, 0L, 0L, 0L);
}

static void make_32_bit_calls(int times)
{
	while (times--)
		trigger__call_32(20, 0, 0, 0, 0, 0);    /* getpid */
}

static void nothing(int sig)
{
	(void)sig;
}

static int thread(void *arg)
{
	(void)arg;
	repeat(11, SYS_gettid, 0, NULL);
	syscall(SYS_exit, 0);
	return 0;
}

/* The C library's threads make some calls only if they win a race. */
static void run_thread(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	static volatile pid_t alive = 1;

	if (clone(thread, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_CHILD_CLEARTID,
		  NULL, NULL, NULL, &alive) < 0)
		error(1, errno, "clone");
	while (alive)
		;
}

enum child { CHILD_CALLS, CHILD_EXEC, CHILD_EXEC_AT };

static void run_child(enum child what, char **argv)
{
	char *again[] = { argv[0], "nothing", NULL }, *none[] = { NULL };
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		error(1, errno, "fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	switch (what) {
	case CHILD_CALLS:
		repeat(13, SYS_getppid, 0, NULL);
		_exit(0);
	case CHILD_EXEC:
		execve("/proc/self/exe", again, none);
		_exit(1);
	case CHILD_EXEC_AT:
		fd = open("/proc/self/exe", O_PATH);
		syscall(SYS_execveat, fd, "", again, none, AT_EMPTY_PATH);
		_exit(1);
	}
}

static void run_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static int mix(char **argv)
{
	struct sigaction sa = { .sa_handler = nothing };
	int i;

	repeat(1000, SYS_getppid, 0, NULL);
	repeat(7, SYS_read, -1, NULL);
	repeat(5, SYS_openat, AT_FDCWD, "/nonexistent/file");
	repeat(3, SYS_openat, AT_FDCWD, NULL);
	repeat(2, 999, 0, NULL);
	repeat(4, -1, 0, NULL);
	repeat(6, 0x40000000 + SYS_getppid, 0, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < 2; i++)
		kill(getpid(), SIGUSR1);
	if (argv[2])
		make_32_bit_calls(17);
	run_thread();
	run_vfork();
	run_child(CHILD_CALLS, argv);
	run_child(CHILD_EXEC, argv);
	run_child(CHILD_EXEC_AT, argv);
	return 0;
}

static void refuse_getppid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		error(1, errno, "seccomp");
}

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	syscall(SYS_nanosleep, &ts, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "nothing"))
		return 0;
	trigger__prepare_32();
	if (!strcmp(what, "mix"))
		return mix(argv);
	trigger__name();
	if (!strcmp(what, "refused"))
		refuse_getppid();
	trigger__say("ready");
	trigger__wait();
	if (!strcmp(what, "refused"))
		repeat(9, SYS_getppid, 0, NULL);
	else
		nap(trigger__number(argc, argv, 2));
	trigger__say("done");
	trigger__end();
}
