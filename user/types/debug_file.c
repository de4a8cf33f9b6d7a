// SPDX-License-Identifier: BSD-2-Clause
#include "types/debug_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/opener.h"

#define DEBUG_DIR "/usr/lib/debug"

/*
 * --- in unprivileged processes -----------------------------------------------------------------
 */

struct about_answer {
	s64 err;
	struct elf_about about;
};

/* Callback of confined_work; the file is descriptor 0. */
static void tell_about(struct answer *to, void *arg)
{
	struct about_answer a;
	struct elf_file f = {};
	GElf_Shdr header;
	Elf_Data *data;

	(void)arg;
	memset(&a, 0, sizeof(a));       /* including padding, which is sent through the pipe */
	a.err = elf_file__open_fd(&f, 0);
	if (!a.err) {
		a.about.type = f.header.e_type;
		a.about.has_symbols = !elf_file__section(&f, ".symtab", &header, &data);
		a.about.has_debug_info = elf_file__has_debug_info(&f);
		elf_file__build_id(&f, &a.about.build_id);
		elf_file__debug_link(&f, &a.about.link);
		elf_file__alt_link(&f, &a.about.alt);
	}
	answer__put(to, &a, sizeof(a));
}

/* Makes any answer of the child safe to use: checks lengths and terminates strings. */
static bool is_sound(const struct elf_about *a)
{
	return a->build_id.n <= sizeof(a->build_id.byte) &&
	       a->alt.build_id.n <= sizeof(a->alt.build_id.byte) &&
	       memchr(a->link.name, 0, sizeof(a->link.name)) && !strchr(a->link.name, '/') &&
	       memchr(a->alt.path, 0, sizeof(a->alt.path));
}

int elf_about__read(struct elf_about *about, int fd)
{
	struct about_answer a;
	void *answer;
	size_t size;
	int err;

	err = confined__run(tell_about, NULL, &fd, 1, NULL, &answer, &size);
	if (err)
		return err;
	if (size == sizeof(a))
		memcpy(&a, answer, size);
	free(answer);
	if (size != sizeof(a))
		return -EBADMSG;
	if (a.err)
		return a.err == -ENOMEM ? -ENOMEM : -ENOEXEC;
	if (!is_sound(&a.about))
		return -EBADMSG;
	*about = a.about;
	return 0;
}

struct wanted {
	const struct build_id *id;
	const struct debug_link *link;
};

/* Callback of confined_work; the file is descriptor 0. */
static void tell_belongs(struct answer *to, void *arg)
{
	const struct wanted *w = arg;
	struct elf_file f;

	if (!elf_file__open_fd(&f, 0) && elf_file__belongs(&f, w->id, w->link))
		answer__put(to, "y", 1);
}

/* Opens a file if it is the wanted one. */
static int try(const char *path, const struct wanted *w)
{
	int fd = opener__open_path(path, NULL), err;
	struct allowance once = {};     /* the CRC covers the whole file */
	void *answer;
	size_t size;

	if (fd < 0)
		return fd;
	err = confined__run(tell_belongs, (void *)w, &fd, 1, &once, &answer, &size);
	if (!err) {
		free(answer);
		err = size == 1 ? 0 : -ESTALE;
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

/*
 * --- by name -----------------------------------------------------------------------------------
 */

/* Returns NULL if out of memory. */
static char *path_by_id(const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1] = "", *path;
	size_t i;

	for (i = 0; i < id->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->byte[i]);
	if (asprintf(&path, DEBUG_DIR "/.build-id/%.2s/%s.debug", hex,
		     id->n > 1 ? hex + 2 : "-") < 0)
		return NULL;
	return path;
}

static int dir_of(const char *path, const char **dir)
{
	const char *slash = strrchr(path, '/');

	*dir = slash ? path : ".";
	return slash ? slash - path : 1;
}

/* Returns a candidate path of the debug file, or NULL if out of memory. */
#define PLACES 4
static char *place(const struct elf_about *a, const char *path, int which)
{
	const char *dir;
	int len = dir_of(path, &dir);
	char *name;

	if (!which)
		return path_by_id(&a->build_id);
	if (asprintf(&name, "%s%.*s/%s%s", which == 3 ? DEBUG_DIR : "", len, dir,
		     which == 2 ? ".debug/" : "", a->link.name) < 0)
		return NULL;
	return name;
}

int debug_file__open(const struct elf_about *about, const char *path, char **name)
{
	const struct wanted w = { &about->build_id, &about->link };
	int fd = -ENOENT, late = 0, i;
	char *found;

	for (i = about->build_id.n > 1 ? 0 : 1; i < (about->link.name[0] ? PLACES : 1); i++) {
		found = place(about, path, i);
		if (!found)
			return -ENOMEM;
		fd = try(found, &w);
		if (fd >= 0 && name)
			*name = found;
		else
			free(found);
		if (fd >= 0 || fd == -ENOMEM || fd == -EINTR)
			return fd;
		if (fd == -ETIME)
			late = fd;
	}
	return late ?: -ENOENT;
}

int debug_file__open_alt(const struct elf_about *about, const char *path)
{
	const struct debug_alt *alt = &about->alt;
	const struct wanted w = { &alt->build_id, NULL };
	const char *dir;
	int len = dir_of(path, &dir), fd = -ENOENT;
	char *names[2] = {};
	size_t i;

	if (!alt->path[0] || !alt->build_id.n)
		return -ENOENT;
	names[0] = path_by_id(&alt->build_id);
	if (asprintf(&names[1], "%.*s%s%s", alt->path[0] == '/' ? 0 : len, dir,
		     alt->path[0] == '/' ? "" : "/", alt->path) < 0)
		names[1] = NULL;
	for (i = 0; i < ARRAY_SIZE(names) && fd < 0 && fd != -EINTR; i++)
		fd = names[i] ? try(names[i], &w) : -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		free(names[i]);
	return fd;
}
