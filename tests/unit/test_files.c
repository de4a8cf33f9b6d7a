// SPDX-License-Identifier: BSD-2-Clause
/* Names of files as the kernel side sends them. */
#include "unit.h"

#include <sys/stat.h>

#include "files/name.h"

/*
 * --- names -------------------------------------------------------------------------------------
 */

#define HEAD offsetof(struct file_name, names)

static void check_path(u32 flags, u32 mode, const char *names, size_t size, const char *expected)
{
	struct file_name n = { .flags = flags, .mode = mode, .inode = 4711, .size = size };
	char *path;

	memset(n.names, 'x', sizeof(n.names));
	memcpy(n.names, names, size);
	path = file_name__path(&n, HEAD + size);
	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
}

#define PATH(flags, mode, names, expected) check_path(flags, mode, names, sizeof(names), expected)

static void paths(void **state)
{
	(void)state;
	PATH(0, S_IFREG, "a", "/a");
	PATH(0, S_IFREG, "a\0bb\0ccc", "/ccc/bb/a");
	PATH(FILE_NAME_DELETED, S_IFREG, "a\0b", "/b/a (deleted)");
	PATH(FILE_NAME_CUT, S_IFREG, "a\0b", ".../b/a");
	PATH(FILE_NAME_CUT | FILE_NAME_DELETED, S_IFREG, "a", ".../a (deleted)");
	PATH(FILE_NAME_PLAIN, S_IFDIR, "/", "/");
	PATH(FILE_NAME_PLAIN, S_IFREG, "memfd:x", "/memfd:x");
	PATH(FILE_NAME_PLAIN, S_IFIFO, "", "pipe:[4711]");
	PATH(FILE_NAME_PLAIN, S_IFSOCK, "TCP", "socket:[4711]");
	PATH(FILE_NAME_PLAIN, 0, "[eventfd]", "anon_inode:[eventfd]");
	PATH(0, S_IFIFO, "fifo", "/fifo");
	PATH(FILE_NAME_TYPED, 0, "../x", "../x");
	PATH(FILE_NAME_TYPED, 0, "", "");
	PATH(FILE_NAME_UNKNOWN, 0, "a", NULL);
	check_path(0, S_IFREG, "", 0, NULL);
}

/* Names without an end, or with a size that is larger than the data. */
static void damaged(void **state)
{
	struct file_name n = { .size = 4, .names = "abcd" };

	(void)state;
	assert_null(file_name__path(&n, sizeof(n)));
	n.names[3] = 0;
	assert_null(file_name__path(&n, HEAD + 3));
	assert_null(file_name__path(&n, HEAD - 1));
	assert_null(file_name__path(&n, 0));
	n.size = ~0U;
	assert_null(file_name__path(&n, sizeof(n)));
}

static void first_name_stays(void **state)
{
	struct file_id a = { .inode = 1 }, b = { .inode = 1, .generation = 2 }, c = { .inode = 3 };
	struct file_names names = {};

	(void)state;
	assert_int_equal(file_names__add(&names, &a, strdup("/a")), 0);
	assert_int_equal(file_names__add(&names, &b, strdup("/b")), 0);
	assert_int_equal(file_names__add(&names, &a, strdup("/c")), 0);
	assert_int_equal(file_names__add(&names, &c, NULL), 0);
	assert_string_equal(file_names__find(&names, &a), "/a");
	assert_string_equal(file_names__find(&names, &b), "/b");
	assert_null(file_names__find(&names, &c));
	file_names__free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(damaged),
		cmocka_unit_test(first_name_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
