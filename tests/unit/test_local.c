// SPDX-License-Identifier: BSD-2-Clause
/* Finds out which devices are disks that the kernel reads by itself. statfs(2) tells the file system of a directory. */
#include "unit.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/local.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

static u64 device_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (u64)major(st.st_dev) << 32 | minor(st.st_dev);
}

static void without_a_disk(void **state)
{
	(void)state;
	assert_false(is_local_device(device_of("/proc")));
	assert_false(is_local_device(0));
	assert_false(is_local_device(~0ULL));
}

/* The root may be on an overlay, or in memory, or on a disk. */
static void root(void **state)
{
	struct statfs fs;

	(void)state;
	assert_int_equal(statfs("/", &fs), 0);
	if (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC)
		assert_true(is_local_device(device_of("/")));
	else if (!(device_of("/") >> 32))
		assert_false(is_local_device(device_of("/")));
	else
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_disk),
		cmocka_unit_test(root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
