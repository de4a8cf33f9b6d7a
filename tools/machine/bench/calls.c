// SPDX-License-Identifier: BSD-2-Clause
/* Loads of system calls and processes, for tracers that hook them. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/bench/load.h"

/* Uses syscall(2), so that no layer can cache the result. */
static u64 syscall_work(struct load_run *run, u32 task)
{
	long parent = syscall(SYS_getppid);
	u64 i;

	(void)task;
	for (i = 1; i < run->loops; i++)
		if (syscall(SYS_getppid) != parent)
			crew__fail(run->crew, "getppid() returned a different value", 0);
	return i;
}

const struct load load_syscall = {
	.name = "syscall",
	.summary = "getppid(2), about the cheapest system call",
	.operation = "call",
	.takes = LOAD_TASKS | LOAD_THREADS,
	.usual = { .tasks = 1 },
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.work = syscall_work,
};

static u64 open_work(struct load_run *run, u32 task)
{
	u64 i;
	int fd;

	(void)task;
	for (i = 0; i < run->loops; i++) {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || close(fd))
			crew__fail(run->crew, "cannot open /dev/null", errno);
	}
	return i;
}

const struct load load_open = {
	.name = "open",
	.summary = "openat(2) and close(2) of /dev/null",
	.operation = "open and close",
	.takes = LOAD_TASKS | LOAD_THREADS,
	.usual = { .tasks = 1 },
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.work = open_work,
};

/* argv: executed by the child; NULL: the child exits immediately. */
static u64 fork_often(struct load_run *run, char *const argv[])
{
	int status;
	pid_t pid;
	u64 i;

	for (i = 0; i < run->loops; i++) {
		pid = fork();
		if (!pid) {
			if (argv)
				execv(argv[0], argv);
			_exit(argv ? 127 : 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			crew__fail(run->crew, "cannot fork", errno);
		if (status)
			crew__fail(run->crew, argv ? "cannot execute /bin/true" : "a child failed",
				   0);
	}
	return i;
}

static u64 fork_work(struct load_run *run, u32 task)
{
	(void)task;
	return fork_often(run, NULL);
}

const struct load load_fork = {
	.name = "fork",
	.summary = "fork(2), exit and wait",
	.operation = "fork and wait",
	.takes = LOAD_TASKS,
	.usual = { .tasks = 1 },
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.work = fork_work,
};

static u64 exec_work(struct load_run *run, u32 task)
{
	char *const argv[] = { "/bin/true", NULL };

	(void)task;
	return fork_often(run, argv);
}

const struct load load_exec = {
	.name = "exec",
	.summary = "fork(2), execve(2) of /bin/true and wait",
	.operation = "fork, exec and wait",
	.takes = LOAD_TASKS,
	.usual = { .tasks = 1 },
	.tasks = load__tasks_of_options,
	.operations = load__tasks_of_options,
	.work = exec_work,
};
