// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwinder.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "out/diag.h"

/* What a file's mark is: nothing yet, nothing to be had, or its number and this much. */
enum { MARK_NONE, MARK_SILENT, MARK_NUMBERS };

int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols)
{
	int err;

	memset(u, 0, sizeof(*u));
	u->symbols = symbols;
	err = unwind_tables__init(&u->tables, maps->rules, maps->files, maps->slabs, UNWIND_BUDGET);
	return err ?: unwind_spaces__init(&u->spaces, maps->spaces, maps->mappings);
}

int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols)
{
	const struct unwind_maps maps = {
		.rules = bpf_object__find_map_fd_by_name(obj, "unwind_rules"),
		.files = bpf_object__find_map_fd_by_name(obj, "unwind_files"),
		.slabs = bpf_object__find_map_fd_by_name(obj, "unwind_slabs"),
		.mappings = bpf_object__find_map_fd_by_name(obj, "unwind_mappings"),
		.spaces = bpf_object__find_map_fd_by_name(obj, "unwind_spaces"),
	};

	if (maps.rules < 0 || maps.files < 0 || maps.slabs < 0 || maps.mappings < 0 ||
	    maps.spaces < 0)
		return -ENOENT;
	return unwinder__init(u, &maps, symbols);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static int number_of(struct unwinder *u, const struct symbols_code *code, u32 *number)
{
	int fd, err;

	*number = UNWIND_NO_FILE;
	if (!code->mark)
		return 0;
	if (*code->mark >= MARK_NUMBERS)
		*number = *code->mark - MARK_NUMBERS;
	if (*code->mark != MARK_NONE)
		return 0;
	fd = symbols__open_code(u->symbols, u->pid, code);
	if (fd < 0)
		return 0;
	err = unwind_tables__add(&u->tables, fd, number);
	close(fd);
	if (!err)
		*code->mark = *number == UNWIND_NO_FILE ? MARK_SILENT : *number + MARK_NUMBERS;
	return err;
}

static int add_mapping(struct unwinder *u, const struct unwind_mapping *m)
{
	u32 room = u->room ? 2 * u->room : 64;
	struct unwind_mapping *larger;

	if (u->n == u->room) {
		larger = reallocarray(u->mapping, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		u->mapping = larger;
		u->room = room;
	}
	u->mapping[u->n++] = *m;
	return 0;
}

/* Code of which nothing is known is code all the same: what is in no mapping is no caller. */
static int take_code(void *arg, const struct symbols_code *code)
{
	struct unwind_mapping m = { .start = code->start, .end = code->end };
	struct unwinder *u = arg;
	int err = number_of(u, code, &m.file);

	if (!err && m.file != UNWIND_NO_FILE &&
	    unwind_tables__bias(&u->tables, m.file, code->start, code->offset, &m.bias))
		m.file = UNWIND_NO_FILE;
	return err ?: add_mapping(u, &m);
}

static int see(struct unwinder *u, u32 pid)
{
	struct process_stamp stamp;
	int err = symbols__see(u->symbols, pid);

	if (!err)
		err = symbols__stamp(u->symbols, pid, &stamp);
	if (err || unwind_spaces__has(&u->spaces, pid, &stamp))
		return err;
	u->pid = pid;
	u->n = 0;
	err = symbols__each_code(u->symbols, pid, take_code, u);
	if (!err)
		err = unwind_spaces__put(&u->spaces, pid, &stamp, u->mapping, u->n);
	unwind_spaces__sweep(&u->spaces);
	return err;
}

/* What it takes to read tables is not counted: that is done once. */
int unwinder__see(struct unwinder *u, u32 pid)
{
	u64 start = monotonic_ns(), tables = u->tables.counts.time_ns;
	int err = see(u, pid);

	unwind_spaces__note_seen(&u->spaces, pid, monotonic_ns(),
				 monotonic_ns() - start - (u->tables.counts.time_ns - tables));
	return err;
}

void unwinder__follow(struct unwinder *u, u32 pid)
{
	u->follows = true;
	u->only = pid;
}

int unwinder__changed(struct unwinder *u, u32 pid)
{
	bool known;

	if (!unwind_spaces__may_see(&u->spaces, pid, monotonic_ns(), &known))
		return -EAGAIN;
	if (u->follows && !known && pid != u->only)
		return 0;
	return unwinder__see(u, pid) == -ENOMEM ? -ENOMEM : 0;
}

int unwinder__forked(struct unwinder *u, u32 pid, u32 parent)
{
	return unwind_spaces__fork(&u->spaces, pid, parent);
}

int unwinder__see_all(struct unwinder *u)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	u64 pid;
	int err = 0;

	if (!proc)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (err != -ENOMEM && (entry = readdir(proc)))
		if (!parse_u64_between(entry->d_name, 1, UINT32_MAX, &pid))
			err = unwinder__see(u, pid);
	closedir(proc);
	return err == -ENOMEM ? err : 0;
}

/*
 * --- what is told ------------------------------------------------------------------------------
 */

static void tell(const struct unwinder *u)
{
	const struct unwind_counts *c = &u->tables.counts;

	diag_detail("unwinding tables: %llu files (%llu without, %llu unreadable), %llu rows, %u rules, "
		    "%.1f MiB of at most %llu, read in %.0f ms; %llu rows say what is not followed; "
		    "%llu processes", c->files, c->silent, c->unread, c->rows, u->tables.rules->n,
		    c->words / (1024 * 1024 / 4.0), UNWIND_BUDGET >> 20, c->time_ns / 1e6,
		    c->unsupported, u->spaces.nknown);
	if (c->refused)
		diag_warn("no room for the unwinding tables of %llu files: stacks through their code "
			  "are walked by frame pointers", c->refused);
	if (u->spaces.refused)
		diag_warn("no room for the mappings of processes, %llu times: stacks of these are walked "
			  "by frame pointers", u->spaces.refused);
}

void unwinder__end(struct unwinder *u)
{
	if (u->tables.rules)
		tell(u);
	unwind_tables__free(&u->tables);
	unwind_spaces__free(&u->spaces);
	free(u->mapping);
	memset(u, 0, sizeof(*u));
}
