// SPDX-License-Identifier: BSD-2-Clause
#include "event/user_binary.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "types/binary.h"

size_t event_word__path(const struct event_word *w)
{
	const char *slash = memrchr(w->text, '/', w->len), *colon;
	size_t from = slash ? slash - w->text : 0;

	colon = memchr(w->text + from, ':', w->len - from);
	if (!colon)
		return 0;
	if (slash || memmem(w->text, colon - w->text, ".so", 3))
		return colon - w->text;
	return 0;
}

bool event_word__is_sdt(const struct event_word *w, size_t from)
{
	return w->len - from > 4 && !strncmp(w->text + from, "sdt", 3) &&
	       (w->text[from + 3] == '_' || w->text[from + 3] == ':');
}

int event__take_path(struct event *e, const struct event_word *w, size_t *from,
		     struct complaint *c)
{
	size_t len = event_word__path(w);
	char *path;

	*from = 0;
	if (!len)
		return 0;
	path = event_word__copy(w, 0, len);
	if (!path)
		return complain(c, -ENOMEM, w->at, w->len, "no memory");
	free(e->binary);
	e->binary = path;
	*from = len + 1;
	return 0;
}

void event_binaries__free(struct event_binaries *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		free(b->path[i]);
	free(b->path);
	*b = (struct event_binaries){};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Takes path over. */
static int add_binary(struct event_binaries *b, char *path)
{
	char **larger;
	size_t i;

	for (i = 0; path && i < b->n; i++)
		if (is_same_file(b->path[i], path)) {
			free(path);
			return 0;
		}
	larger = path ? realloc(b->path, (b->n + 1) * sizeof(*larger)) : NULL;
	if (!larger) {
		free(path);
		return -ENOMEM;
	}
	b->path = larger;
	b->path[b->n++] = path;
	return 0;
}

/* "libc" means libc.so.6 and libc-2.31.so, "libc.so.6" that alone; a path means itself. */
static bool is_meant(const char *name, const char *path)
{
	const char *file = event_binary_name(path);
	size_t n = strlen(name);

	if (strchr(name, '/'))
		return !strcmp(name, path);
	if (strncmp(file, name, n))
		return false;
	return !file[n] || !strncmp(file + n, ".so", 3) ||
	       (file[n] == '-' && isdigit((unsigned char)file[n + 1]) && strstr(file + n, ".so"));
}

/* A line of /proc/PID/maps with code of such a file: that file as we can open it. */
static int add_mapping(struct event_binaries *b, u32 pid, const char *line, const char *name,
		       const char *own)
{
	unsigned long start, end;
	char rights[8], *mapped, *path;
	int at = 0, err;

	if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &start, &end, rights, &at) < 3 || !at ||
	    rights[2] != 'x' || line[at] != '/' || !is_meant(name, line + at))
		return 0;
	if (asprintf(&mapped, "/proc/%u/map_files/%lx-%lx", pid, start, end) < 0)
		return -ENOMEM;
	if (own && is_same_file(own, mapped)) {
		free(mapped);
		path = strdup(own);
		return add_binary(b, path);
	}
	if (asprintf(&path, "/proc/%u/root%s", pid, line + at) < 0) {
		free(mapped);
		return -ENOMEM;
	}
	/* Where it has been replaced meanwhile, the name leads to another one. */
	if (is_same_file(path, mapped)) {
		free(mapped);
		return add_binary(b, path);
	}
	free(path);
	err = access(mapped, R_OK);
	if (!err)
		return add_binary(b, mapped);
	free(mapped);
	return 0;
}

static int add_mapped(struct event_binaries *b, u32 pid, const char *name, const char *own)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int err = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !err && (n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		err = add_mapping(b, pid, line, name, own);
	}
	free(line);
	if (f)
		fclose(f);
	return err;
}

int event__locate_binaries(struct event_binaries *found, const struct event *e,
			   const struct event_context *ctx, struct complaint *c)
{
	char *own = binary__locate(e->binary);
	int err = !own && errno == ENOMEM ? -ENOMEM : 0;
	size_t i;

	*found = (struct event_binaries){};
	for (i = 0; i < ctx->npids && !err; i++)
		err = add_mapped(found, ctx->pids[i], e->binary, own);
	if (!err && !found->n && own) {
		err = add_binary(found, own);
		own = NULL;
	}
	free(own);
	if (!err && found->n)
		return 0;
	event_binaries__free(found);
	if (err)
		return complain(c, -ENOMEM, e->at, e->len, "no memory");
	complain(c, 0, e->at, e->len, "there is no program and no library '%s'", e->binary);
	return complain_hint(c, -ENOENT, "name it with its path");
}

/* Another file than own by that name, with code. What may not be looked at is not one. */
static bool is_another(u32 pid, const char *line, const char *name, const char *own)
{
	unsigned long start, end;
	struct stat mapped;
	char rights[8], path[64];
	int at = 0;

	if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &start, &end, rights, &at) < 3 || !at ||
	    rights[2] != 'x' || line[at] != '/' || !is_meant(name, line + at))
		return false;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, start, end);
	return !stat(path, &mapped) && !is_same_file(own, path);
}

static bool has_another(u32 pid, const char *name, const char *own)
{
	char path[64], *line = NULL;
	bool found = false;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !found && (n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		found = is_another(pid, line, name, own);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

#define LOOK_ELSEWHERE (NSEC_PER_SEC / 10)

void event__look_elsewhere(struct event_sites *sites, const struct event *e,
			   const struct event_context *ctx, const struct event_binaries *found)
{
	u64 until = monotonic_ns() + LOOK_ELSEWHERE;
	struct dirent *entry;
	DIR *proc;

	if (!ctx->is_everyone || sites->looked_elsewhere || !found->n)
		return;
	sites->looked_elsewhere = true;
	proc = opendir("/proc");
	while (proc && monotonic_ns() < until && (entry = readdir(proc))) {
		u32 pid = strtoul(entry->d_name, NULL, 10);

		sites->elsewhere += pid && has_another(pid, e->binary, found->path[0]);
	}
	if (proc)
		closedir(proc);
}

int event__complain_binary(const struct event *e, const char *path, int err, struct complaint *c)
{
	switch (err) {
	case -ENOEXEC:
		complain(c, 0, e->at, e->len, "%s is no program or library (ELF), or damaged",
			 path);
		return complain_hint(c, err, "for scripts, name the interpreter");
	case -EBADMSG:
	case -E2BIG:
		return complain(c, err, e->at, e->len, "%s is damaged", path);
	default:
		return complain(c, err, e->at, e->len, "%s: %s", path, confined__why(err));
	}
}

int event__complain_sites(const struct event *e, u32 most, struct complaint *c)
{
	complain(c, 0, e->at, e->len, "'%s' stands for more than %u places", e->name, most);
	return complain_hint(c, -E2BIG, "name fewer; -n shows them without doing anything");
}

const char *event_binary_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool event_is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}
