// SPDX-License-Identifier: BSD-2-Clause
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int open_found(int found, struct stat *st)
{
	struct stat own_st;
	int fd = -1, err = 0;
	char own[32];

	st = st ?: &own_st;
	if (fstat(found, st))
		err = -errno;
	else if (!S_ISREG(st->st_mode))
		err = S_ISDIR(st->st_mode) ? -EISDIR : -ENOEXEC;
	if (!err) {
		snprintf(own, sizeof(own), "/proc/self/fd/%d", found);
		fd = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			err = -errno;
	}
	close(found);
	return err ?: fd;
}

int open_regular(const char *path, struct stat *st)
{
	/* O_PATH does not open the file itself, so a device is not affected. */
	int found = open(path, O_PATH | O_CLOEXEC);

	return found < 0 ? -errno : open_found(found, st);
}

int stat_known(int fd, struct stat *st)
{
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &x))
		return -errno;
	*st = (struct stat){
		.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
		.st_ino = x.stx_ino,
		.st_mode = x.stx_mode,
		.st_nlink = x.stx_nlink,
		.st_uid = x.stx_uid,
		.st_gid = x.stx_gid,
		.st_size = x.stx_size,
		.st_blocks = x.stx_blocks,
		.st_blksize = x.stx_blksize,
		.st_mtim = { x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec },
		.st_ctim = { x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec },
	};
	return 0;
}
