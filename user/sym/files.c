// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/opener.h"
#include "base/process_thread.h"
#include "sym/root.h"
#include "sym/state.h"

/* Limit on unread files held open. Above it, files are read at once, whether or not their symbols are needed. */
#define MAX_HELD 256
/* Maximum number of files kept open after reading, for their code. */
#define MAX_KEPT_OPEN 256

/*
 * --- texts -------------------------------------------------------------------------------------
 */

struct text {
	bool is_kept;           /* see symbols__keep_text() */
	char text[];            /* the tree's nodes point here */
};

static struct text *text_of(const char *text)
{
	return (struct text *)(text - offsetof(struct text, text));
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *symbols__interned(const struct symbols *s, const char *text)
{
	char **found = tfind(text, &s->texts, compare_texts);

	return found ? *found : NULL;
}

/* Returns the shared copy of a string, or NULL if out of memory. */
const char *symbols__intern(struct symbols *s, const char *text)
{
	const char *found = symbols__interned(s, text);
	size_t size = strlen(text) + 1;
	struct text *new;

	if (found)
		return found;
	new = malloc(sizeof(*new) + size);
	if (!new)
		return NULL;
	new->is_kept = false;
	memcpy(new->text, text, size);
	if (!tsearch(new->text, &s->texts, compare_texts)) {
		free(new);
		return NULL;
	}
	s->text_bytes += size;
	return new->text;
}

size_t symbols__keep_text(const char *text)
{
	struct text *t = text_of(text);

	if (t->is_kept)
		return 0;
	t->is_kept = true;
	return strlen(text) + 1;
}

struct dropping {
	char **text;
	size_t n, room;
};

static void count_text(const void *node, VISIT which, void *arg)
{
	(void)node;
	((struct dropping *)arg)->room += which == postorder || which == leaf;
}

static void find_dropped(const void *node, VISIT which, void *arg)
{
	char *text = *(char *const *)node;
	struct dropping *d = arg;

	if (which != postorder && which != leaf)
		return;
	if (!text_of(text)->is_kept)
		d->text[d->n++] = text;
	text_of(text)->is_kept = false;
}

void symbols__drop_texts(struct symbols *s)
{
	struct dropping d = {};

	twalk_r(s->texts, count_text, &d);
	d.text = calloc(d.room ?: 1, sizeof(*d.text));
	if (!d.text)
		return;
	twalk_r(s->texts, find_dropped, &d);
	while (d.n--) {
		s->text_bytes -= strlen(d.text[d.n]) + 1;
		tdelete(d.text[d.n], &s->texts, compare_texts);
		free(text_of(d.text[d.n]));
	}
	free(d.text);
}

static void free_text(void *text)
{
	free(text_of(text));
}

void symbols__free_texts(struct symbols *s)
{
	tdestroy(s->texts, free_text);
}

/*
 * --- files -------------------------------------------------------------------------------------
 */

int symbols__read_file(struct symbols *s, struct mapped_file *f)
{
	const struct reading_wish want = { s->with_source, &s->allowance };
	int err;

	if (f->fd < 0)
		return 0;
	if (s->keeps_code && f->code_fd < 0 && s->kept_open < MAX_KEPT_OPEN) {
		f->code_fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		s->kept_open += f->code_fd >= 0;
	}
	err = mapped_file__read(f, &want);
	if (f->err && !f->is_told) {
		STAILQ_INSERT_TAIL(&s->unread, f, next);
		f->is_told = true;
	}
	if (f->fd >= 0)
		return err;
	s->held--;
	sources__admit(&s->sources, &f->source);
	return err;
}

int symbols__add_file(struct symbols *s, int fd, const struct stat *st, struct mapped_file **file)
{
	struct mapped_file *new = mapped_file__new(fd, st), **found;

	if (!new)
		return -ENOMEM;
	found = tsearch(new, &s->files, mapped_file__compare);
	if (!found || *found != new) {
		if (found) {
			s->held += (*found)->is_closed;
			mapped_file__open_again(*found, new);
			*file = *found;
		}
		mapped_file__free(new);
		return found ? 0 : -ENOMEM;
	}
	*file = new;
	s->held++;
	return 0;
}

int symbols__add_named(struct symbols *s, int fd, const struct stat *st, u32 pid, const char *name,
		       struct mapped_file **file)
{
	int err = symbols__add_file(s, fd, st, file);
	char *path;

