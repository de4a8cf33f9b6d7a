// SPDX-License-Identifier: BSD-2-Clause
#include "sym/mapped_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/root.h"

struct mapped_file *mapped_file__new(int fd, const struct stat *st)
{
	struct mapped_file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return NULL;
	}
	f->fd = fd;
	f->dev = st->st_dev;
	f->inode = st->st_ino;
	f->size = st->st_size;
	f->modified_ns = st->st_mtim.tv_sec * (s64)NSEC_PER_SEC + st->st_mtim.tv_nsec;
	return f;
}

void mapped_file__free(struct mapped_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	elf_symbols__free(&f->symbols);
	free(f->path);
	free(f);
}

int mapped_file__compare(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->modified_ns < y->modified_ns ? -1 : x->modified_ns > y->modified_ns;
}

/*
 * --- debug files -------------------------------------------------------------------------------
 */

#define DEBUG_DIR "/usr/lib/debug"

/* Where the debug file may be. NULL: no more places, or no memory. */
static char *debug_path(const struct mapped_file *f, int place)
{
	const struct build_id *id = &f->symbols.build_id;
	const char *link = f->symbols.link.name, *slash = f->path ? strrchr(f->path, '/') : NULL;
	char hex[2 * BUILD_ID_MAX + 1], *path = NULL;
	int dir = slash ? slash - f->path : 0;
	size_t i;

	for (i = 0; i < id->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	if (place == 0 && asprintf(&path, DEBUG_DIR "/.build-id/%.2s/%s.debug",
				   id->n > 1 ? hex : "--", id->n > 1 ? hex + 2 : "") < 0)
		return NULL;
	if (!slash || !link[0])
		return path;
	if (place == 1 && asprintf(&path, "%.*s/%s", dir, f->path, link) < 0)
		return NULL;
	if (place == 2 && asprintf(&path, "%.*s/.debug/%s", dir, f->path, link) < 0)
		return NULL;
	if (place == 3 && asprintf(&path, DEBUG_DIR "%.*s/%s", dir, f->path, link) < 0)
		return NULL;
	return path;
}

/* Reads both again if this is the debug file. */
static int try_debug(struct mapped_file *f, u32 pid, const char *path)
{
	struct elf_symbols with;
	struct stat st;
	int fd, err;

	fd = root__open(pid, path, 0, &st);
	if (fd < 0)
		return fd;
	if (st.st_dev == f->dev && st.st_ino == f->inode)
		err = -ESTALE;          /* stripped in place, under the name that the link says */
	else
		err = elf_symbols__read(&with, f->fd, fd);
	close(fd);
	if (!err) {
		elf_symbols__free(&f->symbols);
		f->symbols = with;
	}
	return err;
}

static int read_debug(struct mapped_file *f)
{
	const u32 root[] = { f->pid, 0 };
	char *path;
	int place;
	size_t i;
	int err;

	for (i = f->pid ? 0 : 1; i < ARRAY_SIZE(root); i++) {
		for (place = 0; (path = debug_path(f, place)); place++) {
			err = try_debug(f, root[i], path);
			free(path);
			if (err == -ENOMEM || (!err && f->symbols.complete))
				return err;
		}
	}
	return 0;
}

int mapped_file__read(struct mapped_file *f)
{
	int err;

	if (f->fd < 0)
		return 0;
	err = elf_symbols__read(&f->symbols, f->fd, -1);
	f->is_elf = !err;
	if (!err && !f->symbols.complete)
		err = read_debug(f);
	close(f->fd);
	f->fd = -1;
	return err == -ENOMEM ? err : 0;
}
