// SPDX-License-Identifier: BSD-2-Clause
/* Allocator functions that are looked for, and the files in which they are looked for. */
#include "unit.h"

#include <unistd.h>

#include "memory/allocators.h"

static const struct allocator_site *find(const struct allocators *a, const char *name)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (strstr(a->site[i].name, name))
			return &a->site[i];
	return NULL;
}

static void of_the_library(void **state)
{
	struct allocators a = {};
	size_t i, k;

	(void)state;
	assert_int_equal(allocators__add_file(&a, "libc.so.6", NULL), 0);
	assert_int_equal(find(&a, "calloc")->kind, ALLOCATOR_CALLOC);
	assert_int_equal(find(&a, "posix_memalign")->kind, ALLOCATOR_POSIX_MEMALIGN);
	assert_int_equal(find(&a, "reallocarray")->kind, ALLOCATOR_REALLOCARRAY);
	assert_int_equal(find(&a, "free")->kind, ALLOCATOR_FREE);
	for (i = 0; i < a.n; i++)       /* a function with two names is probed once */
		for (k = 0; k < i; k++)
			assert_int_not_equal(a.site[i].file_offset, a.site[k].file_offset);
	k = a.n;
	assert_int_equal(allocators__add_file(&a, "libc.so.6", NULL), 0);
	assert_int_equal(a.n, k);
	allocators__free(&a);
}

/* This program calls malloc(), but contains no allocator. */
static void of_a_program(void **state)
{
	struct allocators a = {};

	(void)state;
	assert_int_equal(allocators__add_file(&a, "/proc/self/exe", NULL), 0);
	assert_int_equal(a.n, 0);
	assert_int_not_equal(allocators__add_file(&a, "/no/such/file", NULL), 0);
	assert_int_not_equal(allocators__add_file(&a, "/proc/self/status", NULL), 0);
	assert_int_equal(a.n, 0);
	allocators__free(&a);
}

static void of_a_process(void **state)
{
	struct allocators a = {};

	(void)state;
	assert_int_equal(allocators__add_process(&a, getpid()), 0);
	assert_non_null(find(&a, "malloc"));
	assert_int_equal(strncmp(a.site[0].path, "/proc/", 6), 0);
	allocators__free(&a);
	assert_int_not_equal(allocators__add_process(&a, 0x7fffffff), 0);
	allocators__free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_library),
		cmocka_unit_test(of_a_program),
		cmocka_unit_test(of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
