// SPDX-License-Identifier: BSD-2-Clause
#include "event/source_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file.h"

#define MOST_BYTES (64 << 20)

static int read_regular(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else
		err = S_ISREG(st.st_mode) ? whole_file__read(fd, MOST_BYTES, text, size) : -EINVAL;
	close(fd);
	return err;
}

/* Copies the text without blanks. */
static size_t squeeze(char *to, const char *from, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		if (!isspace((unsigned char)from[i]))
			to[n++] = from[i];
	to[n] = 0;
	return n;
}

static int split(struct source_text *t, size_t size)
{
	char *at = t->text, *end = t->text + size, *next;
	size_t n = 1;

	for (next = at; (next = memchr(next, '\n', end - next)); next++)
		n++;
	t->line = calloc(n, sizeof(*t->line));
	if (!t->line)
		return -ENOMEM;
	for (; t->n < n; at = next + 1) {
		next = memchr(at, '\n', end - at) ?: end;
		squeeze(at, at, next - at);
		t->line[t->n++] = at;
	}
	return 0;
}

void source_text__free(struct source_text *t)
{
	free(t->path);
	free(t->line);
	free(t->text);
	*t = (struct source_text){};
}

int source_text__read(struct source_text *t, const char *path)
{
	size_t size = 0;
	int err;

	if (t->path && !strcmp(t->path, path))
		return 0;
	source_text__free(t);
	err = read_regular(path, &t->text, &size);
	if (!err)
		err = split(t, size);
	if (!err && !(t->path = strdup(path)))
		err = -ENOMEM;
	if (err)
		source_text__free(t);
	return err;
}

bool source_text__matches(const struct source_text *t, u32 number, const char *glob)
{
	char squeezed[256];

	if (!number || number > t->n || strlen(glob) >= sizeof(squeezed))
		return false;
	squeeze(squeezed, glob, strlen(glob));
	return !fnmatch(squeezed, t->line[number - 1], 0);
}

bool source_path__ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return m <= n && !strcmp(path + n - m, end) && (m == n || *end == '/' || path[n - m - 1] == '/');
}
