// SPDX-License-Identifier: BSD-2-Clause
/* Reading whole files: sizes around that of a step, limits, pipes, errors. */
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/whole_file.h"

/* A file of this size, read from its start. */
static int file_of(const char *bytes, size_t size)
{
	int fd = memfd_create("whole", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static char *made(size_t size)
{
	char *bytes = malloc(size + 1);
	size_t i;

	assert_non_null(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = i * 7 % 251;
	return bytes;
}

static void sizes(void **state)
{
	static const size_t each[] = { 0, 1, 16382, 16383, 16384, 16385, 32767, 32768, 100000, 1 << 20 };
	size_t i, n;
	char *text;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(each); i++) {
		char *bytes = made(each[i]);
		int fd = file_of(bytes, each[i]);

		assert_int_equal(whole_file__read(fd, each[i], &text, &n), 0);
		assert_int_equal(n, each[i]);
		assert_memory_equal(text, bytes, n);
		assert_int_equal(text[n], 0);
		free(text);
		if (each[i]) {
			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
			assert_int_equal(whole_file__read(fd, each[i] - 1, &text, &n), -EFBIG);
			assert_null(text);
		}
		close(fd);
		free(bytes);
	}
}

static void pipes(void **state)
{
	int fds[2];
	char *text;
	size_t i;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(write(fds[1], "0123456789", 10), 10);
	close(fds[1]);
	assert_int_equal(whole_file__read(fds[0], 1000, &text, NULL), 0);
	assert_int_equal(strlen(text), 1000);
	assert_string_equal(text + 990, "0123456789");
	free(text);
	close(fds[0]);
}

static void errors(void **state)
{
	int fd = open("/", O_RDONLY | O_CLOEXEC);
	char *text;

	(void)state;
	assert_int_equal(whole_file__read(fd, 10, &text, NULL), -EISDIR);
	assert_null(text);
	close(fd);
	assert_int_equal(whole_file__read(-1, 10, &text, NULL), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(pipes),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
