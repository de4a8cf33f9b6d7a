// SPDX-License-Identifier: BSD-2-Clause
/* Rights and limits of a confined process, as it sees them and as /proc shows them. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"

#ifdef __SANITIZE_ADDRESS__
#define FILTERED 0
#else
#define FILTERED 1
#endif

static void echo(struct answer *to, void *arg)
{
	char text[64];
	ssize_t n;

	(void)arg;
	while ((n = read(0, text, sizeof(text))) > 0)
		answer__put(to, text, n);
	while ((n = read(1, text, sizeof(text))) > 0)
		answer__put(to, text, n);
}

/* Returns the read end of a pipe that contains a text, followed by end of file. */
static int text_pipe(const char *text)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	return ends[0];
}

/* Each file gets its place in the process, whatever its descriptor was. */
static void files(void **state)
{
	int fd[CONFINED_MAX_FILES + 1] = { text_pipe("first "), text_pipe("second") };
	int swapped[2] = { 60, 0 }, old = dup(0);
	size_t size;
	void *data;

	(void)state;
	assert_int_equal(confined__run(echo, NULL, fd, 2, NULL, &data, &size), 0);
	assert_int_equal(size, 12);
	assert_memory_equal(data, "first second", 12);
	free(data);
	close(fd[0]);
	close(fd[1]);

	fd[0] = text_pipe("a");
	fd[1] = text_pipe("b");
	assert_int_equal(dup2(fd[0], 60), 60);
	assert_int_equal(dup2(fd[1], 0), 0);
	assert_int_equal(confined__run(echo, NULL, swapped, 2, NULL, &data, &size), 0);
	assert_int_equal(size, 2);
	assert_memory_equal(data, "ab", 2);
	free(data);
	dup2(old, 0);
	close(old);
	close(60);
	close(fd[0]);
	close(fd[1]);
	assert_int_equal(confined__run(echo, NULL, fd, 4, NULL, &data, &size), -EINVAL);
}

struct tries {
	s64 open, exec, kill, socket, fork, other;
};

static s64 outcome(s64 result)
{
	return result < 0 ? -errno : 0;
}

static void try_things(struct answer *to, void *arg)
{
	struct tries t = {};

	t.kill = outcome(syscall(SYS_kill, *(pid_t *)arg, 0));
	t.open = outcome(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
	t.socket = outcome(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
	if (FILTERED) {
		t.fork = outcome(syscall(SYS_clone, 0, NULL, NULL, NULL, NULL));
		t.exec = outcome(syscall(SYS_execve, "/bin/true", NULL, NULL));
	}
	t.other = outcome(fcntl(40, F_GETFD));
	answer__put(to, &t, sizeof(t));
}

static void denied(void **state)
{
	pid_t self = getpid();
	struct tries t;
	size_t size;
	void *data;

	(void)state;
	assert_int_equal(dup2(2, 40), 40);
	assert_int_equal(confined__run(try_things, &self, NULL, 0, NULL, &data, &size), 0);
	close(40);
	assert_int_equal(size, sizeof(t));
	memcpy(&t, data, sizeof(t));
	free(data);
	assert_int_equal(t.other, -EBADF);
	assert_int_equal(!getuid() || FILTERED ? t.kill : -EPERM, -EPERM);
	if (!FILTERED)
		return;
	assert_int_equal(t.open, -EPERM);
	assert_int_equal(t.exec, -EPERM);
	assert_int_equal(t.socket, -EPERM);
	assert_int_equal(t.fork, -EPERM);
}

static void say_and_wait(struct answer *to, void *arg)
{
	char c;

	(void)arg;
	answer__put(to, "x", 1);
	read(to->fd, &c, 1);
}

/* Reads a line of /proc/PID/status; "" if it is missing. */
static void status_line(pid_t pid, const char *name, char *text, size_t size)
{
	char path[32], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	*text = 0;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			snprintf(text, size, "%s", line + strlen(name));
	fclose(file);
	text[strcspn(text, "\n")] = 0;
}

static void rights(void **state)
{
	char text[256], c;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(confined__start(say_and_wait, NULL, NULL, 0, ends[1], &pid), 0);
	assert_int_equal(read(ends[0], &c, 1), 1);
	status_line(pid, "CapEff:\t", text, sizeof(text));
	assert_string_equal(text, "0000000000000000");
	status_line(pid, "CapPrm:\t", text, sizeof(text));
	assert_string_equal(text, "0000000000000000");
	status_line(pid, "NoNewPrivs:\t", text, sizeof(text));
	assert_string_equal(text, "1");
	status_line(pid, "Seccomp:\t", text, sizeof(text));
	assert_string_equal(text, FILTERED ? "2" : "0");
	status_line(pid, "Uid:\t", text, sizeof(text));
	if (!getuid())
		assert_string_equal(text, "65534\t65534\t65534\t65534");
	close(ends[0]);
	close(ends[1]);
	assert_true(confined__end(pid, false));
}

static void crash(struct answer *to, void *arg)
{
	answer__put(to, "half", 4);
	*(volatile char *)arg = 1;
}

static void overrun(struct answer *to, void *arg)
{
	volatile size_t size = 4;
	volatile char *text = malloc(size);

	(void)arg;
	text[size] = 1;
	answer__put(to, (char *)text, 4);
	free((char *)text);
}

static void overflow(struct answer *to, void *arg)
{
	volatile int n = INT32_MAX;

	(void)arg;
	n++;
	answer__put(to, (int *)&n, sizeof(n));
}

/* An error that a sanitizer finds is our own bug, not a damaged file, so it ends the parent, too. */
static void faults(void **state)
{
	static const confined_work works[] = { crash, overrun, overflow };
	int status, null = open("/dev/null", O_WRONLY);
	size_t i, size;
	void *data;
	pid_t pid;

	(void)state;
	if (FILTERED)
		skip();
	for (i = 0; i < ARRAY_SIZE(works); i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			dup2(null, STDERR_FILENO);
			confined__run(works[i], NULL, NULL, 0, NULL, &data, &size);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), CONFINED_FAULT);
	}
	close(null);
}

