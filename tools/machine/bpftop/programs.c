// SPDX-License-Identifier: BSD-2-Clause
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/small_file.h"
#include "machine/bpftop/program.h"

char *program_text(const char *fmt, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

bool fdinfo_number(const char *text, const char *name, u64 *number)
{
	size_t len = strlen(name);

	while (text && strncmp(text, name, len)) {
		text = strchr(text, '\n');
		text += !!text;
	}
	if (!text)
		return false;
	*number = strtoull(text + len, NULL, 10);
	return true;
}

/* The memory that the kernel charges for the object behind one of our descriptors. */
static u64 memlock_of(int fd)
{
	char path[64], text[1024];
	u64 bytes = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (small_file__read(-1, path, text, sizeof(text)))
		fdinfo_number(text, "memlock:", &bytes);
	return bytes;
}

/*
 * --- one program -------------------------------------------------------------------------------
 */

/*
 * Returns the name of the program's function from BTF, or NULL without BTF. Names of programs are cut off after 15
 * bytes.
 */
static char *full_name(int fd, const struct bpf_prog_info *from)
{
	struct bpf_func_info function = {};
	struct bpf_prog_info info = {
		.nr_func_info = 1, .func_info_rec_size = sizeof(function), .func_info = (uintptr_t)&function,
	};
	u32 size = sizeof(info);
	const struct btf_type *type;
	char *name = NULL;
	struct btf *btf;

	if (!from->btf_id || !from->nr_func_info || bpf_obj_get_info_by_fd(fd, &info, &size))
		return NULL;
	btf = btf__load_from_kernel_by_id(from->btf_id);
	if (!btf)
		return NULL;
	type = btf__type_by_id(btf, function.type_id);
	if (type && !strncmp(btf__name_by_offset(btf, type->name_off) ?: "", from->name, strlen(from->name)))
		name = strdup(btf__name_by_offset(btf, type->name_off));
	btf__free(btf);
	return name;
}

static int name_it(struct bpf_program_seen *p, int fd, const struct bpf_prog_info *info)
{
	size_t len = strnlen(info->name, sizeof(info->name)), i;

	for (i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(p->tag + 2 * i, 3, "%02x", info->tag[i]);
	if (!len)
		return 0;
	if (len == sizeof(info->name) - 1)
		p->name = full_name(fd, info);
	if (!p->name)
		p->name = strndup(info->name, len);
	return p->name ? 0 : -ENOMEM;
}

/* Maps that are added after n was read do not matter, since a program is loaded with all of its maps. */
static int list_maps(struct bpf_program_seen *p, int fd, u32 n)
{
	struct bpf_prog_info info = { .nr_map_ids = n };
	u32 size = sizeof(info);

	if (!n)
		return 0;
	p->map = calloc(n, sizeof(*p->map));
	if (!p->map)
		return -ENOMEM;
	info.map_ids = (uintptr_t)p->map;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		p->nmaps = info.nr_map_ids < n ? info.nr_map_ids : n;
	return 0;
}

static void program__free(struct bpf_program_seen *p)
{
	free(p->name);
	free(p->map);
	free(p->attached);
	free(p->owner.name);
}

int bpf_program__add_place(struct bpf_program_seen *program, char *text)
{
	if (!text)
		return -ENOMEM;
	program->attachments++;
	if (program->attached)
		free(text);
	else
		program->attached = text;
	return 0;
}

static int add_program(struct bpf_programs *all, int fd, const struct bpf_prog_info *info)
{
	struct bpf_program_seen p = {
		.id = info->id, .type = info->type, .uid = info->created_by_uid, .loaded_ns = info->load_time,
		.memory = memlock_of(fd), .is_new = true, .seen = true,
		.target_object = info->attach_btf_obj_id, .target_type = info->attach_btf_id,
	};
	int err = name_it(&p, fd, info) ?: list_maps(&p, fd, info->nr_map_ids) ?: ARRAY_APPEND(all->program, all->n, p);

	if (err)
		program__free(&p);
	all->news = true;
	return err;
}

/*
 * --- all of them -------------------------------------------------------------------------------
 */

/* Ids wrap around. */
static int compare_ids(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

_Static_assert(!offsetof(struct bpf_program_seen, id) && !offsetof(struct bpf_map_seen, id), "they are found by it");

struct bpf_program_seen *bpf_programs__find(const struct bpf_programs *p, u32 id)
{
	return p->n ? bsearch(&id, p->program, p->n, sizeof(*p->program), compare_ids) : NULL;
}

struct bpf_map_seen *bpf_programs__find_map(const struct bpf_programs *p, u32 id)
{
	return p->nmaps ? bsearch(&id, p->map, p->nmaps, sizeof(*p->map), compare_ids) : NULL;
}

static struct bpf_program_seen *find_known(const struct bpf_programs *p, size_t known, u32 id)
{
	return known ? bsearch(&id, p->program, known, sizeof(*p->program), compare_ids) : NULL;
}

/*
 * An id that was used again belongs to another program. The figures of the old one are lost, except those of the last
 * look.
 */
static bool is_same(const struct bpf_program_seen *p, const struct bpf_prog_info *info)
{
	return p->loaded_ns == info->load_time && p->type == info->type;
}

/* known: the number of programs known before, which are sorted. */
static int take_counters(struct bpf_programs *all, size_t known, int fd)
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);
	struct bpf_program_seen *p;
	int err = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	p = find_known(all, known, info.id);
	if (p && !is_same(p, &info))
		return 0;
	if (!p) {
		err = add_program(all, fd, &info);
		p = err ? NULL : &all->program[all->n - 1];
	}
	if (!p)
		return err;
	p->seen = true;
	if (all->frozen)
		return 0;
	p->now = (struct program_counters){ info.run_cnt, info.run_time_ns, info.recursion_misses };
	p->has_misses = size >= offsetof(struct bpf_prog_info, recursion_misses) + sizeof(u64);
	return 0;
}

/* Counts programs that were loaded and removed between two looks: unused ids between those of new programs. */
static void count_unseen(struct bpf_programs *p, size_t known)
{
	u32 largest = p->last_id, n = 0;
	size_t i;

	for (i = known; i < p->n; i++) {
		n += p->program[i].id > p->last_id;
		if (p->program[i].id > largest)
			largest = p->program[i].id;
	}
	if (p->last_id)
		p->unseen += largest - p->last_id - n;
	p->last_id = largest;
}

static int walk(struct bpf_programs *p, size_t known)
{
	u32 id = 0;
	int err = 0, fd;

	while (!err && !bpf_prog_get_next_id(id, &id)) {
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0 && errno != ENOENT)
			return -errno;
		if (fd < 0)
			continue;
		err = take_counters(p, known, fd);
		close(fd);
	}
	return err ?: errno == ENOENT ? 0 : -errno;
}

