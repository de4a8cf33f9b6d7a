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

struct taken {
	char text[16];
	size_t n, most;
};

static int take(void *context, const void *record)
{
	struct taken *t = context;

	memcpy(t->text + 2 * t->n++, record, 2);
	return t->n == t->most ? 7 : 0;
}

static int take_each(const char *const *texts, size_t n, struct taken *t)
{
	pid_t pid;
	int fd = written_slowly(texts, n, &pid), err = iterator__each(fd, 2, take, t);

	end(fd, pid);
	return err;
}

/* A read may end in the middle of a record. */
static void records_are_whole(void **state)
{
	static const char *const texts[] = { "aabbc", "c", "dd" }, *const whole[] = { "aabbcc" };
	struct taken taken = {}, some = { .most = 2 };

	(void)state;
	assert_int_equal(take_each(texts, 3, &taken), 0);
	assert_int_equal(taken.n, 4);
	assert_string_equal(taken.text, "aabbccdd");
	assert_int_equal(take_each(whole, 1, &some), 7);
	assert_string_equal(some.text, "aabb");
}

static void a_part_of_a_record_is_an_error(void **state)
{
	static const char *const texts[] = { "aab" };
	struct taken taken = {};

	(void)state;
	assert_int_equal(take_each(texts, 1, &taken), -EBADMSG);
	assert_string_equal(taken.text, "aa");
}

/* More records than a read can hold. */
static int add_up(void *context, const void *record)
{
	u64 *sum = context;

	*sum += *(const u64 *)record;
	return 0;
}

static void many_records(void **state)
{
	u64 sum = 0, i;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	for (i = 1; i <= 100000; i++)
		assert_int_equal(fwrite(&i, sizeof(i), 1, f), 1);
	rewind(f);
	assert_int_equal(iterator__each(fileno(f), sizeof(i), add_up, &sum), 0);
	assert_int_equal(sum, 100000ULL * 100001 / 2);
	fclose(f);
}

static void errors(void **state)
{
	struct taken taken = {};
	char byte;

	(void)state;
	assert_int_equal(iterator__read(-1, &byte, 1), -EBADF);
	assert_int_equal(iterator__run(-1), -EBADF);
	assert_int_equal(iterator__each(-1, 2, take, &taken), -EBADF);
	assert_int_equal(iterator__each(-1, 0, take, &taken), -EINVAL);
	assert_int_equal(iterator__each(-1, ITERATOR_RECORD + 1, take, &taken), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_go_on),
		cmocka_unit_test(runs_go_on),
		cmocka_unit_test(records_are_whole),
		cmocka_unit_test(a_part_of_a_record_is_an_error),
		cmocka_unit_test(many_records),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
