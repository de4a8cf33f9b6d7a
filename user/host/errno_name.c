// SPDX-License-Identifier: BSD-2-Clause
#include "host/errno_name.h"

#include <errno.h>
#include <string.h>

#include "base/numbers.h"

/* Kernel-internal errors of include/linux/errno.h that system call programs can see. */
static const struct {
	int error;
	const char *name;
} internal[] = {
	{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" }, { 514, "ERESTARTNOHAND" },
	{ 516, "ERESTART_RESTARTBLOCK" }, { 517, "EPROBE_DEFER" }, { 524, "ENOTSUPP" },
};

const char *errno_name(int error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(internal); i++)
		if (internal[i].error == error)
			return internal[i].name;
	return error ? strerrorname_np(error) : NULL;
}

int errno_number(const char *text, int *error)
{
	const char *name;
	u64 number;
	int i;

	if (!parse_u64_between(text, 1, MOST_ERRNO, &number)) {
		*error = number;
		return 0;
	}
	for (i = 1; i <= MOST_ERRNO; i++) {
		name = errno_name(i);
		if (name && !strcmp(name, text)) {
			*error = i;
			return 0;
		}
	}
	return -EINVAL;
}
