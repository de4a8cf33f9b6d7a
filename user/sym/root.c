// SPDX-License-Identifier: BSD-2-Clause
#include "sym/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/local.h"
#include "base/opener.h"
#include "base/process_thread.h"
#include "base/regular.h"
#include "sym/mappings.h"

/* Returns the inode of the process's mount namespace, or 0 if unknown. Processes that share it see the same files. */
static u64 mounts_of(u32 pid)
{
	char link[32], text[32];
	ssize_t n;

	if (pid)
		snprintf(link, sizeof(link), "/proc/%u/ns/mnt", pid);
	else
		strcpy(link, "/proc/self/ns/mnt");
	n = readlink(link, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	return n > 5 ? strtoull(text + 5, NULL, 10) : 0;
}

int root__open(u32 pid, const char *path, u64 resolve, struct stat *st)
{
	u32 thread = pid ? process_thread(pid) : 0;
	char root[32] = "/";
	const struct opener_path what = {
		.root = root,
		.path = path,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
		.place = opener__place(mounts_of(thread), path),
	};

	if (pid)
		snprintf(root, sizeof(root), "/proc/%u/root", thread);
	return opener__open(&what, st);
}

/*
 * Opens the file without a child process if it is on that device. O_PATH and AT_STATX_DONT_SYNC avoid requests to a
 * server, in case another file has been mapped there in the meantime. Returns -EXDEV if the file is on another
 * device.
 */
static int open_local(const char *path, u64 device, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = stat_known(fd, st);
	if (!err && ((u64)major(st->st_dev) << 32 | minor(st->st_dev)) != device)
		err = -EXDEV;
	if (!err && !S_ISREG(st->st_mode))
		err = -ENOEXEC;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int root__open_mapped(u32 pid, u64 start, u64 end, u64 device, struct stat *st)
{
	char path[MAPPED_PATH];
	const struct opener_path what = { .path = path, .place = device };

	int fd = -EXDEV;

	mapping__path(path, pid, start, end);
	if (is_local_device(device))
		fd = open_local(path, device, st);
	return fd == -EXDEV ? opener__open(&what, st) : fd;
}
