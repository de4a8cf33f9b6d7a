// SPDX-License-Identifier: BSD-2-Clause
/* Which processes serve a connection of FUSE, of those that have /dev/fuse open. */
#include "unit.h"

#include "base/array.h"
#include "calls/snap/wait_servers.h"

static void put(struct wait_daemons *d, u32 connection, u32 process)
{
	assert_int_equal(0, ARRAY_APPEND(d->daemon, d->n, (struct wait_daemon){ connection, process }));
}

static void finds(const struct wait_daemons *d, u32 connection, size_t n, u32 process)
{
	size_t first;

	assert_int_equal(wait_daemons__find(d, connection, &first), n);
	if (n)
		assert_int_equal(d->daemon[first].process, process);
}

/* Process 7 serves two mounts, and 9 one of them, too; 8 has not mounted anything yet. */
static void connections_are_told(void **state)
{
	struct wait_daemons d = {};

	(void)state;
	put(&d, 45, 9);
	put(&d, 44, 7);
	put(&d, 45, 7);
	put(&d, 0, 8);
	put(&d, 45, 7);
	wait_daemons__sort(&d);
	assert_int_equal(d.n, 4);
	finds(&d, 44, 1, 7);
	finds(&d, 45, 2, 7);
	finds(&d, 46, 0, 0);
	finds(&d, 0, 0, 0);
	wait_daemons__free(&d);
}

/* Before 6.16: only if there is no choice. */
static void connections_are_not_told(void **state)
{
	struct wait_daemons d = {};

	(void)state;
	finds(&d, 44, 0, 0);
	put(&d, 0, 7);
	put(&d, 0, 7);
	wait_daemons__sort(&d);
	finds(&d, 44, 1, 7);
	finds(&d, 0, 1, 7);
	put(&d, 0, 8);
	wait_daemons__sort(&d);
	finds(&d, 44, 0, 0);
	wait_daemons__free(&d);
}

/* The mount is not known, but the daemon is. */
static void one_process_with_two_mounts(void **state)
{
	struct wait_daemons d = {};

	(void)state;
	put(&d, 44, 7);
	put(&d, 45, 7);
	wait_daemons__sort(&d);
	finds(&d, 0, 1, 7);
	wait_daemons__free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_are_told),
		cmocka_unit_test(connections_are_not_told),
		cmocka_unit_test(one_process_with_two_mounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
