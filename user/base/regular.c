// SPDX-License-Identifier: BSD-2-Clause
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