	if (err || (*file)->fd < 0)
		return err;
	path = strdup(name);
	if (!path)
		return -ENOMEM;
	free((*file)->path);
	(*file)->path = path;
	(*file)->pid = pid;
	return 0;
}

int symbols__expect(struct symbols *s, int fd, const struct stat *st, u32 **mark)
{
	struct mapped_file *file;
	int err = symbols__add_file(s, fd, st, &file);

	if (!err)
		*mark = &file->mark;
	return err;
}

/*
 * Opens the file of a mapping: the mapped file itself if permitted, else by name, if the name still
 * refers to the same file.
 */
static int open_file(u32 pid, const struct mapping_line *line, struct stat *st)
{
	int fd = root__open_mapped(pid, line->start, line->end, line->device, st);

	if (fd >= 0 || opener__is_unanswered(fd) || line->deleted || line->name[0] != '/')
		return fd;
	fd = root__open(pid, line->name, 0, st);
	if (fd >= 0 && st->st_ino != line->inode) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

int symbols__add_unanswered(struct symbols *s, const struct mapping_line *line, int why, struct mapped_file **file)
{
	const struct stat st = {
		.st_dev = makedev(line->device >> 32, (u32)line->device), .st_ino = line->inode,
	};
	int err = symbols__add_file(s, -1, &st, file);

	if (err || (*file)->fd >= 0 || (*file)->is_told)
		return err;
	s->held--;
	(*file)->path = strdup(line->name);
	(*file)->err = why;
	(*file)->is_told = true;
	STAILQ_INSERT_TAIL(&s->unread, *file, next);
	return 0;
}

/* Sets *file, but leaves it NULL if the file cannot be opened. Returns 0 or -ENOMEM. */
int symbols__find_file(struct symbols *s, u32 pid, const struct mapping_line *line,
		     struct mapped_file **file)
{
	struct stat st;
	int fd, err;

	fd = open_file(pid, line, &st);
	if (opener__is_unanswered(fd))
		return symbols__add_unanswered(s, line, fd, file);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	err = symbols__add_named(s, fd, &st, pid, line->name, file);
	if (err || (*file)->fd < 0)
		return err;
	if (s->held > MAX_HELD || descriptor_is_scarce((*file)->fd))
		return symbols__read_file(s, *file);
	return 0;
}

/* A file as identified by a side-band record. */
struct told_file {
	u64 device, inode, generation;
	const char *path;               /* interned */
	struct mapped_file *file;
};

static int compare_told(const void *a, const void *b)
{
	const struct told_file *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static int keep_told(struct symbols *s, const struct told_file *told)
{
	struct told_file *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *told;
	if (tsearch(copy, &s->told_files, compare_told))
		return 0;
	free(copy);
	return -ENOMEM;
}

/*
 * Opens a file by its path, in the process's root or, if the process has exited, in ours. Rejects a file other than
 * the mapped one.
 */
int symbols__open_told(struct symbols *s, u32 pid, struct mapping *m)
{
	const struct mapping_line line = { .inode = m->inode, .name = m->path };
	struct stat st;
	int fd = root__open(pid, m->path, 0, &st);

	m->unopened = false;
	if (fd >= 0 && st.st_ino != m->inode) {
		close(fd);
		fd = -ESTALE;
	}
	if (fd < 0 && !opener__is_unanswered(fd))
		fd = root__open(pid = 0, m->path, 0, &st);
	if (opener__is_unanswered(fd))
		return symbols__add_unanswered(s, &line, fd, &m->file);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	if (st.st_ino != m->inode) {
		close(fd);
		return 0;
	}
	return symbols__add_named(s, fd, &st, pid, m->path, &m->file);
}

static struct mapped_file *find_own_vdso(struct symbols *s, u64 size);

int symbols__open_at_once(struct symbols *s, u32 pid, const struct mapping_line *line,
			  struct mapping *m)
{
	struct told_file told = { line->device, line->inode, line->generation, m->path, NULL }, **known;
	int err;

	if (m->kind == SYMBOL_VDSO) {
		m->file = find_own_vdso(s, m->end - m->start);
		return 0;
	}
	if (!m->unopened)
		return 0;
	known = tfind(&told, &s->told_files, compare_told);
	if (known) {
		m->file = (*known)->file;
		m->unopened = false;
		return 0;
	}
	if (s->held >= MAX_HELD)
		return 0;
	err = symbols__open_told(s, pid, m);
	/* Another process may have the file open; otherwise it is opened on first use. */
	m->unopened = !m->file;
	told.file = m->file;
	return err || !m->file ? err : keep_told(s, &told);
}

int symbols__open_now(struct symbols *s, u32 pid, struct mapping *m)
{
	int err = symbols__open_told(s, pid, m);

	if (!err && m->file && m->file->fd >= 0 &&
	    (s->held > MAX_HELD || descriptor_is_scarce(m->file->fd)))
		return symbols__read_file(s, m->file);
	return err;
}

static void keep_told_text(const void *node, VISIT which, void *arg)
{
	const struct told_file *told = *(struct told_file *const *)node;

	(void)arg;
	if (which == postorder || which == leaf)
		symbols__keep_text(told->path);
}

void symbols__keep_told_texts(struct symbols *s)
{
	twalk_r(s->told_files, keep_told_text, NULL);
}

struct closing {
	struct symbols *symbols;
	bool with_names;
	struct told_file **told;        /* entries that refer to closed files */
	size_t n, room;
};

static bool may_close(const struct mapped_file *f, bool with_names)
{
	if (f->is_mapped || f->is_closed || f->is_told || f->code_fd >= 0)
		return false;
	return f->fd >= 0 || with_names;
}

static void close_file(const void *node, VISIT which, void *arg)
{
	struct mapped_file *f = *(struct mapped_file *const *)node;
	struct closing *c = arg;

	if (which != postorder && which != leaf)
		return;
	if (may_close(f, c->with_names)) {
		c->symbols->held -= f->fd >= 0;
		mapped_file__close(f);
	}
	f->is_mapped = false;
}

static void find_told_of_closed(const void *node, VISIT which, void *arg)
{
	struct told_file *told = *(struct told_file *const *)node;
	struct closing *c = arg;

	if ((which == postorder || which == leaf) && told->file->is_closed && c->n < c->room)
		c->told[c->n++] = told;
}

static void count_told(const void *node, VISIT which, void *arg)
{
	(void)node;
	((struct closing *)arg)->room += which == postorder || which == leaf;
}

/* Allocate first, so that no record refers to a closed file. */
void symbols__close_unmapped(struct symbols *s, bool with_names)
{
	struct closing c = { .symbols = s, .with_names = with_names && !s->with_source };

	twalk_r(s->told_files, count_told, &c);
	c.told = calloc(c.room ?: 1, sizeof(*c.told));
	if (!c.told)
		return;
	twalk_r(s->files, close_file, &c);
	twalk_r(s->told_files, find_told_of_closed, &c);
	while (c.n--) {
		tdelete(c.told[c.n], &s->told_files, compare_told);
		free(c.told[c.n]);
	}
	free(c.told);
}

/*
 * --- vdso --------------------------------------------------------------------------------------
 */

int symbols__read_memory(u32 pid, u64 start, void *to, size_t size)
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/mem", process_thread(pid));
	n = opener__read_path(path, start, to, size);
	return n < 0 ? (int)n : n == (ssize_t)size ? 0 : -EIO;
}

/* Creates a file with the image, since symbols are read from files. */
static struct mapped_file *image_file(const void *image, size_t size)
{
	struct stat st = {};
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (write(fd, image, size) != (ssize_t)size) {
		close(fd);
		return NULL;
	}
	return mapped_file__new(fd, &st);
}

/* Takes ownership of the image. */
static struct mapped_file *add_vdso(struct symbols *s, void *image, size_t size)
{
	struct mapped_file *file;
	struct vdso *v;
	size_t i;

	for (i = 0; i < s->nvdsos; i++) {
		v = &s->vdso[i];
		if (v->size == size && !memcmp(v->image, image, size)) {
			free(image);
			return v->file;
		}
	}
	file = s->nvdsos < MAX_VDSOS ? image_file(image, size) : NULL;
	if (!file) {
		free(image);
		return NULL;
	}
	s->vdso[s->nvdsos++] = (struct vdso){ image, size, file };
	s->held++;
	return file;
}

struct mapped_file *symbols__find_vdso(struct symbols *s, u32 pid, const struct mapping_line *line)
{
	u64 size = line->end - line->start;
	void *image;

	if (size > MAX_VDSO)
		return NULL;
	image = malloc(size);
	if (!image)
		return NULL;
	if (symbols__read_memory(pid, line->start, image, size)) {
		free(image);
		return NULL;
	}
	return add_vdso(s, image, size);
}

/* Finds our own vdso. Returns 0 if the line is another mapping. */
static int take_own_vdso(void *arg, const struct mapping_line *line)
{
	if (strcmp(line->name, "[vdso]"))
		return 0;
	*(struct mapping_line *)arg = *line;
	return 1;
}

/*
 * Returns a known vdso, or ours, for an exited process. The vdsos of different kinds of processes differ in size, or
 * have the same names.
 */
static struct mapped_file *find_own_vdso(struct symbols *s, u64 size)
{
	struct mapping_line own = {};
	size_t i;

	if (!s->own_vdso_read && mappings__each(getpid(), take_own_vdso, &own) > 0)
		symbols__find_vdso(s, getpid(), &own);
	s->own_vdso_read = true;
	for (i = 0; i < s->nvdsos; i++)
		if (s->vdso[i].size == size)
			return s->vdso[i].file;
	return NULL;
}
