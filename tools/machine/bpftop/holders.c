// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners of programs. In /proc: processes that hold a descriptor of the program, of a link, of a perf event to which it
 * is attached, or of one of its maps. In BPF file systems: paths of pins. Reading links in /proc does not access other
 * file systems.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mount_line.h"
#include "base/opener.h"
#include "base/small_file.h"
#include "machine/bpftop/program.h"

#define BPF_FILE_SYSTEM 0xcafe4a11
/* The depth of nested directories of pins, and the total number of pins to look at. */
#define PIN_DEPTH 8
#define PINS_MOST 65536

struct holder {
	struct bpf_programs *all;
	enum program_hold hold;
	u32 pid;
	char name[PATH_MAX];    /* the comm of a process, or a path */
	u32 pins;
};

/* Adds a holder of this kind, unless a more specific kind is known. */
static int take(struct bpf_owner *owner, const struct holder *h)
{
	if (h->hold < owner->hold || (h->pid && owner->last == h->pid))
		return 0;
	if (h->hold > owner->hold) {
		free(owner->name);
		*owner = (struct bpf_owner){ .hold = h->hold, .pid = h->pid };
	}
	owner->n++;
	owner->last = h->pid;
	if (!owner->name)
		owner->name = strdup(h->name);
	return owner->name ? 0 : -ENOMEM;
}

