// SPDX-License-Identifier: BSD-2-Clause
#include "profile/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opener.h"
#include "sym/root.h"

#define TAB 8
#define MOST_COLUMNS 200        /* limit of a line, which is cut off beyond it */

static void read_text(struct source_text *t)
{
	struct stat st;
	int fd = t->file[0] == '/' ? root__open(0, t->file, 0, &st) : -1;
	ssize_t n = -1;

	if (fd < 0)
		return;
	if (st.st_mode & S_IROTH && st.st_size <= SOURCE_TEXT_MAX)
		t->text = malloc(st.st_size ?: 1);
	if (t->text)
		n = opener__read(fd, 0, t->text, st.st_size);
	close(fd);
	if (n < 0) {
		free(t->text);
		t->text = NULL;
		return;
	}
	t->size = n;
}

static const struct source_text *find_text(struct source_texts *all, const char *file)
{
	struct source_text *t = all->of;

	for (; t < all->of + all->n; t++)
		if (!strcmp(t->file, file))
			return t;
	if (all->n == SOURCE_TEXT_FILES)
		return NULL;
	all->n++;
	*t = (struct source_text){ .file = file };
	read_text(t);
	return t;
}

static char *copy_line(const char *from, size_t n)
{
	char line[MOST_COLUMNS + 1];
	size_t i, columns = 0;

	for (i = 0; i < n && columns < MOST_COLUMNS && from[i]; i++) {
		line[columns++] = from[i] == '\t' ? ' ' : from[i];
		while (from[i] == '\t' && columns % TAB && columns < MOST_COLUMNS)
			line[columns++] = ' ';
	}
	while (columns && (line[columns - 1] == ' ' || line[columns - 1] == '\r'))
		columns--;
	return columns ? strndup(line, columns) : NULL;
}

char *source_texts__line(struct source_texts *all, const char *file, u32 line)
{
	const struct source_text *t = find_text(all, file);
	const char *at = t ? t->text : NULL, *end, *next;

	if (!at || !line)
		return NULL;
	for (end = at + t->size; at < end; at = next + 1) {
		next = memchr(at, '\n', end - at) ?: end;
		if (!--line)
			return copy_line(at, next - at);
	}
	return NULL;
}

void source_texts__free(struct source_texts *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		free(all->of[i].text);
	*all = (struct source_texts){};
}
