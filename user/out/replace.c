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

static int make_names(struct replacement *r, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	r->path = strdup(path);
	if (r->path && asprintf(&r->beside, "%.*s.%s.%d.tally", (int)(name - path), path, name,
				getpid()) < 0)
		r->beside = NULL;
	return r->path && r->beside ? 0 : -ENOMEM;
}

/* A leftover of a process that was killed, and had our number, is not in the way. */
static int create(const char *beside, mode_t mode)
{
	int fd;

	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

int replacement__open(struct replacement *r, const char *path, mode_t mode)
{
	struct replacement made = {};
	struct stat st;
	int fd;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	fd = make_names(&made, path) ?: create(made.beside, mode);
	if (fd < 0) {
		free(made.path);
		free(made.beside);
		return fd;
	}
	*r = made;
	return fd;
}

/* What came there since the beginning and is not a regular file is not replaced either. */
int replacement__commit(struct replacement *r)
{
	struct stat st;

	if (!r->beside)
		return 0;
	if (!lstat(r->path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	if (rename(r->beside, r->path))
		return -errno;
	free(r->beside);
	r->beside = NULL;
	return 0;
}

void replacement__release(struct replacement *r)
{
	if (r->beside)
		unlink(r->beside);
	free(r->beside);
	free(r->path);
	*r = (struct replacement){};
}

int replace_file(const char *path, const char *text, size_t n)
{
	struct replacement r = {};
	int fd = replacement__open(&r, path, 0644), err;

	if (fd < 0)
		return fd;
	err = write_all(fd, text, n);
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		err = replacement__commit(&r);
	replacement__release(&r);
	return err;
}
