// SPDX-License-Identifier: BSD-2-Clause
#include "files/name.h"

#include <errno.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * --- paths -------------------------------------------------------------------------------------
 */

/* Names objects without a directory. */
static char *plain_name(const struct file_name *n, const char *name)
{
	const char *deleted = n->flags & FILE_NAME_DELETED ? " (deleted)" : "";
	char *text = NULL;
	int len;

	if (S_ISSOCK(n->mode))
		len = asprintf(&text, "socket:[%llu]", n->inode);
	else if (S_ISFIFO(n->mode) && !*name)
		len = asprintf(&text, "pipe:[%llu]", n->inode);
	else if (!n->mode)
		len = asprintf(&text, "anon_inode:%s", name);
	else
		len = asprintf(&text, "%s%s%s", *name == '/' ? "" : "/", name, deleted);
	return len < 0 ? NULL : text;
}

/* names has the last component first, and `size` bytes that end in a NUL. */
static char *joined(const char *names, size_t size, u32 flags)
{
	char *text = malloc(size + sizeof("... (deleted)")), *to = text;
	size_t begin, end;

	if (!text)
		return NULL;
	if (flags & FILE_NAME_CUT)
		to = stpcpy(to, "...");
	for (end = size; end; end = begin) {
		begin = end - 1;
		while (begin && names[begin - 1])
			begin--;
		*to++ = '/';
		to = stpcpy(to, names + begin);
	}
	stpcpy(to, flags & FILE_NAME_DELETED ? " (deleted)" : "");
	return text;
}

char *file_name__path(const struct file_name *n, size_t size)
{
	size_t room;

	if (size < offsetof(struct file_name, names))
		return NULL;
	room = size - offsetof(struct file_name, names);
	if (n->flags & FILE_NAME_UNKNOWN || !n->size || n->size > room || n->names[n->size - 1])
		return NULL;
	if (n->flags & FILE_NAME_TYPED)
		return strdup(n->names);
	if (n->flags & FILE_NAME_PLAIN)
		return plain_name(n, n->names);
	return joined(n->names, n->size, n->flags);
}

/*
 * --- by file -----------------------------------------------------------------------------------
 */

struct named_file {
	struct file_id id;
	char *path;
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct file_id));
}

int file_names__add(struct file_names *names, const struct file_id *id, char *path)
{
	struct named_file *f, **at;

	if (!path || file_names__find(names, id)) {
		free(path);
		return 0;
	}
	f = malloc(sizeof(*f));
	if (f) {
		*f = (struct named_file){ *id, path };
		at = tsearch(f, &names->tree, compare);
		if (at)
			return 0;
	}
	free(f);
	free(path);
	return -ENOMEM;
}

const char *file_names__find(const struct file_names *names, const struct file_id *id)
{
	struct named_file **at = tfind(id, &names->tree, compare);

	return at ? (*at)->path : NULL;
}

static void free_file(void *node)
{
	struct named_file *f = node;

	free(f->path);
	free(f);
}

void file_names__free(struct file_names *names)
{
	tdestroy(names->tree, free_file);
	names->tree = NULL;
}
