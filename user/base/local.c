// SPDX-License-Identifier: BSD-2-Clause
#include "base/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * Parses a line of mountinfo, in which blanks in names are escaped: "36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 - ext3
 * /dev/root rw"
 */
static void take_line(const char *line)
{
	const char *rest = strstr(line, " - ");
	unsigned int major, minor;
	char type[32];

	if (!rest || sscanf(line, "%*u %*u %u:%u ", &major, &minor) != 2 || sscanf(rest, " - %31s ", type) != 1)
		return;
	if (major && reads_a_disk(type) && local.n < MOST)
		local.device[local.n++] = (u64)major << 32 | minor;
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
