// SPDX-License-Identifier: BSD-2-Clause
/* Reads of BPF iterators, which the kernel interrupts with EAGAIN. A non-blocking pipe stands in for an iterator. */
#include "unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/iterator.h"

/* Returns the read end of a pipe into which a child writes these texts, with a delay before each. */
static int written_slowly(const char *const *text, size_t n, pid_t *pid)
{
	const struct timespec delay = { .tv_nsec = 20000000 };
	int fds[2];
	size_t i;

	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (!*pid) {
		for (i = 0; i < n; i++) {
			nanosleep(&delay, NULL);
			if (write(fds[1], text[i], strlen(text[i])) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

static void end(int fd, pid_t pid)
{
	int status;

	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void reads_go_on(void **state)
{
	static const char *const texts[] = { "first", "second" };
	char text[64];
	pid_t pid;
	int fd = written_slowly(texts, 2, &pid);

	(void)state;
	assert_int_equal(iterator__read(fd, text, sizeof(text)), 5);
	assert_memory_equal(text, "first", 5);
	assert_int_equal(iterator__read(fd, text, sizeof(text)), 6);
	assert_memory_equal(text, "second", 6);
	assert_int_equal(iterator__read(fd, text, sizeof(text)), 0);
	end(fd, pid);
}

static void runs_go_on(void **state)
{
	static const char *const texts[] = { "a", "b", "c" };
	pid_t pid;
	int fd = written_slowly(texts, 3, &pid);
	char byte;

	(void)state;
	assert_int_equal(iterator__run(fd), 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	end(fd, pid);
}

static void errors(void **state)
{
	char byte;

	(void)state;
	assert_int_equal(iterator__read(-1, &byte, 1), -EBADF);
	assert_int_equal(iterator__run(-1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_go_on),
		cmocka_unit_test(runs_go_on),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
