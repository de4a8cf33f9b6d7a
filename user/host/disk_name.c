// SPDX-License-Identifier: BSD-2-Clause
#include "host/disk_name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *disk__name(u32 disk, char *text)
{
	u32 major = disk >> DISK_MINOR_BITS, minor = disk & ((1 << DISK_MINOR_BITS) - 1);
	char path[64], target[PATH_MAX], *name = NULL;
	ssize_t n;

	if (!disk) {
		snprintf(text, DISK_NAME_SPACE, "-");
		return text;
	}
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = 0;
		name = strrchr(target, '/');
	}
	if (name)
		snprintf(text, DISK_NAME_SPACE, "%.*s", DISK_NAME_SPACE - 1, name + 1);
	else
		snprintf(text, DISK_NAME_SPACE, "%u:%u", major, minor);
	return text;
}