static void stop_short(struct answer *to, void *arg)
{
	(void)arg;
	answer__put(to, "half", 4);
	_exit(1);
}

static void eat(struct answer *to, void *arg)
{
	char *p = malloc(3ULL << 30);

	(void)arg;
	answer__put(to, p ? "much" : "none", 4);
}

static void eat_some(struct answer *to, void *arg)
{
	char *p = malloc(400ULL << 20);

	(void)arg;
	answer__put(to, p ? "much" : "none", 4);
}

static void failures(void **state)
{
	size_t size;
	void *data;

	(void)state;
	if (FILTERED)
		assert_int_equal(confined__run(crash, NULL, NULL, 0, NULL, &data, &size), -EBADMSG);
	assert_int_equal(confined__run(stop_short, NULL, NULL, 0, NULL, &data, &size), -EBADMSG);
	if (!FILTERED)
		return;
	assert_int_equal(confined__run(eat, NULL, NULL, 0, NULL, &data, &size), 0);
	assert_memory_equal(data, "none", 4);
	free(data);
}

static void spin(struct answer *to, void *arg)
{
	volatile u64 turns = 0;

	(void)arg;
	if (arg)
		close(to->fd);
	for (;;)
		turns++;
}

static void quick(struct answer *to, void *arg)
{
	(void)arg;
	answer__put(to, "quick", 5);
}

/* Without files, the work is on behalf of nobody, not of root. */
static void allowance(void **state)
{
	struct allowance a = {}, none = {};
	u64 began_ns = monotonic_ns();
	size_t size;
	void *data;

	(void)state;
	assert_int_equal(confined__run(quick, NULL, NULL, 0, &a, &data, &size), 0);
	free(data);
	assert_int_equal(a.spent_bytes, 5);
	assert_true(a.spent_ns > 0 && a.spent_ns < ALLOWANCE_FILE_NS);
	a.spent_ns = ALLOWANCE_NS - 100 * NSEC_PER_MSEC;
	assert_int_equal(confined__run(spin, NULL, NULL, 0, &a, &data, &size), -ETIME);
	assert_true(monotonic_ns() - began_ns < ALLOWANCE_FILE_NS);
	assert_int_equal(confined__run(quick, NULL, NULL, 0, &a, &data, &size), -EDQUOT);
	/* The allowance recovers over time. */
	a.at_ns -= ALLOWANCE_SHARE * NSEC_PER_SEC;
	assert_int_equal(confined__run(quick, NULL, NULL, 0, &a, &data, &size), 0);
	free(data);
	none.spent_bytes = ALLOWANCE_BYTES - 4;
	assert_int_equal(confined__run(quick, NULL, NULL, 0, &none, &data, &size), 0);
	free(data);
	assert_int_equal(confined__run(quick, NULL, NULL, 0, &none, &data, &size), -EDQUOT);
}

