// SPDX-License-Identifier: BSD-2-Clause
#include "sym/loaded_code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sorted.h"
#include "base/table.h"

/*
 * --- detecting newly loaded code ---------------------------------------------------------------
 */

static bool has_newer(u32 *last, int (*next)(u32 id, u32 *following))
{
	u32 before = *last, id;

	while (!next(*last, &id))
		*last = id;
	return *last != before;
}

/* Hashes the name (the first word of the line) and the address (the last word), but not the reference count. */
static u64 hash_module(u64 hash, const char *line)
{
	const char *address = strstr(line, " 0x");

	hash = table_hash(hash, line, strcspn(line, " "));
	return address ? table_hash(hash, address, strcspn(address + 1, " \n") + 1) : hash;
}

static u64 hash_modules(void)
{
	FILE *file = fopen("/proc/modules", "re");
	char *line = NULL;
	size_t size = 0;
	u64 hash = 0;

	if (!file)
		return 0;
	while (getline(&line, &size, file) >= 0)
		hash = hash_module(hash, line);
	free(line);
	fclose(file);
	return hash;
}

bool loaded_code__has_news(struct loaded_code *c)
{
	u64 modules = hash_modules();
	bool news = modules != c->modules;

	c->modules = modules;
	news |= has_newer(&c->last_program, bpf_prog_get_next_id);
	news |= has_newer(&c->last_link, bpf_link_get_next_id);
	return news;
}

/*
 * --- sizes of BPF functions --------------------------------------------------------------------
 */

static int make_room(struct bpf_functions *f, size_t n)
{
	return ARRAY_RESERVE(f->function, f->room, f->n + n);
}

/* Adds all functions of a program. If addresses are hidden, all are 0. */
static int add_functions(struct bpf_functions *f, int fd, u32 n)
{
	u64 *start = calloc(n, sizeof(*start));
	u32 *size = calloc(n, sizeof(*size)), length, i;
	struct bpf_prog_info info = {
		.nr_jited_ksyms = n,
		.jited_ksyms = (uintptr_t)start,
		.nr_jited_func_lens = n,
		.jited_func_lens = (uintptr_t)size,
	};
	int err = start && size ? make_room(f, n) : -ENOMEM;

	length = sizeof(info);
	if (!err && !bpf_obj_get_info_by_fd(fd, &info, &length) && info.nr_jited_ksyms == info.nr_jited_func_lens)
		for (i = 0; i < n && i < info.nr_jited_ksyms; i++)
			if (start[i])
				f->function[f->n++] = (struct bpf_function){start[i], size[i]};
	free(start);
	free(size);
	return err;
}

static int add_program(struct bpf_functions *f, u32 id)
{
	struct bpf_prog_info info = {};
	u32 length = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id), err = 0;

	/* The program has been unloaded, or we lack permission to see it. */
	if (fd < 0)
		return 0;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length) && info.nr_jited_ksyms)
		err = add_functions(f, fd, info.nr_jited_ksyms);
	close(fd);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct bpf_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int bpf_functions__read(struct bpf_functions *f)
{
	u32 id = 0;
	int err = 0;

	*f = (struct bpf_functions){};
	while (!err && !bpf_prog_get_next_id(id, &id))
		err = add_program(f, id);
	if (err)
		bpf_functions__free(f);
	else if (f->n)
		qsort(f->function, f->n, sizeof(*f->function), by_start);
	return err;
}

void bpf_functions__free(struct bpf_functions *f)
{
	free(f->function);
	*f = (struct bpf_functions){};
}

u64 bpf_functions__size(const struct bpf_functions *f, u64 start)
{
	size_t n = f->n ? SORTED_UP_TO(f->function, f->n, start, start) : 0;

	return n && f->function[n - 1].start == start ? f->function[n - 1].size : 0;
}
