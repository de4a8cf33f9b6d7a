// SPDX-License-Identifier: BSD-2-Clause
#include "base/iterator.h"

#include <errno.h>
#include <unistd.h>

ssize_t iterator__read(int fd, void *to, size_t room)
{
	ssize_t n;

	do {
		n = read(fd, to, room);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n;
}

int iterator__run(int fd)
{
	char ignored[64];
	ssize_t n;

	do {
		n = iterator__read(fd, ignored, sizeof(ignored));
	} while (n > 0);
	return n;
}
