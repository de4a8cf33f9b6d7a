// SPDX-License-Identifier: BSD-2-Clause
#include "types/program_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/program_path.h"
#include "base/opener.h"
#include "base/wire.h"
#include "types/binary.h"
#include "types/elf_file.h"

/*
 * --- in the unprivileged process ---------------------------------------------------------------
 */

static void put_interpreter(struct wire *w, const struct elf_file *f)
{
	char name[PATH_MAX] = "";
	GElf_Phdr header;
	int i;

	for (i = 0; gelf_getphdr(f->elf, i, &header); i++) {
		if (header.p_type != PT_INTERP || header.p_filesz >= sizeof(name))
			continue;
		if (pread(0, name, header.p_filesz, header.p_offset) != (ssize_t)header.p_filesz)
			name[0] = 0;
		break;
	}
	wire__text(w, name);
}

/* Writes the needed libraries and the directories to search, each as a tag and a string. */
static void put_needs(struct wire *w, const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Dyn entry;
	const char *text;
	int i;

	if (elf_file__section(f, ".dynamic", &header, &data))
		return;
	for (i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH)
			continue;
		text = elf_strptr(f->elf, header.sh_link, entry.d_un.d_val);
		if (!text || strlen(text) >= PATH_MAX)
			continue;
		wire__number(w, entry.d_tag);
		wire__text(w, text);
	}
}

/* Callback of confined_work. The file is descriptor 0, which elf_file__map_fd() takes over and leaves open. */
static void tell(struct answer *to, void *arg)
{
	struct elf_file f = {};
	struct wire w = {};

	(void)arg;
	if (!elf_file__map_fd(&f, 0)) {
		put_interpreter(&w, &f);
		put_needs(&w, &f);
	}
	answer__put(to, w.data, w.err ? 0 : w.n);
	/* The child exits now, so nothing needs freeing. */
}

/*
 * --- the caller --------------------------------------------------------------------------------
 */

struct program_files {
	program_file_visit visit;
	void *arg;
	u64 end_ns;
	char *program;          /* the program whose libraries are searched; owned by path */
	char *musl;             /* its interpreter if it is musl's loader, else NULL */
	char *path[PROGRAM_FILES_MOST];
	struct {
		dev_t device;
		ino_t inode;
	} seen[PROGRAM_FILES_MOST];
	size_t n, nseen;
};

/* Takes ownership of path, which may be NULL. */
static void add_path(struct program_files *p, char *path)
{
	size_t i;

	for (i = 0; path && i < p->n && strcmp(p->path[i], path); i++)
		;
	if (path && i == p->n && p->n < PROGRAM_FILES_MOST)
		p->path[p->n++] = path;
	else
		free(path);
}

/* Returns the length of a path's directory, without the final slash, or 0 if it has none. */
static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash - path : 0;
}

/* Finds a readable file with that name in a list of directories. Returns NULL if there is none. */
static char *search(const char *directories, const char *origin, const char *name)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *at = directories, *rest;
	char *path;
	size_t i;

	for (; at && *at; at = rest + (*rest == ':')) {
		int from = 0;

		rest = strchrnul(at, ':');
		for (i = 0; origin && i < ARRAY_SIZE(origins); i++)
			if (!strncmp(at, origins[i], strlen(origins[i])))
				from = strlen(origins[i]);
		if (asprintf(&path, "%.*s%.*s/%s", from ? directory_length(origin) : 0, origin ?: "",
			     (int)(rest - at) - from, at + from, name) < 0)
			return NULL;
		if (rest > at && !opener__may_read(path))
			return path;
		free(path);
	}
	return NULL;
}

/* True for "ld-musl-x86_64.so.1", which is also the C library. */
static bool is_musl(const char *interpreter)
{
	return !strncmp(interpreter + directory_length(interpreter), "/ld-musl-", strlen("/ld-musl-"));
}

