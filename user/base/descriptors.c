// SPDX-License-Identifier: BSD-2-Clause
#include "base/descriptors.h"

#include <sys/resource.h>

bool descriptor_is_scarce(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) &&
	       (rlim_t)fd + DESCRIPTORS_LEFT >= limit.rlim_cur;
}
