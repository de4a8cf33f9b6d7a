// SPDX-License-Identifier: BSD-2-Clause
#include "out/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *text, size_t n)
{
	ssize_t written;

	for (; n; text += written, n -= written) {
		written = write(fd, text, n);
		if (written < 0 && errno == EINTR)
			written = 0;
		else if (written <= 0)
			return written ? -errno : -EIO;
	}
	return 0;
}

/* A leftover of a tool that was killed is not in the way; a link of that name is not followed. */
static int make_file(const char *path, const char *text, size_t n)
{
	int fd, err;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, n);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

int replace_file(const char *path, const char *text, size_t n)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat st;
	char *beside;
	int err;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	if (asprintf(&beside, "%.*s.%s.tally", (int)(name - path), path, name) < 0)
		return -ENOMEM;
	err = make_file(beside, text, n);
	if (!err && rename(beside, path)) {
		err = -errno;
		unlink(beside);
	}
	free(beside);
	return err;
}