/* True for a library that musl's loader provides itself (ldso/dynlink.c). */
static bool is_in_musl(const char *name)
{
	static const char *const parts[] = { "c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet." };
	size_t i;

	if (strncmp(name, "lib", 3))
		return false;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strncmp(name + 3, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* Searches the directories of /etc/ld-musl-ARCH.path, separated by newlines or colons. */
static char *search_musl(const char *interpreter, const char *name)
{
	const char *arch = interpreter + directory_length(interpreter) + strlen("/ld-musl-");
	char path[64], directories[PATH_MAX], *at;
	ssize_t n = -1;

	if (snprintf(path, sizeof(path), "/etc/ld-musl-%.*s.path", (int)strcspn(arch, "."), arch) < (int)sizeof(path))
		n = opener__read_path(path, 0, directories, sizeof(directories) - 1);
	if (n < 0)
		return search("/lib:/usr/local/lib:/usr/lib", NULL, name);
	directories[n] = 0;
	for (at = directories; (at = strchr(at, '\n')); at++)
		*at = ':';
	return search(directories, NULL, name);
}

/* Code below follows ld.so(8). rpath and runpath are the file's own DT_RPATH and DT_RUNPATH, or NULL. */
static char *locate(const struct program_files *p, const char *name, const char *origin,
		    const char *rpath, const char *runpath)
{
	char *found;

	if (strchr(name, '/'))
		return strdup(name);
	if (p->musl && is_in_musl(name))
		return strdup(p->musl);
	found = runpath ? NULL : search(rpath, origin, name);
	found = found ?: search(getenv("LD_LIBRARY_PATH"), NULL, name);
	found = found ?: search(runpath, origin, name);
	if (!found && p->musl)
		return search_musl(p->musl, name);
	return found ?: binary__locate_for(name, p->program);
}

struct needs {
	char *rpath, *runpath;
	char *library[PROGRAM_FILES_MOST];
	size_t n;
};

static void take_needs(struct needs *needs, struct unwire *u)
{
	while (u->left && !u->err) {
		u64 tag = unwire__number(u);
		char *text = unwire__text(u);

		if (text && tag == DT_NEEDED && needs->n < PROGRAM_FILES_MOST) {
			needs->library[needs->n++] = text;
		} else if (text && (tag == DT_RPATH || tag == DT_RUNPATH)) {
			char **to = tag == DT_RPATH ? &needs->rpath : &needs->runpath;

			free(*to);
			*to = text;
		} else {
			free(text);
		}
	}
}

static void add_needs(struct program_files *p, const char *path, struct unwire *u)
{
	char *interpreter = unwire__text(u), *origin = opener__real_path(path);
	struct needs needs = {};
	size_t i;

	if (path == p->program && interpreter && *interpreter == '/' && is_musl(interpreter))
		p->musl = strdup(interpreter);
	if (interpreter && *interpreter == '/')
		add_path(p, interpreter);
	else
		free(interpreter);
	take_needs(&needs, u);
	for (i = 0; i < needs.n; i++) {
		add_path(p, locate(p, needs.library[i], origin, needs.rpath, needs.runpath));
		free(needs.library[i]);
	}
	free(needs.rpath);
	free(needs.runpath);
	free(origin);
}

/* Adds the interpreter, as in "#!/bin/sh -e", which is the program to run. Returns false if it is not a script. */
static bool add_script_interpreter(struct program_files *p, int fd)
{
	char line[256];
	ssize_t n = opener__read(fd, 0, line, sizeof(line) - 1);
	char *from;

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = 0;
	from = line + 2 + strspn(line + 2, " \t");
	from[strcspn(from, " \t\n")] = 0;
	if (*from == '/')
		add_path(p, strdup(from));
	return true;
}

static bool is_seen(struct program_files *p, const struct stat *st)
{
	size_t i;

	for (i = 0; i < p->nseen; i++)
		if (p->seen[i].device == st->st_dev && p->seen[i].inode == st->st_ino)
			return true;
	p->seen[p->nseen].device = st->st_dev;
	p->seen[p->nseen++].inode = st->st_ino;
	return false;
}

/* Skips a file that cannot be opened. */
static int visit_file(struct program_files *p, char *path)
{
	struct program_file file = { .path = path };
	struct unwire u = {};
	void *answer = NULL;
	size_t size;

	file.fd = opener__open_path(path, &file.st);
	if (file.fd < 0)
		return 0;
	if (is_seen(p, &file.st) || add_script_interpreter(p, file.fd)) {
		close(file.fd);
		return 0;
	}
	p->program = p->program ?: path;
	if (!confined__run(tell, NULL, &file.fd, 1, NULL, &answer, &size) && size) {
		file.is_read = true;
		u = (struct unwire){ answer, size, 0 };
		add_needs(p, path, &u);
	}
	free(answer);
	return p->visit(p->arg, &file);
}

int program_files__each(const char *name, u64 end_ns, program_file_visit visit, void *arg)
{
	struct program_files *p = calloc(1, sizeof(*p));
	size_t i;
	int err;

	if (!p)
		return -ENOMEM;
	p->visit = visit;
	p->arg = arg;
	add_path(p, program_path_asked(name, &err));
	err = 0;
	for (i = 0; i < p->n && !err && monotonic_ns() < end_ns; i++)
		err = visit_file(p, p->path[i]);
	for (i = 0; i < p->n; i++)
		free(p->path[i]);
	free(p->musl);
	free(p);
	return err;
}
