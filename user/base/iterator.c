// SPDX-License-Identifier: BSD-2-Clause
#include "base/iterator.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

ssize_t iterator__read(int fd, void *to, size_t room)
{
	ssize_t n;

	do {
		n = read(fd, to, room);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n;
}

int iterator__each(int fd, size_t size, iterator_take_fn take, void *context)
{
	char data[2 * ITERATOR_RECORD] __attribute__((aligned(8)));
	size_t have = 0, at;
	ssize_t n = 0;
	int err = size && size <= ITERATOR_RECORD ? 0 : -EINVAL;

	while (!err && (n = iterator__read(fd, data + have, sizeof(data) - have)) > 0) {
		have += n;
		for (at = 0; !err && have - at >= size; at += size)
			err = take(context, data + at);
		have -= at;
		memmove(data, data + at, have);
	}
	if (err || n < 0)
		return err ?: n;
	return have ? -EBADMSG : 0;
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