/* Reads an object from its fdinfo. The fdinfo of a link contains the id of its program. */
static int take_object(const struct holder *h, const char *fdinfo)
{
	struct bpf_program_seen *p;
	struct bpf_map_seen *map;
	u64 id;

	if (fdinfo_number(fdinfo, "prog_id:", &id)) {
		p = bpf_programs__find(h->all, id);
		return p && !p->ended ? take(&p->owner, h) : 0;
	}
	if (fdinfo_number(fdinfo, "map_id:", &id)) {
		map = bpf_programs__find_map(h->all, id);
		return map ? take(&map->owner, h) : 0;
	}
	return 0;
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

/* Before 5.15, programs are attached to perf events without links. The event then shows where. */
static int take_event(const struct holder *h, int fd)
{
	static const char *const kinds[] = {
		[BPF_FD_TYPE_RAW_TRACEPOINT] = "raw_tp", [BPF_FD_TYPE_TRACEPOINT] = "tracepoint",
		[BPF_FD_TYPE_KPROBE] = "kprobe", [BPF_FD_TYPE_KRETPROBE] = "kretprobe",
		[BPF_FD_TYPE_UPROBE] = "uprobe", [BPF_FD_TYPE_URETPROBE] = "uretprobe",
	};
	char name[1024] = "";
	u32 size = sizeof(name), id = 0, kind = 0;
	u64 offset = 0, address = 0;
	struct bpf_program_seen *p;
	int err;

	if (bpf_task_fd_query(h->pid, fd, 0, name, &size, &id, &kind, &offset, &address))
		return 0;
	p = bpf_programs__find(h->all, id);
	if (!p || p->ended)
		return 0;
	err = take(&p->owner, h);
	if (err || p->by_link || kind >= ARRAY_SIZE(kinds))
		return err;
	if (kind >= BPF_FD_TYPE_UPROBE)
		return bpf_program__add_place(p, program_text("%s:%s+%#llx", kinds[kind], name, offset));
	return bpf_program__add_place(p, program_text("%s:%s", kinds[kind], name));
}

static int take_descriptor(const struct holder *h, int dir, const char *number)
{
	char link[64], path[64], text[1024];
	ssize_t n = readlinkat(dir, number, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = 0;
	if (!strcmp(link, "anon_inode:[perf_event]"))
		return take_event(h, atoi(number));
	if (strncmp(link, "anon_inode:bpf", strlen("anon_inode:bpf")))
		return 0;
	snprintf(path, sizeof(path), "../fdinfo/%s", number);
	return small_file__read(dir, path, text, sizeof(text)) ? take_object(h, text) : 0;
}

static int take_process(struct holder *h, int proc)
{
	char path[64];
	struct dirent *entry;
	int err = 0, fd;
	DIR *dir;

	snprintf(path, sizeof(path), "%u/comm", h->pid);
	if (!small_file__read(proc, path, h->name, 64))
		return 0;
	h->name[strcspn(h->name, "\n")] = 0;
	snprintf(path, sizeof(path), "%u/fd", h->pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	while (dir && !err && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			err = take_descriptor(h, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	return err;
}

static int take_processes(struct holder *h)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	h->hold = HELD_BY_PROCESS;
	while (proc && !err && (entry = readdir(proc))) {
		h->pid = strtoul(entry->d_name, NULL, 10);
		if (h->pid)
			err = take_process(h, dirfd(proc));
	}
	if (proc)
		closedir(proc);
	h->pid = 0;
	return err;
}

/*
 * --- pins --------------------------------------------------------------------------------------
 */

static int take_pin(struct holder *h)
{
	int fd = bpf_obj_get(h->name), err = 0;
	char path[64], text[1024];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (small_file__read(-1, path, text, sizeof(text)))
		err = take_object(h, text);
	close(fd);
	return err;
}

/* Takes ownership of fd. h->name: path of the directory. */
static int take_pins_below(struct holder *h, int fd, u32 depth)
{
	size_t len = strlen(h->name);
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0, below;

	if (!dir)
		close(fd);
	while (dir && !err && (entry = readdir(dir)) && h->pins < PINS_MOST) {
		if (*entry->d_name == '.' || len + strlen(entry->d_name) + 2 > sizeof(h->name))
			continue;
		h->pins++;
		snprintf(h->name + len, sizeof(h->name) - len, "/%s", entry->d_name);
		if (entry->d_type == DT_REG)
			err = take_pin(h);
		below = entry->d_type != DT_DIR || err || !depth ?
				-1 : openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			err = take_pins_below(h, below, depth - 1);
		h->name[len] = 0;
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Another file system may be mounted over it. */
static int take_file_system(struct holder *h)
{
	int fd = open(h->name, O_PATH | O_DIRECTORY | O_CLOEXEC), dir = -1;
	u64 type = 0;

	if (fd < 0)
		return 0;
	if (!opener__file_system(fd, 0, &type) && type == BPF_FILE_SYSTEM)
		dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	return dir < 0 ? 0 : take_pins_below(h, dir, PIN_DEPTH);
}

static int take_pins(struct holder *h)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct mount_line m;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	h->hold = HELD_BY_PIN;
	while (f && !err && getline(&line, &room, f) > 0)
		if (mount_line__parse(&m, line) && !strcmp(m.type, "bpf") && strlen(m.point) < sizeof(h->name)) {
			snprintf(h->name, sizeof(h->name), "%s", m.point);
			err = take_file_system(h);
		}
	free(line);
	if (f)
		fclose(f);
	return err;
}

/*
 * --- all of it ---------------------------------------------------------------------------------
 */

static void forget(struct bpf_owner *owner)
{
	free(owner->name);
	*owner = (struct bpf_owner){};
}

/* Finds the owner of a program's maps, if no process holds the program. */
static int take_from_maps(struct bpf_programs *all, struct bpf_program_seen *p)
{
	const struct bpf_map_seen *map = NULL;
	u32 i;

	for (i = 0; i < p->nmaps && (!map || !map->owner.n); i++)
		map = bpf_programs__find_map(all, p->map[i]);
	if (!map || !map->owner.n)
		return 0;
	p->owner = map->owner;
	p->owner.hold = HELD_BY_MAP;
	p->owner.name = strdup(map->owner.name);
	return p->owner.name ? 0 : -ENOMEM;
}

int program_holders__read(struct bpf_programs *all)
{
	struct holder *h = calloc(1, sizeof(*h));
	int err = h ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!all->program[i].ended)
			forget(&all->program[i].owner);
	if (h)
		h->all = all;
	if (!err)
		err = take_processes(h) ?: take_pins(h);
	for (i = 0; i < all->n && !err; i++)
		if (!all->program[i].ended && !all->program[i].owner.n)
			err = take_from_maps(all, &all->program[i]);
	for (i = 0; i < all->nmaps; i++)
		forget(&all->map[i].owner);
	free(h);
	return err;
}
