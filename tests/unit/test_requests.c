// SPDX-License-Identifier: BSD-2-Clause
/* Names of requests, the list of disks, and sums of intervals. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "disks/requests.h"

static void operations(void **state)
{
	static const struct {
		u8 op, flags;
		const char *name, *rwbs, *flag_names;
	} cases[] = {
		{ REQUEST_READ, 0, "read", "R", "none" },
		{ REQUEST_READ, REQUEST_READAHEAD, "read", "RA", "ReadAhead" },
		{ REQUEST_READ, REQUEST_META | REQUEST_PRIO, "read", "RM", "Meta+Prio" },
		{ REQUEST_WRITE, REQUEST_SYNC, "write", "WS", "Sync" },
		{ REQUEST_WRITE, REQUEST_SYNC | REQUEST_FUA | REQUEST_PREFLUSH, "write", "FWFS",
		  "Sync+FUA+PreFlush" },
		{ REQUEST_FLUSH, REQUEST_PREFLUSH, "flush", "FF", "PreFlush" },
		{ REQUEST_DISCARD, 0, "discard", "D", "none" },
		{ REQUEST_SECURE_ERASE, 0, "secure-erase", "DE", "none" },
		{ REQUEST_WRITE_ZEROES, REQUEST_BACKGROUND | REQUEST_NOWAIT, "write-zeroes", "N",
		  "Background+NoWait" },
		{ REQUEST_DRIVER_FIRST, 0, "command", "N", "none" },
		{ REQUEST_DRIVER_LAST, 0, "command", "N", "none" },
		{ 15, 0, "op-15", "N", "none" },
		{ 255, 255, "op-255", "FNFASM",
		  "Sync+Meta+Prio+FUA+PreFlush+ReadAhead+Background+NoWait" },
	};
	char text[REQUEST_TEXT_SPACE];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(request_op_name(cases[i].op, text), cases[i].name);
		assert_string_equal(request_rwbs(cases[i].op, cases[i].flags, text), cases[i].rwbs);
		assert_string_equal(request_flags_name(cases[i].flags, text),
				    cases[i].flag_names);
	}
}

/* Results are errnos until 5.15, and statuses of the block layer since. */
static void results(void **state)
{
	static const struct {
		int error;
		const char *text;
	} cases[] = {
		{ 0, "ok" }, { -EIO, "EIO" }, { 10, "EIO" }, { -ENODATA, "ENODATA" }, { 7, "ENODATA" },
		{ 2, "ETIMEDOUT" }, { 3, "ENOSPC" }, { 13, "error-13" }, { 255, "error-255" },
	};
	char text[REQUEST_TEXT_SPACE];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(request_result(cases[i].error, text), cases[i].text);
}

static void disk_names(void **state)
{
	static const char *const none[] = {
		"", "/dev/", ".", "..", "/dev/../sda", "nonsense", "4095:1048575", "8:", ":0", "8:0x",
		"4096:0",
	};
	char text[DISK_NAME_SPACE];
	u32 disk = 7;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(none); i++)
		assert_int_equal(disk__find(none[i], &disk), -ENOENT);
	assert_int_equal(disk, 7);
	assert_string_equal(disk__name(0, text), "-");
	assert_string_equal(disk__name(UINT32_MAX, text), "4095:1048575");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations),
		cmocka_unit_test(results),
		cmocka_unit_test(disk_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
