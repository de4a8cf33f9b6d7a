// SPDX-License-Identifier: BSD-2-Clause
#include "memory/allocators.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/opener.h"
#include "event/user_code.h"
#include "base/clock.h"
#include "sym/mappings.h"
#include "types/binary.h"
#include "types/program_files.h"

/* Limit of files per process that may contain an allocator. */
#define MAX_FILES 32

static const struct known {
	const char *name;
	enum allocator_kind kind;
} known[] = {
	{ "malloc", ALLOCATOR_MALLOC },
	{ "valloc", ALLOCATOR_MALLOC },
	{ "pvalloc", ALLOCATOR_MALLOC },
	{ "calloc", ALLOCATOR_CALLOC },
	{ "memalign", ALLOCATOR_MEMALIGN },
	{ "aligned_alloc", ALLOCATOR_MEMALIGN },
	{ "posix_memalign", ALLOCATOR_POSIX_MEMALIGN },
	{ "realloc", ALLOCATOR_REALLOC },
	{ "reallocarray", ALLOCATOR_REALLOCARRAY },
	{ "free", ALLOCATOR_FREE },
	{ "cfree", ALLOCATOR_FREE },
	{ "free_sized", ALLOCATOR_FREE },
	{ "free_aligned_sized", ALLOCATOR_FREE },
	/* operator new, new[], delete, delete[] in the Itanium C++ ABI, where size_t is unsigned long. */
	{ "_Znwm", ALLOCATOR_NEW },
	{ "_Znam", ALLOCATOR_NEW },
	{ "_ZnwmRKSt9nothrow_t", ALLOCATOR_NEW },
	{ "_ZnamRKSt9nothrow_t", ALLOCATOR_NEW },
	{ "_ZnwmSt11align_val_t", ALLOCATOR_NEW },
	{ "_ZnamSt11align_val_t", ALLOCATOR_NEW },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", ALLOCATOR_NEW },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", ALLOCATOR_NEW },
	{ "_ZdlPv", ALLOCATOR_DELETE },
	{ "_ZdaPv", ALLOCATOR_DELETE },
	{ "_ZdlPvm", ALLOCATOR_DELETE },
	{ "_ZdaPvm", ALLOCATOR_DELETE },
	{ "_ZdlPvRKSt9nothrow_t", ALLOCATOR_DELETE },
	{ "_ZdaPvRKSt9nothrow_t", ALLOCATOR_DELETE },
	{ "_ZdlPvSt11align_val_t", ALLOCATOR_DELETE },
	{ "_ZdaPvSt11align_val_t", ALLOCATOR_DELETE },
	{ "_ZdlPvmSt11align_val_t", ALLOCATOR_DELETE },
	{ "_ZdaPvmSt11align_val_t", ALLOCATOR_DELETE },
};

