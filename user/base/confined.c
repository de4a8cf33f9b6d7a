// SPDX-License-Identifier: BSD-2-Clause
#include "base/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/regular.h"

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

/* Limit of CPU time of a service; its callers limit the time of each answer. */
#define SERVICE_NS (600 * NSEC_PER_SEC)

struct limits {
	u64 memory;     /* beyond that of this process */
	u64 answer;     /* bytes */
	u64 time_ns;
};

/*
 * --- the child ---------------------------------------------------------------------------------
 */

/*
 * Sanitizers need additional address space and system calls. A finding in the child is a bug in tally, whatever the
 * file contains. So it also ends the parent, instead of counting as a damaged file (see heed_fault()).
 */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

#define SANITIZED 1
#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* Read by the two sanitizers at program start. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "exitcode=" TEXT_OF(CONFINED_FAULT);
}

const char *__ubsan_default_options(void)
{
	return "exitcode=" TEXT_OF(CONFINED_FAULT);
}

/* Makes the sanitizers report findings to fd. */
static void tell_faults(int fd)
{
	__sanitizer_set_report_fd((void *)(intptr_t)fd);
}

/* True if sanitizers detect bad accesses by this signal. */
static bool is_sanitizers(int signal_number)
{
	return signal_number == SIGSEGV;
}

static void heed_fault(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == CONFINED_FAULT)
		_exit(CONFINED_FAULT);
}
#else
#define SANITIZED 0

static void tell_faults(int fd)
{
	(void)fd;
}

static bool is_sanitizers(int signal_number)
{
	(void)signal_number;
	return false;
}

static void heed_fault(int status)
{
	(void)status;
}
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

/* Allows the system calls that malloc(), elf_begin() on an open file, and reading and writing need. */
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

/* Returns the current address space in bytes. */
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

/* Makes this process the OOM killer's first victim. */
static void offer_to_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

static void set_limits(const struct limits *to)
{
	offer_to_oom();
	if (!SANITIZED) {
		limit(RLIMIT_AS, address_space() + to->memory);
		limit(RLIMIT_FSIZE, 0);
	}
	limit(RLIMIT_CPU, to->time_ns / NSEC_PER_SEC + 1);
	limit(RLIMIT_CORE, 0);
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
	/*
	 * Set last, because changing the user clears PR_SET_PDEATHSIG. The getppid() test detects a parent that has
	 * already exited.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent)
		return false;
	return SANITIZED || !filter_calls();
}

/* Opens the file in the child, because opening may wait for a server, which the tracer must not do. */
static int open_to_read(int fd)
{
	char own[32];
	int flags = fcntl(fd, F_GETFL), readable, err = 0;

	if (flags < 0 || !(flags & O_PATH))
		return 0;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	readable = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (readable < 0 || dup2(readable, fd) < 0)
		err = -errno;
	if (readable >= 0)
		close(readable);
	return err;
}

/*
 * Moves the files to descriptors 0, 1, ... and the answer to the next one, and closes all others. With sanitizers,
 * stderr keeps its number or gets the next one.
 */
static int place_files(const int *fd, size_t nfds, int answer)
{
	int moved[CONFINED_MAX_FILES + 1];
	int report = SANITIZED ? fcntl(STDERR_FILENO, F_DUPFD, CONFINED_MAX_FILES + 1) : -1;
	int place = nfds < 2 ? STDERR_FILENO : nfds + 1;
	size_t i;

	/* First move all files to higher numbers, so that none is overwritten. */
	for (i = 0; i <= nfds; i++) {
		moved[i] = fcntl(i < nfds ? fd[i] : answer, F_DUPFD, CONFINED_MAX_FILES + 1);
		if (moved[i] < 0)
			return -errno;
	}
	for (i = 0; i <= nfds; i++)
		if (dup2(moved[i], i) < 0)
			return -errno;
	if (report >= 0 && dup2(report, place) >= 0)
		tell_faults(place);
	else
		place = nfds;
	if (place > (int)nfds + 1 && syscall(SYS_close_range, nfds + 1, place - 1, 0))
		return -errno;
	if (syscall(SYS_close_range, place + 1, ~0U, 0))
		return -errno;
	for (i = 0; i < nfds; i++)
		if (open_to_read(i))
			return -EIO;
	return nfds;
}

static void __attribute__((noreturn)) run_child(confined_work work, void *arg, const int *fd,
						size_t nfds,
						const struct limits *limits, int answer,
						pid_t parent)
{
	struct answer a = {};
	int i;

	/* Crashes must be fatal. Ctrl-C on the terminal is meant for the parent. */
	for (i = 1; i < NSIG; i++)
		if (!is_sanitizers(i))
			signal(i, i == SIGINT ? SIG_IGN : SIG_DFL);
	set_limits(limits);
	a.fd = place_files(fd, nfds, answer);
	if (a.fd < 0 || !give_up_rights(parent))
		_exit(1);
	work(&a, arg);
	_exit(a.err ? 1 : 0);
}

/*
 * --- the parent --------------------------------------------------------------------------------
 */

/* Interval at which a wait checks for signals. */
#define LOOK_NS (40 * NSEC_PER_MSEC)
/* Time before signals end a wait for an answer. */
#define PATIENCE_NS (40 * NSEC_PER_MSEC)
/* Time to exit after SIGKILL: freeing a gigabyte takes a while. */
#define DEATH_NS (200 * NSEC_PER_MSEC)

bool confined__interrupted(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
				     sigismember(&set, SIGHUP));
}

