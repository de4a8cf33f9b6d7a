// SPDX-License-Identifier: BSD-2-Clause
#include "sym/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process_thread.h"
#include "base/regular.h"
#include "sym/mappings.h"

/* O_PATH does not really open the file: device drivers do not notice. */
static int find(u32 pid, const char *path, u64 resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	char root[32] = "/";
	int dir, fd, err;

	if (pid)
		snprintf(root, sizeof(root), "/proc/%u/root", process_thread(pid));
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = -errno;
	close(dir);
	return fd < 0 ? err : fd;
}

int root__open(u32 pid, const char *path, u64 resolve, struct stat *st)
{
	int found = find(pid, path, resolve);

	return found < 0 ? found : open_found(found, st);
}

int root__open_mapped(u32 pid, u64 start, u64 end, struct stat *st)
{
	char path[MAPPED_PATH];
	int found;

	mapping__path(path, pid, start, end);
	found = open(path, O_PATH | O_CLOEXEC);
	return found < 0 ? -errno : open_found(found, st);
}
