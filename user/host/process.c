// SPDX-License-Identifier: BSD-2-Clause
#include "host/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* /proc/N answers for a thread too; the Tgid in its status tells which process it belongs to. */
bool process_exists(u32 pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		if (!strncmp(line, "Tgid:", 5)) {
			found = strtoul(line + 5, NULL, 10) == pid;
			break;
		}
	}
	free(line);
	fclose(f);
	return found;
}

bool thread_exists(u32 tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	return !access(path, F_OK);
}

int process_pidns(u32 pid, u32 *inode)
{
	char path[64] = "/proc/self/ns/pid";
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	if (stat(path, &st))
		return -errno;
	*inode = st.st_ino;
	return 0;
}