int bpf_programs__look(struct bpf_programs *p)
{
	size_t known = p->n, i;
	int err;

	for (i = 0; i < p->n; i++)
		p->program[i].seen = false;
	err = walk(p, known);
	for (i = 0; i < p->n && !err; i++)
		p->program[i].ended = !p->program[i].seen;
	count_unseen(p, known);
	if (p->n)
		qsort(p->program, p->n, sizeof(*p->program), compare_ids);
	return err;
}

static void begin_interval(struct bpf_programs *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		p->program[i].before = p->program[i].now;
		p->program[i].is_new = false;
	}
	p->unseen = 0;
}

/* Keeps the programs that still exist. */
static void drop_ended(struct bpf_programs *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		if (p->program[i].ended)
			program__free(&p->program[i]);
		else
			p->program[n++] = p->program[i];
	}
	p->n = n;
}

void bpf_programs__next(struct bpf_programs *p)
{
	drop_ended(p);
	begin_interval(p);
}

/* Returns the id that a new program gets, or 0 if none can be loaded. Ids are assigned in ascending order. */
static u32 current_id(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		info.id = 0;
	close(fd);
	return info.id;
}

int bpf_programs__begin(struct bpf_programs *p)
{
	int err;

	bpf_programs__free(p);
	p->last_id = current_id();
	err = bpf_programs__look(p);
	bpf_programs__next(p);
	return err;
}

/*
 * --- maps, places and owners -------------------------------------------------------------------
 */

static int add_map(struct bpf_programs *p, u32 id)
{
	int fd = bpf_map_get_fd_by_id(id), err;

	if (fd < 0)
		return 0;
	err = ARRAY_APPEND(p->map, p->nmaps, (struct bpf_map_seen){ .id = id, .bytes = memlock_of(fd) });
	close(fd);
	return err;
}

/* The kernel lists maps by id. */
int bpf_programs__read_maps(struct bpf_programs *p)
{
	u32 id = 0;
	int err = 0;

	p->nmaps = 0;
	while (!err && !bpf_map_get_next_id(id, &id))
		err = add_map(p, id);
	return err;
}

void bpf_programs__free(struct bpf_programs *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		program__free(&p->program[i]);
	free(p->program);
	free(p->map);
	*p = (struct bpf_programs){};
}
