// SPDX-License-Identifier: BSD-2-Clause
#include "report/replace.h"

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

/* Creates an unnamed file in the directory of beside. */
static int create_nameless(const char *beside, mode_t mode)
{
	const char *slash = strrchr(beside, '/');
	char *directory = slash ? strndup(beside, slash - beside + 1) : strdup(".");
	int fd;

	if (!directory)
		return -ENOMEM;
	fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	free(directory);
	return fd < 0 ? -errno : fd;
}

/* First removes the file that a killed process with our PID may have left. */
static int create_named(const char *beside, mode_t mode)
{
	int fd;

	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

static int create(struct replacement *r, mode_t mode)
{
	int fd = create_nameless(r->beside, mode);

	r->fd = -1;
	if (fd < 0)
		return create_named(r->beside, mode);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd >= 0)
		return fd;
	close(fd);
	return -errno;
}

int replacement__open(struct replacement *r, const char *path, mode_t mode)
{
	struct replacement made = {};
	struct stat st;
	int fd;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	fd = make_names(&made, path) ?: create(&made, mode);
	if (fd < 0) {
		free(made.path);
		free(made.beside);
		return fd;
	}
	*r = made;
	return fd;
}

/* Links the file through /proc, because AT_EMPTY_PATH would need CAP_DAC_READ_SEARCH. */
static int give_name(struct replacement *r)
{
	char path[32];

	if (r->fd < 0)
		return 0;
	unlink(r->beside);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, r->beside, AT_SYMLINK_FOLLOW) &&
	    linkat(r->fd, "", AT_FDCWD, r->beside, AT_EMPTY_PATH))
		return -errno;
	close(r->fd);
	r->fd = -1;
	return 0;
}

/* Checks the path again: it may have become something other than a regular file. */
int replacement__commit(struct replacement *r)
{
	struct stat st;
	int err;

	if (!r->beside)
		return 0;
	if (!lstat(r->path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	err = give_name(r);
	if (err)
		return err;
	if (rename(r->beside, r->path))
		return -errno;
	free(r->beside);
	r->beside = NULL;
	return 0;
}

void replacement__release(struct replacement *r)
{
	if (r->beside && r->fd >= 0)
		close(r->fd);
	else if (r->beside)
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
