// SPDX-License-Identifier: BSD-2-Clause
#include "event/user_binary.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/confined.h"
#include "base/opener.h"
#include "base/process_thread.h"
#include "sym/mappings.h"
#include "types/binary.h"
#include "types/program_files.h"

bool event__begins_path(const char *text)
{
	return text[0] == '/' || text[0] == '~' || text[0] == '.';
}

static bool is_like_path(const struct event_word *w, size_t len)
{
	return memchr(w->text, '/', len) || memmem(w->text, len, ".so", 3);
}

/* True if only a line number follows the colon. No function name begins with a digit. */
static bool is_before_line(const struct event_word *w, size_t colon)
{
	size_t i;

	for (i = colon + 1; i < w->len && isdigit((unsigned char)w->text[i]);)
		i++;
	return i == w->len && i > colon + 1;
}

/* Returns the next colon that is not part of "::", or the word's length if there is none. */
static size_t find_colon(const struct event_word *w, size_t from)
{
	size_t i = event_word__find(w, from, ":");

	while (i + 1 < w->len && w->text[i + 1] == ':')
		i = event_word__find(w, i + 2, ":");
	return i;
}

size_t event_word__path(const struct event_word *w)
{
	/* A pattern may contain any character. */
	const struct event_word own = { w->text, w->at, event_word__find(w, 0, ";") };
	const char *slash = memrchr(own.text, '/', own.len);
	size_t first = find_colon(&own, 0), last = find_colon(&own, slash ? slash - own.text : 0);

	if (slash && (last == own.len || is_before_line(&own, last)))
		last = first < last ? first : own.len;
	return last < own.len && is_like_path(&own, last) ? last : 0;
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

	for (i = 0; i < b->n; i++) {
		free(b->path[i]);
		free(b->name[i]);
	}
	free(b->path);
	free(b->name);
	free(b->lacking);
	*b = (struct event_binaries){};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !opener__stat(a, &x) && !opener__stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* known_as is the path of the mapping. Takes ownership of path. */
static int add_binary(struct event_binaries *b, char *path, const char *known_as)
{
	char *name;
	size_t i;

	for (i = 0; path && i < b->n; i++)
		if (is_same_file(b->path[i], path)) {
			free(path);
			return 0;
		}
	name = path ? strdup(event_binary_name(known_as)) : NULL;
	if (!name || ARRAY_ROOM(b->path, b->n) || ARRAY_ROOM(b->name, b->n)) {
		free(path);
		free(name);
		return -ENOMEM;
	}
	b->name[b->n] = name;
	b->path[b->n++] = path;
	return 0;
}

/* "libc" means libc.so.6, libc-2.31.so and musl's loader; "libc.so.6" and paths mean only themselves. */
static bool is_meant(const char *name, const char *path)
{
	const char *file = event_binary_name(path);
	size_t n = strlen(name);

	if (event_is_glob(name))
		return !fnmatch(name, strchr(name, '/') ? path : file, 0);
	if (strchr(name, '/'))
		return !strcmp(name, path);
	if (!strcmp(name, "libc") && !strncmp(file, "ld-musl-", strlen("ld-musl-")))
		return true;
	if (strncmp(file, name, n))
		return false;
	return !file[n] || !strncmp(file + n, ".so", 3) ||
	       (file[n] == '-' && isdigit((unsigned char)file[n + 1]) && strstr(file + n, ".so"));
}

struct search {
	const char *name;
	const char *own;                /* the file that we find by that name, or NULL */
	u32 pid;
	struct event_binaries *found;
};

static bool is_code_of(const struct search *s, const struct mapping_line *line)
{
	return line->executable && line->name[0] == '/' && is_meant(s->name, line->name);
}

/* Returns a path by which we can open the mapped file, preferably one that outlives the mapping. */
static char *name_mapped(const struct search *s, const struct mapping_line *line)
{
	char mapped[MAPPED_PATH], *path;

	mapping__path(mapped, s->pid, line->start, line->end);
	if (s->own && is_same_file(s->own, mapped))
		return strdup(s->own);
	if (asprintf(&path, "/proc/%u/root%s", process_thread(s->pid), line->name) < 0)
		return NULL;
	/* The name refers to another file if the mapped one has been replaced. */
	if (is_same_file(path, mapped))
		return path;
	free(path);
	return strdup(mapped);
}

static int add_mapping(void *arg, const struct mapping_line *line)
{
	struct search *s = arg;
	char *path;

	if (!is_code_of(s, line))
		return 0;
	path = name_mapped(s, line);
	if (path && opener__may_read(path)) {
		free(path);
		return 0;
	}
	return add_binary(s->found, path, line->name);
}

/* Searches the files that a command will map by name. */
struct linking {
	const char *name;
	char *path;             /* NULL if not found yet */
	size_t n;
	bool has_unread;
};

static int note_linked(void *arg, const struct program_file *file)
{
	struct linking *l = arg;
	char *real = opener__real_path(file->path);
	bool meant = is_meant(l->name, file->path) || (real && is_meant(l->name, real));

	free(real);
	close(file->fd);
	l->n++;
	l->has_unread |= !file->is_read;
	if (!meant)
		return 0;
	l->path = strdup(file->path);
	return l->path ? 1 : -ENOMEM;
}

#define FIND_LINKED_NS NSEC_PER_SEC

/*
 * True if the command surely does not link the file. A list of two files may come from a program without section
 * headers, which shows its interpreter but no other library. A file that is not a library is executed, not linked.
 */
static bool is_known_not_linked(const struct linking *l, const char *own, u64 end_ns)
{
	return !l->path && own && l->n && l->n != 2 && l->n < PROGRAM_FILES_MOST && !l->has_unread &&
	       strstr(event_binary_name(own), ".so") && monotonic_ns() < end_ns;
}

/* Replaces *own with the file that the command will map under that name, e.g. another system's C library. */
static int find_linked(struct event_binaries *found, const char *name, const char *command, char **own)
{
	u64 end_ns = monotonic_ns() + FIND_LINKED_NS;
	struct linking l = { .name = name };
	int err = program_files__each(command, end_ns, note_linked, &l);

	if (err < 0)
		return err;
	if (l.path) {
		free(*own);
		*own = l.path;
	} else if (is_known_not_linked(&l, *own, end_ns)) {
		if (asprintf(&found->lacking, "%s is not linked with", event_binary_name(command)) < 0)
			found->lacking = NULL;
		return found->lacking ? 0 : -ENOMEM;
	}
	return 0;
}

/* Returns nonzero if the mapping is our file, under any name, or a file that we may not access. */
static int may_be_own(void *arg, const struct mapping_line *line)
{
	const struct search *s = arg;
	char path[MAPPED_PATH];
	struct stat st;

	if (!line->executable || line->name[0] != '/')
		return 0;
	mapping__path(path, s->pid, line->start, line->end);
	return opener__stat(path, &st) || is_same_file(s->own, path);
}

/* Notes that no process maps the file yet; they may open it later. */
static int note_not_mapped(struct event_binaries *found, const struct event_context *ctx, const char *own)
{
	struct search s = { .own = own };
	size_t i;
	int n;

	for (i = 0; i < ctx->npids; i++) {
		s.pid = ctx->pids[i];
		if (mappings__each(s.pid, may_be_own, &s))
			return 0;
	}
	if (!ctx->npids)
		return 0;
	n = ctx->npids == 1 ? asprintf(&found->lacking, "process %u has not mapped", ctx->pids[0]) :
			      asprintf(&found->lacking, "none of the processes of -p has mapped");
	if (n >= 0)
		return 0;
	found->lacking = NULL;
	return -ENOMEM;
}

static bool is_fault(int err)
{
	return err == -ENOMEM || err == -ETIME || err == -EINTR;
}

int event_binaries__find(struct event_binaries *found, const char *name, const struct event_context *ctx)
{
	char *own = event_is_glob(name) ? NULL : binary__locate_for(name, ctx->command);
	struct search s = { .name = name, .found = found };
	int err = !own && !event_is_glob(name) && errno == ENOMEM ? -ENOMEM : 0;
	size_t i;

	*found = (struct event_binaries){};
	if (!err && ctx->command && !event_is_glob(name) && !strchr(name, '/'))
		err = find_linked(found, name, ctx->command, &own);
	s.own = own;
	for (i = 0; i < ctx->npids && !is_fault(err); i++) {
		s.pid = ctx->pids[i];
		err = mappings__each(s.pid, add_mapping, &s);
	}
	if (!is_fault(err))
		err = 0;        /* skip processes without permission */
	if (!err && !found->n && own) {
		err = note_not_mapped(found, ctx, own);
		if (!err) {
			err = add_binary(found, own, own);
			own = NULL;
		}
	}
	free(own);
	if (err)
		event_binaries__free(found);
	return err ?: found->n ? 0 : -ENOENT;
}

int event__locate_binaries(struct event_binaries *found, const struct event *e,
			   const struct event_context *ctx, struct complaint *c)
{
	int err = event_binaries__find(found, e->binary, ctx);

	if (!err)
		return 0;
	if (err == -ENOMEM)
		return complain(c, err, e->at, e->len, "no memory");
	if (err != -ENOENT)
		return complain(c, err, e->at, e->len, "cannot look for '%s' in the mappings of the process: %s",
				e->binary, confined__why(err));
	if (event_is_glob(e->binary) && ctx->npids)
		return complain(c, err, e->at, e->len, "the processes of -p map no program or library matching '%s', "
						       "or their mappings cannot be read", e->binary);
	complain(c, 0, e->at, e->len, "no program or library '%s'", e->binary);
	if (event_is_glob(e->binary))
		return complain_hint(c, err, "a glob needs -p: it matches the files that those processes have mapped");
	return complain_hint(c, err, "give its path");
}

/* Returns nonzero if the mapping is another file under that name. Files that we may not access do not count. */
static int is_another(void *arg, const struct mapping_line *line)
{
	const struct search *s = arg;
	char path[MAPPED_PATH];
	struct stat mapped;

	if (!is_code_of(s, line))
		return 0;
	mapping__path(path, s->pid, line->start, line->end);
	return !opener__stat(path, &mapped) && !is_same_file(s->own, path);
}

/* Limits both CPU time, which is independent of other load, and wall time, since processes can make us wait. */
#define LOOK_ELSEWHERE (NSEC_PER_SEC / 10)
#define LOOK_AT_MOST (2 * NSEC_PER_SEC)

size_t event_binaries__count_others(const char *name, const char *own)
{
	u64 until = monotonic_ns() + LOOK_AT_MOST, used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct search s = { .name = name, .own = own };
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	size_t n = 0;

	while (proc && clock_ns(CLOCK_THREAD_CPUTIME_ID) - used < LOOK_ELSEWHERE && monotonic_ns() < until &&
	       (entry = readdir(proc))) {
		s.pid = strtoul(entry->d_name, NULL, 10);
		n += s.pid && mappings__each_until(s.pid, used + LOOK_ELSEWHERE, is_another, &s) > 0;
	}
	if (proc)
		closedir(proc);
	return n;
}

void event_binaries__describe_others(size_t n, char *text, size_t size)
{
	text[0] = 0;
	if (n)
		snprintf(text, size, "; processes with another file of that name are not traced (%zu): use -p", n);
}

void event__look_elsewhere(struct event_sites *sites, const struct event *e,
			   const struct event_context *ctx, const struct event_binaries *found)
{
	if (!ctx->is_everyone || sites->looked_elsewhere || !found->n)
		return;
	sites->looked_elsewhere = true;
	sites->elsewhere = event_binaries__count_others(e->binary, found->path[0]);
}

int event__note_lacking(struct event_sites *sites, const struct event_binaries *found)
{
	if (!found->lacking || sites->lacking)
		return 0;
	if (asprintf(&sites->lacking, "%s %s", found->lacking, found->path[0]) >= 0)
		return 0;
	sites->lacking = NULL;
	return -ENOMEM;
}

void event_sites__describe_lacking(const struct event_sites *sites, char *text, size_t size)
{
	text[0] = 0;
	if (sites->lacking)
		snprintf(text, size, "; %s", sites->lacking);
}

const char *event_sites__nothing(const struct event_sites *sites, bool filtered, char *text, size_t size)
{
	const char *first = NULL;
	bool others = false;
	size_t i;

	for (i = 0; i < sites->n; i++) {
		if (!sites->site[i].path)
			return NULL;    /* a kernel event, shared by all programs */
		first = first ?: sites->site[i].path;
		others |= strcmp(sites->site[i].path, first) != 0;
	}
	if (!first)
		return NULL;
	snprintf(text, size,
		 "no event %s in programs that map %.300s%s; other programs, such as static ones, are not seen",
		 filtered ? "passed the filters" : "happened in that time", first,
		 others ? " or another of the files" : "");
	return text;
}

int event__complain_binary(const struct event *e, const char *path, int err, struct complaint *c)
{
	switch (err) {
	case -ENOEXEC:
		complain(c, 0, e->at, e->len, "%s is not a program or library (ELF), or is damaged",
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
	complain(c, 0, e->at, e->len, "'%s' matches more than %u places", e->name, most);
	return complain_hint(c, -E2BIG, "use a narrower pattern; -n shows the matches and does nothing");
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
