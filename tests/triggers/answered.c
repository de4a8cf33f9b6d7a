// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls that are answered without being run by the kernel. After ready and go:
 *
 *   answered filter N    N times each, answered by a seccomp filter: getppid() with EPERM, getpgid(0) with 7, which
 *                        another thread supplies (SECCOMP_RET_USER_NOTIF), connect() with EACCES, openat() of
 *                        /dev/null for writing with EROFS, and FUTEX_WAIT and FUTEX_WAKE with the real-time clock with
 *                        EDOM; then one openat() of /dev/null for reading, which succeeds
 *   answered tracer N    ready reports the pid of a child; its parent makes N of the child's getppid() calls return 42,
 *                        which the kernel does not run (PTRACE_SYSEMU)
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "old_calls.h"
#include "trigger.h"

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

static int filter(void)
{
	static struct sock_filter code[] = {
		LOAD(nr),
		UNLESS(SYS_getppid, 1),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
		UNLESS(SYS_getpgid, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		UNLESS(SYS_connect, 1),
		RETURN(SECCOMP_RET_ERRNO | EACCES),
		UNLESS(SYS_openat, 3),
		LOAD(args[2]),
		UNLESS(O_WRONLY, 1),
		RETURN(SECCOMP_RET_ERRNO | EROFS),
		LOAD(nr),
		UNLESS(SYS_futex, 5),
		LOAD(args[1]),
		UNLESS(FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 1),
		RETURN(SECCOMP_RET_ERRNO | EDOM),
		UNLESS(FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1),
		RETURN(SECCOMP_RET_ERRNO | EDOM),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error(1, errno, "no_new_privs");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		error(1, errno, "seccomp");
	return fd;
}

static void *answer(void *arg)
{
	struct seccomp_notif_resp response = { .val = 7 };
	struct seccomp_notif call;
	int fd = *(int *)arg;

	for (;;) {
		memset(&call, 0, sizeof(call));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
			error(1, errno, "SECCOMP_IOCTL_NOTIF_RECV");
		response.id = call.id;
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &response))
			error(1, errno, "SECCOMP_IOCTL_NOTIF_SEND");
	}
	return NULL;
}

static void by_filter(long n)
{
	const struct sockaddr_un nobody = { .sun_family = AF_UNIX, .sun_path = "/answered/by/nobody" };
	int fd = filter(), sock = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t thread;
	int word = 0;
	bool fails;

	if (pthread_create(&thread, NULL, answer, &fd))
		error(1, 0, "pthread_create");
	trigger__say("ready");
	trigger__wait();
	while (n--) {
		fails = syscall(SYS_getppid) != -1 || syscall(SYS_getpgid, 0) != 7;
		fails |= connect(sock, (const struct sockaddr *)&nobody, sizeof(nobody)) != -1 || errno != EACCES;
		fails |= syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 1, NULL) != -1 || errno != EDOM;
		fails |= syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1) != -1 || errno != EDOM;
		if (fails || syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY) != -1)
			error(1, 0, "the filter does not answer");
	}
	syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
	trigger__say("done");
}

static pid_t child_of(long n)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		error(1, errno, "PTRACE_TRACEME");
	syscall(SYS_kill, getpid(), SIGSTOP);
	while (n--)
		syscall(SYS_getppid);
	for (;;)
		old__pause();
}

static void give(pid_t pid, long result)
{
	unsigned long registers[64];
	struct iovec all = { registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)1, &all))     /* NT_PRSTATUS */
		error(1, errno, "PTRACE_GETREGSET");
#if defined(__x86_64__)
	registers[10] = result; /* rax */
#else
	registers[0] = result;
#endif
	if (ptrace(PTRACE_SETREGSET, pid, (void *)1, &all))
		error(1, errno, "PTRACE_SETREGSET");
}

static void by_tracer(long n)
{
	pid_t pid = child_of(n);
	int status;

	waitpid(pid, &status, 0);
	trigger__say("ready %d", pid);
	trigger__wait();
	/* One more stop: the last call has returned only when the next one begins. */
	for (n++; n--; give(pid, 42)) {
		if (ptrace(PTRACE_SYSEMU, pid, NULL, NULL))
			error(1, errno, "PTRACE_SYSEMU");
		waitpid(pid, &status, 0);
	}
	trigger__say("done");
}

int main(int argc, char **argv)
{
	long n = trigger__number(argc, argv, 2);

	trigger__name();
	if (!strcmp(argv[1], "filter"))
		by_filter(n);
	else
		by_tracer(n);
	trigger__end();
}
