// SPDX-License-Identifier: BSD-2-Clause
#include "sym/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
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
	source_file__init(&f->source);
	f->code_fd = -1;
	f->dev = st->st_dev;
	f->inode = st->st_ino;
	f->size = st->st_size;
	f->uid = st->st_uid;
	f->modified_ns = st->st_mtim.tv_sec * (s64)NSEC_PER_SEC + st->st_mtim.tv_nsec;
	return f;
}

void mapped_file__free(struct mapped_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->code_fd >= 0)
		close(f->code_fd);
	elf_symbols__free(&f->symbols);
	source_file__free(&f->source);
	free(f->path);
	free(f);
}

void mapped_file__close(struct mapped_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	elf_symbols__free(&f->symbols);
	memset(&f->symbols, 0, sizeof(f->symbols));
	f->is_elf = false;
	f->err = 0;
	f->is_closed = true;
}

void mapped_file__open_again(struct mapped_file *f, struct mapped_file *other)
{
	if (!f->is_closed)
		return;
	f->fd = other->fd;
	other->fd = -1;
	f->is_closed = false;
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

/* Returns NULL if out of memory. */
static char *build_id_path(const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1], *path = NULL;
	size_t i;

	for (i = 0; i < id->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	if (asprintf(&path, DEBUG_DIR "/.build-id/%.2s/%s.debug", id->n > 1 ? hex : "--",
		     id->n > 1 ? hex + 2 : "") < 0)
		return NULL;
	return path;
}

/* Returns the next candidate path of the debug file, or NULL if there are no more, or if out of memory. */
static char *debug_path(const struct mapped_file *f, int place)
{
	const char *link = f->symbols.link.name, *slash = f->path ? strrchr(f->path, '/') : NULL;
	int dir = slash ? slash - f->path : 0;
	char *path = NULL;

	if (place == 0)
		return build_id_path(&f->symbols.build_id);
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

/*
 * Opens a candidate for the dwz file. Its path is untrusted and may name any file, so an unprivileged process checks
 * the build ID.
 */
static int try_alt(const struct mapped_file *f, u32 pid, const char *path,
		   struct allowance *allowance)
{
	struct build_id id;
	struct stat st;
	int fd, err;

	fd = root__open(pid, path, 0, &st);
	if (fd < 0)
		return fd;
	err = elf_symbols__build_id(&id, fd, allowance);
	if (!err && (!id.n || !build_id__equal(&id, &f->symbols.alt.build_id)))
		err = -ESTALE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* path is the file with the debug information. Returns a descriptor or a negative errno. */
static int open_alt(const struct mapped_file *f, u32 pid, const char *path,
		    struct allowance *allowance)
{
	const struct debug_alt *alt = &f->symbols.alt;
	const char *slash = strrchr(path, '/');
	char *names[] = { build_id_path(&alt->build_id), NULL };
	int fd = -ENOMEM, dir = slash && alt->path[0] != '/' ? slash - path + 1 : 0;
	size_t i;

	if (asprintf(&names[1], "%.*s%s", dir, path, alt->path) < 0)
		names[1] = NULL;
	for (i = 0; i < ARRAY_SIZE(names) && fd < 0; i++) {
		if (names[i])
			fd = try_alt(f, pid, names[i], allowance);
		if (names[i] && fd < 0 && pid)
			fd = try_alt(f, 0, names[i], allowance);
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		free(names[i]);
	return fd;
}

/* Keeps fd's debug information, which matches the symbols, open for source lookup. The caller still owns fd. */
static void keep_source(struct mapped_file *f, int fd, u32 pid, const char *path,
			struct allowance *allowance)
{
	if (f->source.fd >= 0)
		return;
	f->source.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->source.fd < 0) {
		f->source.err = -EMFILE;
		return;
	}
	f->source.moved = f->symbols.moved;
	if (f->symbols.alt.path[0])
		f->source.alt_fd = open_alt(f, pid, path, allowance);
}

/*
 * A file mapped by many processes is read once, with the debug file found through one of them. So the owner of the
 * debug file must be a user who could have changed the file itself.
 */
static bool may_name(const struct mapped_file *f, const struct stat *debug)
{
	return (!debug->st_uid && !(debug->st_mode & S_IWOTH)) || debug->st_uid == f->uid;
}

/* Rereads both files if this is the debug file. Uses its debug information if f has none. */
static int try_debug(struct mapped_file *f, u32 pid, const char *path,
		     const struct reading_wish *want)
{
	struct elf_symbols with;
	struct stat st;
	int fd, err;

	fd = root__open(pid, path, 0, &st);
	if (fd < 0)
		return fd;
	if (st.st_dev == f->dev && st.st_ino == f->inode)
		err = -ESTALE;          /* the file itself, stripped in place, under the name in the debug link */
	else if (!may_name(f, &st))
		err = -EPERM;
	else
		err = elf_symbols__read(&with, f->fd, fd, want->allowance);
	if (!err) {
		elf_symbols__free(&f->symbols);
		f->symbols = with;
		if (want->source && with.debug_info == DEBUG_INFO_SEPARATE)
			keep_source(f, fd, pid, path, want->allowance);
	}
	close(fd);
	return err;
}

/* True if nothing is left to search. */
static bool has_all(const struct mapped_file *f, const struct reading_wish *want)
{
	return f->symbols.complete && (!want->source || f->source.fd >= 0);
}

/* True if the error is to be reported for a file. */
static bool is_fault(int err)
{
	return err == -ETIME || err == -EDQUOT || err == -EBADMSG;
}

static int read_debug(struct mapped_file *f, const struct reading_wish *want)
{
	const u32 root[] = { f->pid, 0 };
	char *path;
	int place;
	size_t i;
	int err;

	for (i = f->pid ? 0 : 1; i < ARRAY_SIZE(root); i++) {
		for (place = 0; (path = debug_path(f, place)); place++) {
			err = try_debug(f, root[i], path, want);
			free(path);
			if (is_fault(err))
				f->err = err;
			if (err == -ENOMEM || err == -EINTR || (!err && has_all(f, want)))
				return err;
		}
	}
	return 0;
}

int mapped_file__read(struct mapped_file *f, const struct reading_wish *want)
{
	int err;

	if (f->fd < 0)
		return 0;
	elf_symbols__free(&f->symbols);         /* left by an interrupted call */
	err = elf_symbols__read(&f->symbols, f->fd, -1, want->allowance);
	f->is_elf = !err;
	f->err = is_fault(err) ? err : !err && f->symbols.dropped ? -E2BIG : 0;
	if (!err && want->source && f->symbols.debug_info)
		keep_source(f, f->fd, f->pid, f->path ?: "/", want->allowance);
	if (!err && !has_all(f, want))
		err = read_debug(f, want);
	if (err == -EINTR) {
		f->err = err;
		return 0;       /* retried if called again */
	}
	close(f->fd);
	f->fd = -1;
	return err == -ENOMEM ? err : 0;
}