/* Returns how long a run takes that a signal ends. */
static u64 interrupted_ns(confined_work work)
{
	u64 began_ns = monotonic_ns();
	size_t size;
	void *data;

	assert_int_equal(confined__run(work, NULL, NULL, 0, NULL, &data, &size), -EINTR);
	return monotonic_ns() - began_ns;
}

/* A stall of the machine may make a run longer, but not all of these. */
#define TRIES 10

/* A blocked signal ends the wait, and stays pending. */
static void signals(void **state)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
	struct itimerspec soon = { .it_value.tv_nsec = 100 * NSEC_PER_MSEC };
	bool at_once = false;
	int which, i;
	u64 soonest_ns = ~0ULL;
	sigset_t set, old;
	timer_t timer;
	size_t size;
	void *data;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	/* 100 ms until the signal, 100 ms to notice it, and time for the process to die on a busy machine. */
	for (i = 0; i < TRIES && soonest_ns >= 600 * NSEC_PER_MSEC; i++) {
		assert_true(!i || !sigwait(&set, &which));
		assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
		soonest_ns = interrupted_ns(spin);
	}
	assert_true(soonest_ns < 600 * NSEC_PER_MSEC);
	for (i = 0; i < TRIES && !at_once; i++)
		at_once = interrupted_ns(quick) < 20 * NSEC_PER_MSEC;
	assert_true(at_once);
	assert_int_equal(sigwait(&set, &which), 0);
	assert_int_equal(which, SIGTERM);
	assert_int_equal(confined__run(quick, NULL, NULL, 0, NULL, &data, &size), 0);
	free(data);
	timer_delete(timer);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* A process that has closed its answer and keeps running is not waited for. */
static void lingering(void **state)
{
	u64 began_ns = monotonic_ns();
	size_t size;
	void *data;

	(void)state;
	assert_int_equal(confined__run(spin, &size, NULL, 0, NULL, &data, &size), -EBADMSG);
	assert_true(monotonic_ns() - began_ns < 3 * NSEC_PER_SEC);
}

/* A sparse file that claims terabytes gets as much memory as a small file; a large file gets more. */
static void sparse(void **state)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	size_t size;
	void *data;

	(void)state;
	if (!FILTERED)
		return;
	assert_int_equal(ftruncate(fd, 1LL << 42), 0);
	assert_int_equal(confined__run(eat_some, NULL, &fd, 1, NULL, &data, &size), 0);
	assert_memory_equal(data, "none", 4);
	free(data);
	assert_int_equal(fallocate(fd, 0, 0, 64 << 20), 0);
	assert_int_equal(confined__run(eat_some, NULL, &fd, 1, NULL, &data, &size), 0);
	assert_memory_equal(data, "much", 4);
	free(data);
	close(fd);
}

/* Jobs in steps: the caller continues at once, takes the answer when it is ready, and may drop the job earlier. */
static void pieces(void **state)
{
	struct confined_job job, endless;
	struct allowance a = {};
	size_t size;
	void *data;
	pid_t pid;
	int err;

	(void)state;
	a.spent_ns = ALLOWANCE_NS - 100 * NSEC_PER_MSEC;
	assert_int_equal(confined__begin(&endless, spin, NULL, NULL, 0, NULL), 0);
	assert_int_equal(confined__begin(&job, quick, NULL, NULL, 0, NULL), 0);
	while ((err = confined__take(&job, &data, &size)) == -EAGAIN)
		assert_int_equal(confined__wait(job.answer_fd, job.end_ns), 0);
	assert_int_equal(err, 0);
	assert_int_equal(size, 5);
	assert_memory_equal(data, "quick", 5);
	assert_int_equal(job.pid, 0);
	free(data);
	assert_int_equal(confined__take(&endless, &data, &size), -EAGAIN);
	pid = endless.pid;
	confined__drop(&endless);
	assert_int_equal(endless.pid, 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(confined__begin(&job, spin, NULL, NULL, 0, &a), 0);
	while ((err = confined__take(&job, &data, &size)) == -EAGAIN)
		confined__wait(job.answer_fd, job.end_ns);
	assert_int_equal(err, -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(denied),
		cmocka_unit_test(rights),
		cmocka_unit_test(failures),
		cmocka_unit_test(faults),
		cmocka_unit_test(allowance),
		cmocka_unit_test(signals),
		cmocka_unit_test(lingering),
		cmocka_unit_test(sparse),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests_name("confined", tests, NULL, NULL);
}
