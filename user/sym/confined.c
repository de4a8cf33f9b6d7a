// SPDX-License-Identifier: BSD-2-Clause
#include "sym/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define NOBODY 65534

void answer__put(struct answer *a, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size && !a->err) {
		n = write(a->fd, at, size);
		if (n < 0 && errno != EINTR)
			a->err = -errno;
		if (n > 0) {
			at += n;
			size -= n;
		}
	}
}

/*
 * --- the child ---------------------------------------------------------------------------------
 */

/* Sanitizers want address space and system calls of their own. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCH

#define ALLOW(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What malloc, elf_begin() on an open file, and reading and writing take. */
static int filter_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(lseek),
		ALLOW(fstat),
#ifdef __NR_newfstatat
		ALLOW(newfstatat),
#endif
		ALLOW(fcntl),
		ALLOW(write),
		ALLOW(close),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(getrandom),
		ALLOW(futex),
		ALLOW(rt_sigreturn),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static int filter_calls(void)
{
	return prctl(PR_GET_SECCOMP) < 0 ? -1 : 0;
}

#endif /* OWN_ARCH */

static void limit(int resource, rlim_t to)
{
	const struct rlimit r = { to, to };

	setrlimit(resource, &r);
}

/* Bytes of address space now. */
static u64 address_space(void)
{
	u64 pages = 0;
	char text[32];
	ssize_t n;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = 0;
		pages = strtoull(text, NULL, 10);
	}
	close(fd);
	return pages * sysconf(_SC_PAGESIZE);
}

static void set_limits(void)
{
	if (!SANITIZED)
		limit(RLIMIT_AS, address_space() + CONFINED_MEMORY);
	limit(RLIMIT_CPU, CONFINED_SECONDS);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
}

static bool give_up_rights(pid_t parent)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return false;
	if (syscall(SYS_capset, &header, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return false;
	/* Only now: changing the user clears it. Too late if the parent has gone already. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent)
		return false;
	return SANITIZED || !filter_calls();
}

/* The files become 0 and up, the answer the one behind them; all others are closed. */
static int place_files(const int *fd, size_t nfds, int answer)
{
	int moved[CONFINED_MAX_FILES + 1];
	size_t i;

	/* First out of the way, so that none is overwritten before it has its place. */
	for (i = 0; i <= nfds; i++) {
		moved[i] = fcntl(i < nfds ? fd[i] : answer, F_DUPFD, CONFINED_MAX_FILES + 1);
		if (moved[i] < 0)
			return -errno;
	}
	for (i = 0; i <= nfds; i++)
		if (dup2(moved[i], i) < 0)
			return -errno;
	if (syscall(SYS_close_range, nfds + 1, ~0U, 0))
		return -errno;
	return nfds;
}

static void __attribute__((noreturn)) run_child(confined_work work, void *arg, const int *fd,
						size_t nfds, int answer, pid_t parent)
{
	struct answer a = {};
	int i;

	/* A crash is to be a crash, and Ctrl-C on the terminal is the parent's business. */
	for (i = 1; i < NSIG; i++)
		signal(i, i == SIGINT ? SIG_IGN : SIG_DFL);
	set_limits();
	a.fd = place_files(fd, nfds, answer);
	if (a.fd < 0 || !give_up_rights(parent))
		_exit(1);
	work(&a, arg);
	_exit(a.err ? 1 : 0);
}

/*
 * --- the parent --------------------------------------------------------------------------------
 */

static u64 now_ms(void)
{
	return monotonic_ns() / 1000000;
}

struct buffer {
	char *data;
	size_t n, room;
};

/* One read into the buffer: the number of bytes, 0 at the end, or a negative errno. */
static ssize_t read_some(int fd, struct buffer *b)
{
	ssize_t n;
	char *more;

	if (b->n == b->room) {
		if (b->room >= CONFINED_MAX_ANSWER)
			return -EBADMSG;
		b->room = b->room ? 2 * b->room : 64 << 10;
		more = realloc(b->data, b->room);
		if (!more)
			return -ENOMEM;
		b->data = more;
	}
	n = read(fd, b->data + b->n, b->room - b->n);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	b->n += n;
	return n;
}

static int read_answer(int fd, struct buffer *b)
{
	u64 end = now_ms() + CONFINED_SECONDS * 1000, now;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n = 1;

	while (n > 0) {
		now = now_ms();
		if (now >= end)
			return -ETIME;
		if (poll(&p, 1, end - now) <= 0)
			continue;
		n = read_some(fd, b);
	}
	return n;
}

int confined__start(confined_work work, void *arg, const int *fd, size_t nfds, int answer_fd,
		    pid_t *pid)
{
	pid_t parent = getpid(), child;

	if (nfds > CONFINED_MAX_FILES)
		return -EINVAL;
	child = fork();
	if (!child)
		run_child(work, arg, fd, nfds, answer_fd, parent);
	if (child < 0)
		return -errno;
	*pid = child;
	return 0;
}

bool confined__end(pid_t pid, bool kill_it)
{
	int status;

	if (kill_it)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int confined__run(confined_work work, void *arg, const int *fd, size_t nfds, void **data,
		  size_t *size)
{
	struct buffer b = {};
	pid_t pid = 0;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = confined__start(work, arg, fd, nfds, ends[1], &pid);
	close(ends[1]);
	if (!err) {
		err = read_answer(ends[0], &b);
		if (!confined__end(pid, err != 0) && !err)
			err = -EBADMSG;
	}
	close(ends[0]);
	if (err) {
		free(b.data);
		return err;
	}
	*data = b.data;
	*size = b.n;
	return 0;
}
