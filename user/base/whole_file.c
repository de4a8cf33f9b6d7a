// SPDX-License-Identifier: BSD-2-Clause
#include "base/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

#define STEP_BYTES ((size_t)16 << 10)

/* Reads until end of file or an error. */
static int read_steps(int fd, size_t most, char **text, size_t *n)
{
	size_t room = 0;
	ssize_t got;
	int err;

	do {
		err = ARRAY_RESERVE(*text, room, *n + STEP_BYTES);
		if (err)
			return err;
		got = read(fd, *text + *n, room - *n - 1);
		if (got < 0 && errno != EINTR)
			return -errno;
		*n += got > 0 ? got : 0;
		if (*n > most)
			return -EFBIG;
	} while (got);
	(*text)[*n] = 0;
	return 0;
}

int whole_file__read(int fd, size_t most, char **text, size_t *size)
{
	size_t n = 0;
	int err;

	*text = NULL;
	err = read_steps(fd, most, text, &n);
	if (err) {
		free(*text);
		*text = NULL;
		return err;
	}
	if (size)
		*size = n;
	return 0;
}