/*
 * Waits until fd is readable. Ignores signals before patient_ns, so that a quick answer is not lost. Returns 0, -EINTR
 * or -ETIME.
 */
static int wait_until(int fd, u64 patient_ns, u64 end_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	u64 now, left;

	for (;;) {
		now = monotonic_ns();
		if (now >= patient_ns && confined__interrupted())
			return -EINTR;
		if (now >= end_ns)
			return -ETIME;
		left = end_ns - now < LOOK_NS ? end_ns - now : LOOK_NS;
		if (poll(&p, 1, left / NSEC_PER_MSEC + 1) > 0)
			return 0;
	}
}

int confined__wait(int fd, u64 end_ns)
{
	return wait_until(fd, 0, end_ns);
}

int confined__wait_for_answer(int fd, u64 end_ns)
{
	return wait_until(fd, monotonic_ns() + PATIENCE_NS, end_ns);
}

int confined__read(int fd, void *data, size_t size, u64 end_ns)
{
	char *at = data;
	int err = 0;
	ssize_t n;

	while (size && !err) {
		err = confined__wait(fd, end_ns);
		if (err)
			return err;
		n = read(fd, at, size);
		if (n > 0) {
			at += n;
			size -= n;
		} else if (!n || (errno != EINTR && errno != EAGAIN)) {
			err = -EBADMSG;
		}
	}
	return err;
}

/* Reads a part of the answer. Returns the number of bytes, 0 at its end, or a negative errno. */
static ssize_t read_some(struct confined_job *j)
{
	ssize_t n;

	if (j->n == j->room && j->room >= j->most)
		return -EBADMSG;
	if (ARRAY_RESERVE(j->data, j->room, j->n ? j->n + 1 : 64 << 10))
		return -ENOMEM;
	n = read(j->answer_fd, j->data + j->n, j->room - j->n);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	j->n += n;
	return n;
}

static int await_answer(struct confined_job *j)
{
	ssize_t n = 1;

	while (n > 0) {
		n = wait_until(j->answer_fd, j->began_ns + PATIENCE_NS, j->end_ns);
		if (!n)
			n = read_some(j);
	}
	return n;
}

/*
 * Returns the memory limit: eight times the size of the files on disk, because symbols and names are held twice and
 * sections may be compressed; plus their size, to map them.
 */
static u64 memory_for(const int *fd, size_t n)
{
	u64 memory = CONFINED_MEMORY, mapped = 0, there;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		if (stat_known(fd[i], &st))
			continue;
		there = 512ULL * st.st_blocks;
		if ((u64)st.st_size < there)
			there = st.st_size;
		memory += there < CONFINED_MAX_MEMORY / 8 ? 8 * there : CONFINED_MAX_MEMORY;
		mapped += there;
	}
	return (memory < CONFINED_MAX_MEMORY ? memory : CONFINED_MAX_MEMORY) + mapped;
}

/* A child is not started with less time left than this. */
#define LEAST_NS (50 * NSEC_PER_MSEC)

/* True if only root can have written the files. */
static bool are_roots(const int *fd, size_t n)
{
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++)
		if (stat_known(fd[i], &st) || st.st_uid || st.st_mode & S_IWOTH)
			return false;
	return n;
}

/* Refills the allowance for the time since the last refill, and limits the job to what is left. */
static int grant(struct allowance *a, struct limits *l)
{
	u64 now = monotonic_ns(), back = a->at_ns ? (now - a->at_ns) / ALLOWANCE_SHARE : 0;

	a->spent_ns -= back < a->spent_ns ? back : a->spent_ns;
	a->at_ns = now;
	if (a->spent_ns + LEAST_NS > ALLOWANCE_NS || a->spent_bytes >= ALLOWANCE_BYTES)
		return -EDQUOT;
	l->time_ns = ALLOWANCE_NS - a->spent_ns < ALLOWANCE_FILE_NS ? ALLOWANCE_NS - a->spent_ns
								    : ALLOWANCE_FILE_NS;
	l->answer = ALLOWANCE_BYTES - a->spent_bytes;
	return 0;
}

u64 allowance__time(struct allowance *a, const int *fd, size_t nfds)
{
	struct limits l = { .time_ns = CONFINED_TIME_NS };

	if (!a || are_roots(fd, nfds))
		return l.time_ns;
	return grant(a, &l) ? 0 : l.time_ns;
}

