// SPDX-License-Identifier: BSD-2-Clause
/* Names of program addresses in probe's streams, tested on addresses of this program. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "events/probe/addresses.h"

#define NOBODY 4194305          /* more than any pid */

int function_that_has_a_name(void);

int __attribute__((noinline)) function_that_has_a_name(void)
{
	return getpid();
}

static void assert_named(struct addresses *a, u32 pid, const void *address, const char *want)
{
	char *text = addresses__name(a, pid, monotonic_ns(), (u64)address);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static const char *hex(const void *address, const char *behind)
{
	static char text[64];

	snprintf(text, sizeof(text), "0x%llx%s", (u64)address, behind);
	return text;
}

static struct addresses *open_with(const struct host *host)
{
	struct addresses *a;

	assert_int_equal(addresses__open(&a, host), 0);
	assert_int_equal(addresses__read(a), 0);
	return a;
}

static void names_or_addresses(void **state)
{
	const struct host host = { .initial_pidns = true, .cpus_online = sysconf(_SC_NPROCESSORS_ONLN) };
	const char *function = (const char *)function_that_has_a_name;
	struct addresses *a;

	(void)state;
	if (getuid())
		skip();
	a = open_with(&host);
	assert_named(a, getpid(), function, "function_that_has_a_name");
	assert_named(a, getpid(), function + 1, "function_that_has_a_name+0x1");
	assert_named(a, getpid(), &a, hex(&a, "([stack])"));
	assert_named(a, getpid(), (void *)1, "0x1");
	assert_named(a, NOBODY, function, hex(function, ""));
	addresses__forget(a, monotonic_ns());
	assert_named(a, getpid(), function, "function_that_has_a_name");
	addresses__close(a);
}

/* A CPU without records may have run an exec that was not reported. */
static void nothing_is_named_if_anything_may_be_missing(void **state)
{
	const struct host more_cpus = { .initial_pidns = true, .cpus_online = sysconf(_SC_NPROCESSORS_CONF) + 1 };
	const void *function = (const void *)function_that_has_a_name;
	struct addresses *a;

	(void)state;
	a = open_with(&more_cpus);
	assert_named(a, getpid(), function, hex(function, ""));
	addresses__close(a);
}

static void nothing_is_named_in_another_namespace(void **state)
{
	const struct host host = { .cpus_online = sysconf(_SC_NPROCESSORS_ONLN) };
	const void *function = (const void *)function_that_has_a_name;
	struct addresses *a;

	(void)state;
	a = open_with(&host);
	assert_int_equal(addresses__fd(a), -1);
	assert_named(a, getpid(), function, hex(function, ""));
	addresses__close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_or_addresses),
		cmocka_unit_test(nothing_is_named_if_anything_may_be_missing),
		cmocka_unit_test(nothing_is_named_in_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
