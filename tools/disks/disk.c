// SPDX-License-Identifier: BSD-2-Clause
#include "disks/disk.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "host/host.h"
#include "report/diag.h"

/* "8:0" */
static int parse_number(const char *text, u32 *disk)
{
	const char *colon = strchr(text, ':');
	u64 major, minor;
	char first[16];

	if (!colon || (size_t)(colon - text) >= sizeof(first))
		return -EINVAL;
	snprintf(first, sizeof(first), "%.*s", (int)(colon - text), text);
	if (parse_u64_between(first, 0, (1 << (32 - DISK_MINOR_BITS)) - 1, &major) ||
	    parse_u64_between(colon + 1, 0, (1 << DISK_MINOR_BITS) - 1, &minor))
		return -EINVAL;
	*disk = major << DISK_MINOR_BITS | minor;
	return 0;
}

/* Finds the disk in sysfs, where '!' replaces the '/' of device nodes in folders. */
static int find_folder(const char *name, char folder[PATH_MAX])
{
	size_t i, from;
	u32 disk;

	if (!parse_number(name, &disk)) {
		snprintf(folder, PATH_MAX, "/sys/dev/block/%u:%u", disk >> DISK_MINOR_BITS,
			 disk & ((1 << DISK_MINOR_BITS) - 1));
	} else {
		if (!strncmp(name, "/dev/", 5))
			name += 5;
		from = snprintf(folder, PATH_MAX, "/sys/class/block/");
		if (!*name || *name == '.' || strlen(name) >= NAME_MAX)
			return -ENOENT;
		snprintf(folder + from, PATH_MAX - from, "%s", name);
		for (i = from; folder[i]; i++)
			if (folder[i] == '/')
				folder[i] = '!';
	}
	return access(folder, F_OK) ? -ENOENT : 0;
}

static bool has(const char *folder, const char *what)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", folder, what);
	return !access(path, F_OK);
}

int disk__find(const char *name, u32 *disk)
{
	char folder[PATH_MAX], path[PATH_MAX + 16], number[32];

	if (find_folder(name, folder)) {
		diag_error("unknown disk '%s'", name);
		diag_hint("ls /sys/block lists them");
		return -ENOENT;
	}
	if (has(folder, "partition")) {
		diag_error("'%s' is a partition; give the whole disk", name);
		return -EINVAL;
	}
	/* In sysfs, only request-based disks have hardware queues. */
	if (!has(folder, "mq")) {
		diag_error("'%s' has no requests of its own", name);
		diag_hint("it is built on other disks (dm, md, bcache) or in memory (zram): see `lsblk`");
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "%s/dev", folder);
	if (read_line(path, number, sizeof(number)))
		return -ENOENT;
	return parse_number(number, disk);
}

void complete_disks(struct completion *c)
{
	char folder[PATH_MAX], *slash;
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(folder, sizeof(folder), "/sys/block/%s", entry->d_name);
		if (entry->d_name[0] == '.' || !has(folder, "mq"))
			continue;
		for (slash = entry->d_name; (slash = strchr(slash, '!'));)
			*slash = '/';
		completion__add(c, entry->d_name, "");
	}
	if (dir)
		closedir(dir);
}
