// SPDX-License-Identifier: BSD-2-Clause
#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

bool small_file__read(int dir, const char *path, char *text, size_t room)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, room - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}
