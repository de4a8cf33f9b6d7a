// SPDX-License-Identifier: BSD-2-Clause
#include "base/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mount_line.h"

#define MOST 64 /* further disks are treated like remote file systems */

static struct {
	u64 device[MOST];
	size_t n;
	bool is_read;
} local;

static bool reads_a_disk(const char *type)
{
	static const char *const types[] = { "ext2", "ext3",  "ext4",	  "xfs",    "f2fs",
					     "jfs",  "erofs", "squashfs", "iso9660" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void take_line(char *line)
{
	struct mount_line m;

	if (mount_line__parse(&m, line) && m.major && reads_a_disk(m.type) && local.n < MOST)
		local.device[local.n++] = (u64)m.major << 32 | m.minor;
}

static void read_mounts(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;

	local.is_read = true;
	if (!f)
		return;
	while (getline(&line, &room, f) > 0)
		take_line(line);
	free(line);
	fclose(f);
}

bool is_local_device(u64 device)
{
	size_t i;

	if (!local.is_read)
		read_mounts();
	for (i = 0; i < local.n; i++)
		if (local.device[i] == device)
			return true;
	return false;
}