static const struct known *find_known(const char *name)
{
	static const char *const prefixes[] = { "je_", "tc_", "mi_" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			name += strlen(prefixes[i]);
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

/* A file to search. */
struct source {
	const char *path, *shown;
	struct user_code *code;         /* NULL if it is not needed or not readable */
};

static int add_site(struct allocators *a, const char *name, u64 file_offset, enum allocator_kind kind,
		    const struct source *from)
{
	struct allocator_site *s;
	size_t i;

	for (i = 0; i < a->n; i++)      /* another name of the same function */
		if (a->site[i].file_offset == file_offset && !strcmp(a->site[i].path, from->path))
			return 0;
	if (ARRAY_ROOM(a->site, a->n))
		return -ENOMEM;
	s = &a->site[a->n];
	*s = (struct allocator_site){ kind, strdup(name), strdup(from->path), strdup(from->shown),
				      file_offset };
	a->n++;
	return s->name && s->path && s->shown ? 0 : -ENOMEM;
}

/* Counts functions that are left out, and remembers the first one. */
static int leave_out(struct allocators *a, const char *name, const struct source *from, const char *why)
{
	if (a->nleft_out++)
		return 0;
	a->why = why;
	return asprintf(&a->left_out, "%s of %s", name, from->shown) < 0 ? -ENOMEM : 0;
}

/*
 * Adds a site for each return instruction, including those of functions in the same file that it
 * tail-calls. A tail call to another file needs no probe: an allocation function there is counted
 * by itself.
 */
static int add_exits(struct allocators *a, const char *name, const struct code_exits *exits,
		     const struct source *from)
{
	size_t i;
	int err = 0;
	u64 at;

	for (i = 0; i < exits->n && !err; i++) {
		if (exits->exit[i].is_tail_call)
			continue;
		err = binary__file_offset(from->path, exits->exit[i].address, &at);
		if (!err)
			err = add_site(a, name, at, ALLOCATOR_NEW_EXIT, from);
	}
	return err;
}

static bool returns(const struct code_exits *exits)
{
	size_t i;

	for (i = 0; i < exits->n; i++)
		if (!exits->exit[i].is_tail_call)
			return true;
	return false;
}

static int add_new(struct allocators *a, const struct binary_function *f, struct source *from)
{
	const char *why = "its file cannot be read";
	struct code_exits exits = {};
	int err = -ENODATA;

	if (from->code || !user_code__open(&from->code, from->path))
		err = user_code__exits(from->code, f->address, true, &exits, &why);
	if (err == -ENODATA)
		return leave_out(a, f->name, from, why);
	if (!err && returns(&exits))
		err = add_exits(a, f->name, &exits, from) ?:
		      add_site(a, f->name, f->file_offset, ALLOCATOR_NEW, from);
	else if (!err)
		err = leave_out(a, f->name, from, "it ends in jumps to other files");
	code_exits__free(&exits);
	return err;
}

/* Only files with a malloc() of their own qualify: operator new of libstdc++ calls another file's malloc(). */
static bool has_malloc(const struct binary_functions *found)
{
	const struct known *k;
	size_t i;

	for (i = 0; i < found->n; i++) {
		k = find_known(found->function[i].name);
		if (k && !found->function[i].is_indirect && !strcmp(k->name, "malloc"))
			return true;
	}
	return false;
}

/*
 * Returns 1 if the file already has its sites. If it were probed under two names, each call would run our programs
 * twice. A file that cannot be identified counts as new.
 */
static int note_file(struct allocators *a, const char *path)
{
	struct stat st;
	size_t i;

	if (opener__stat(path, &st))
		return 0;
	for (i = 0; i < a->nfiles; i++)
		if (a->file[i].device == st.st_dev && a->file[i].inode == st.st_ino)
			return 1;
	return ARRAY_APPEND(a->file, a->nfiles, (struct allocator_file){ st.st_dev, st.st_ino });
}

static int add_path(struct allocators *a, const char *path, const char *shown)
{
	struct source from = { .path = path, .shown = shown };
	struct binary_functions found;
	const struct known *k;
	size_t i;
	int err = note_file(a, path);

	if (err)
		return err > 0 ? 0 : err;
	err = binary_functions__find(&found, path, NULL);
	if (err)
		return err;
	for (i = has_malloc(&found) ? 0 : found.n; i < found.n && !err; i++) {
		k = find_known(found.function[i].name);
		if (!k || found.function[i].is_indirect)
			continue;
		if (k->kind == ALLOCATOR_NEW)
			err = add_new(a, &found.function[i], &from);
		else
			err = add_site(a, found.function[i].name, found.function[i].file_offset, k->kind,
				       &from);
	}
	user_code__close(from.code);
	binary_functions__free(&found);
	return err;
}

int allocators__add_file(struct allocators *a, const char *name, const char *program)
{
	char *path = binary__locate_for(name, program);
	int err = path ? add_path(a, path, path) : -errno;

	free(path);
	return err;
}

/* Whether to read a file, since it is read as a whole. Its name alone proves nothing. */
static bool may_allocate(const char *path, const char *program)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strcmp(path, program) || !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-musl", 7) || strstr(name, "malloc");
}

/*
 * An error in the file leaves out the file. Other errors are ours, and do not mean that the file
 * has no malloc().
 */
static bool is_ours(int err)
{
	static const int of_the_file[] = { ENOENT, ENOEXEC, EBADMSG, ENODATA, E2BIG, ETIME, EDQUOT };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_the_file); i++)
		if (err == -of_the_file[i])
			return false;
	return err < 0;
}

struct linking {
	struct allocators *found;
	char program[PATH_MAX]; /* the first file */
};

static int add_linked(void *arg, const struct program_file *file)
{
	struct linking *l = arg;
	int err = 0;

	close(file->fd);
	if (!l->program[0])
		snprintf(l->program, sizeof(l->program), "%s", file->path);
	if (may_allocate(file->path, l->program))
		err = add_path(l->found, file->path, file->path);
	return is_ours(err) ? err : 0;
}

#define FIND_LINKED_NS NSEC_PER_SEC

int allocators__add_command(struct allocators *a, const char *command)
{
	struct linking l = { .found = a };

	return program_files__each(command, monotonic_ns() + FIND_LINKED_NS, add_linked, &l);
}

struct search {
	struct allocators *found;
	u32 pid, files;
	char program[PATH_MAX];
};

/*
 * Handles executable mappings of a process. The file is opened through the process, not by its
 * path, which may be in another mount namespace, or may name another file by now.
 */
static int add_mapping(void *arg, const struct mapping_line *line)
{
	struct search *s = arg;
	char path[MAPPED_PATH];
	int err;

	if (!line->executable || line->name[0] != '/' || !may_allocate(line->name, s->program))
		return 0;
	/* Limits the effort for processes that map a file many times, or many files with such names. */
	if (++s->files > MAX_FILES)
		return 0;
	mapping__path(path, s->pid, line->start, line->end);
	err = add_path(s->found, path, line->name);
	if (is_ours(err))
		return err;
	if (opener__is_unanswered(err) && !s->found->unread) {
		s->found->unread = strdup(line->name);
		s->found->unread_err = err;
	}
	return 0;
}

int allocators__add_process(struct allocators *a, u32 pid)
{
	struct search s = { .found = a, .pid = pid };
	int err = mappings__program(pid, s.program, sizeof(s.program));

	return err ?: mappings__each(pid, add_mapping, &s);
}

void allocators__free(struct allocators *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->site[i].name);
		free(a->site[i].path);
		free(a->site[i].shown);
	}
	free(a->site);
	free(a->file);
	free(a->left_out);
	free(a->unread);
	*a = (struct allocators){};
}
