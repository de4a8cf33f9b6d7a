// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_thread.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* False for kernel threads and for threads that have exited. */
static bool has_executable(u32 tid)
{
	char path[32], to[8];

	snprintf(path, sizeof(path), "/proc/%u/exe", tid);
	return readlink(path, to, sizeof(to)) >= 0 || errno != ENOENT;
}

u32 process_thread(u32 pid)
{
	char path[32];
	struct dirent *entry;
	u32 found = pid, tid;
	DIR *dir;

	if (has_executable(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && found == pid && (entry = readdir(dir))) {
		tid = strtoul(entry->d_name, NULL, 10);
		if (tid && tid != pid && has_executable(tid))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}
