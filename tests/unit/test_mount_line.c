// SPDX-License-Identifier: BSD-2-Clause
/* Lines of /proc/PID/mountinfo. */
#include "unit.h"

#include "base/mount_line.h"

static void a_line(void **state)
{
	char line[] =
		"49 22 0:45 /r\\011t /mnt/a\\040b\\134c rw,nosuid shared:7 master:1 - fuse.sshfs me@host:/x\\040y rw,u=0\n";
	struct mount_line m;

	(void)state;
	assert_true(mount_line__parse(&m, line));
	assert_int_equal(m.id, 49);
	assert_int_equal(m.major, 0);
	assert_int_equal(m.minor, 45);
	assert_string_equal(m.root, "/r\tt");
	assert_string_equal(m.point, "/mnt/a b\\c");
	assert_string_equal(m.type, "fuse.sshfs");
	assert_string_equal(m.source, "me@host:/x y");
	assert_string_equal(m.options, "rw,u=0");
}

/* Without tags of propagation, without a source, and with escapes that are none. */
static void odd_lines(void **state)
{
	char bare[] = "1 0 8:1 / / rw - ext4 /dev/sda1 rw", empty[] = "2 1 0:9 / /m\\9\\04 rw -  nfs4  rw\n";
	struct mount_line m;

	(void)state;
	assert_true(mount_line__parse(&m, bare));
	assert_string_equal(m.point, "/");
	assert_string_equal(m.source, "/dev/sda1");
	assert_true(mount_line__parse(&m, empty));
	assert_string_equal(m.point, "/m\\9\\04");
}

static void no_lines(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     " - ",
					     "36 35 98:0",
					     "36 35 98:0 - ext4 /dev/sda1 rw",
					     "36 35 98:0 /a /b rw - ext4",
					     "36 35 98:0 /a /b rw - ext4 s",
					     "x y 98:0 /a /b rw - ext4 s rw" };
	struct mount_line m;
	char line[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		snprintf(line, sizeof(line), "%s", texts[i]);
		assert_false(mount_line__parse(&m, line));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line),
		cmocka_unit_test(odd_lines),
		cmocka_unit_test(no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