void allowance__spend(struct allowance *a, const int *fd, size_t nfds, u64 ns)
{
	if (a && !are_roots(fd, nfds))
		a->spent_ns += ns;
}

static int start(confined_work work, void *arg, const int *fd, size_t nfds,
		 const struct limits *limits, int answer_fd, pid_t *pid)
{
	pid_t parent = getpid(), child;

	if (nfds > CONFINED_MAX_FILES)
		return -EINVAL;
	child = fork();
	if (!child)
		run_child(work, arg, fd, nfds, limits, answer_fd, parent);
	if (child < 0)
		return -errno;
	*pid = child;
	return 0;
}

int confined__start(confined_work work, void *arg, const int *fd, size_t nfds, int answer_fd,
		    pid_t *pid)
{
	const struct limits l = { .memory = memory_for(fd, nfds), .time_ns = SERVICE_NS };

	return start(work, arg, fd, nfds, &l, answer_fd, pid);
}

const char *confined__why(int err)
{
	switch (err) {
	case -ETIME:
		return "took too long";
	case -EDQUOT:
		return "not read: other files took too long or too much memory";
	case -EBADMSG:
		return "damaged or too large";
	case -EINTR:
		return "interrupted";
	case -CONFINED_NO_OPENAT2:
		return "openat2() is refused";
	default:
		return strerror(-err);
	}
}

/* Returns 1 if the child exited, 0 if it has not by end_ns, or a negative errno. */
static int await_end(pid_t pid, u64 end_ns, int *status)
{
	struct timespec pause = { .tv_nsec = 20000 };
	pid_t ended;

	while (!(ended = waitpid(pid, status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
		if (monotonic_ns() >= end_ns)
			return 0;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 2000000)
			pause.tv_nsec *= 2;
	}
	return ended < 0 ? -errno : 1;
}

bool confined__end(pid_t pid, bool kill_it)
{
	int status, ended = 0;

	if (!kill_it)
		ended = await_end(pid, monotonic_ns() + NSEC_PER_SEC, &status);
	if (ended > 0)
		heed_fault(status);
	if (ended)
		return ended > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
	kill(pid, SIGKILL);
	if (await_end(pid, monotonic_ns() + DEATH_NS, &status) > 0)
		heed_fault(status);
	return false;
}

/* A large pipe, so that the child need not wait for this process after each 64 KiB while CPUs are busy. */
#define PIPE_BYTES (1 << 20)

int confined__begin(struct confined_job *j, confined_work work, void *arg, const int *fd, size_t nfds,
		    struct allowance *allowance)
{
	struct limits l = { memory_for(fd, nfds), CONFINED_MAX_ANSWER, CONFINED_TIME_NS };
	int ends[2], err = 0;

	*j = (struct confined_job){ .allowance = are_roots(fd, nfds) ? NULL : allowance };
	if (j->allowance)
		err = grant(j->allowance, &l);
	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	/* Best effort: pipe sizes are limited per user (/proc/sys/fs/pipe-user-pages-soft). */
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	j->answer_fd = ends[0];
	j->began_ns = monotonic_ns();
	j->end_ns = j->began_ns + l.time_ns;
	j->most = l.answer;
	err = start(work, arg, fd, nfds, &l, ends[1], &j->pid);
	close(ends[1]);
	if (err)
		close(ends[0]);
	return err;
}

/* Ends the job, when its answer is complete or after the error err. */
static int finish(struct confined_job *j, int err, void **data, size_t *size)
{
	if (!confined__end(j->pid, err != 0) && !err)
		err = -EBADMSG;
	close(j->answer_fd);
	if (j->allowance) {
		j->allowance->spent_ns += monotonic_ns() - j->began_ns;
		j->allowance->spent_bytes += err ? 0 : j->n;
	}
	if (err) {
		free(j->data);
	} else {
		*data = j->data;
		*size = j->n;
	}
	*j = (struct confined_job){};
	return err;
}

#define READS_AT_ONCE 16

int confined__take(struct confined_job *j, void **data, size_t *size)
{
	struct pollfd p = { .fd = j->answer_fd, .events = POLLIN };
	ssize_t n = 1;
	int i;

	for (i = 0; i < READS_AT_ONCE && n > 0 && poll(&p, 1, 0) > 0; i++)
		n = read_some(j);
	if (n > 0 && monotonic_ns() < j->end_ns)
		return -EAGAIN;
	return finish(j, n > 0 ? -ETIME : n, data, size);
}

void confined__drop(struct confined_job *j)
{
	void *data;
	size_t size;

	if (j->pid)
		finish(j, -EINTR, &data, &size);
}

int confined__run(confined_work work, void *arg, const int *fd, size_t nfds,
		  struct allowance *allowance, void **data, size_t *size)
{
	struct confined_job job;
	int err = confined__interrupted() ? -EINTR :
					    confined__begin(&job, work, arg, fd, nfds, allowance);

	return err ?: finish(&job, await_answer(&job), data, size);
}
