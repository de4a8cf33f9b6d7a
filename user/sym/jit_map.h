/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of code that a process has made itself: /tmp/perf-PID.map, lines "START SIZE NAME"
 * with numbers in hex, by which runtimes tell perf(1). PID is the process's own number for
 * itself, and /tmp is its own.
 *
 * Everybody may write to /tmp, so a file counts only if it is a regular one, reached without any
 * link, of the process's user or root, with no second name. Of a huge one JIT_MAP_MAX bytes are
 * read.
 */
#ifndef TALLY_SYM_JIT_MAP_H
#define TALLY_SYM_JIT_MAP_H

#include "base/confined.h"
#include "sym/symbol_table.h"

#define JIT_MAP_MAX (64U << 20)

struct jit_map {
	int fd;                 /* -1: none */
	u64 dev, inode;
	u64 size;               /* that was read */
	struct symbol_table table;
	int err;                /* of the last reading, 0: it went well */
};

/*
 * Opens the map of a process, or the one it has now in place of an earlier one. -ENOENT, -EPERM
 * (it does not count), -ESRCH: what was there stays.
 */
int jit_map__open(struct jit_map *j, u32 pid);

/*
 * Reads it if it has grown since, in a process without rights. Where code was replaced, what was
 * written last holds. Where it cannot be read, what was there stays, and err says why. -ENOMEM
 */
int jit_map__read(struct jit_map *j, struct allowance *allowance);

void jit_map__init(struct jit_map *j);
void jit_map__free(struct jit_map *j);

/* Makes a table of the text of such a file, which has size bytes. -ENOMEM */
int jit_map__parse(struct symbol_table *t, const char *text, size_t size);

#endif /* TALLY_SYM_JIT_MAP_H */
