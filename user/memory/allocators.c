// SPDX-License-Identifier: BSD-2-Clause
#include "memory/allocators.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types/binary.h"

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
	/* operator new, new[], delete, delete[]: Itanium C++ ABI, with size_t an unsigned long. */
	{ "_Znwm", ALLOCATOR_MALLOC },
	{ "_Znam", ALLOCATOR_MALLOC },
	{ "_ZnwmRKSt9nothrow_t", ALLOCATOR_MALLOC },
	{ "_ZnamRKSt9nothrow_t", ALLOCATOR_MALLOC },
	{ "_ZnwmSt11align_val_t", ALLOCATOR_MALLOC },
	{ "_ZnamSt11align_val_t", ALLOCATOR_MALLOC },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", ALLOCATOR_MALLOC },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", ALLOCATOR_MALLOC },
	{ "_ZdlPv", ALLOCATOR_FREE },
	{ "_ZdaPv", ALLOCATOR_FREE },
	{ "_ZdlPvm", ALLOCATOR_FREE },
	{ "_ZdaPvm", ALLOCATOR_FREE },
	{ "_ZdlPvRKSt9nothrow_t", ALLOCATOR_FREE },
	{ "_ZdaPvRKSt9nothrow_t", ALLOCATOR_FREE },
	{ "_ZdlPvSt11align_val_t", ALLOCATOR_FREE },
	{ "_ZdaPvSt11align_val_t", ALLOCATOR_FREE },
	{ "_ZdlPvmSt11align_val_t", ALLOCATOR_FREE },
	{ "_ZdaPvmSt11align_val_t", ALLOCATOR_FREE },
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

static int add_site(struct allocators *a, const struct binary_function *f,
		    enum allocator_kind kind, const char *path)
{
	struct allocator_site *larger, *s;
	size_t i;

	for (i = 0; i < a->n; i++)      /* another name of the same function */
		if (a->site[i].file_offset == f->file_offset && !strcmp(a->site[i].path, path))
			return 0;
	larger = realloc(a->site, (a->n + 1) * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	a->site = larger;
	s = &a->site[a->n];
	*s = (struct allocator_site){ kind, strdup(f->name), strdup(path), f->file_offset };
	a->n++;
	return s->name && s->path ? 0 : -ENOMEM;
}

/* Only of a file that has a malloc(): libstdc++'s operator new calls that of another one. */
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

static int add_path(struct allocators *a, const char *path)
{
	struct binary_functions found;
	const struct known *k;
	size_t i;
	int err = binary_functions__find(&found, path, NULL);

	if (err)
		return err;
	for (i = has_malloc(&found) ? 0 : found.n; i < found.n && !err; i++) {
		k = find_known(found.function[i].name);
		if (k && !found.function[i].is_indirect)
			err = add_site(a, &found.function[i], k->kind, path);
	}
	binary_functions__free(&found);
	return err;
}

int allocators__add_file(struct allocators *a, const char *name)
{
	char *path = binary__locate(name);
	int err = path ? add_path(a, path) : -errno;

	free(path);
	return err;
}

/* Is it worth being looked at? It is read whole, and has no right to be what its name says. */
static bool may_allocate(const char *path, const char *program)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strcmp(path, program) || !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-musl", 7) || strstr(name, "malloc");
}

/*
 * A line of /proc/PID/maps with code in it. The file is taken from there, and not by its path,
 * which may be of another mount namespace, or another file by now.
 */
static int add_mapping(struct allocators *a, u32 pid, char *line, const char *program)
{
	char path[64], rights[8];
	unsigned long start, end;
	const char *file;
	int at = 0, err;

	if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &start, &end, rights, &at) < 3 || !at)
		return 0;
	file = line + at;
	if (rights[2] != 'x' || file[0] != '/' || !may_allocate(file, program))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, start, end);
	err = add_path(a, path);
	return err == -ENOMEM ? err : 0;
}

int allocators__add_process(struct allocators *a, u32 pid)
{
	char path[64], program[4096] = "", *line = NULL;
	size_t room = 0;
	ssize_t n;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (readlink(path, program, sizeof(program) - 1) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!err && (n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		err = add_mapping(a, pid, line, program);
	}
	free(line);
	fclose(f);
	return err;
}

void allocators__free(struct allocators *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->site[i].name);
		free(a->site[i].path);
	}
	free(a->site);
	*a = (struct allocators){};
}
