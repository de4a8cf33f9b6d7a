/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of code that a process has generated itself: /tmp/perf-PID.map, with lines "START SIZE NAME" in hex, which
 * runtimes write for perf(1). PID is in the process's own pid namespace, and /tmp in its own root.
 *
 * /tmp is world-writable, so a map is accepted only if it is a regular file, reached without links, owned by the
 * process's user or root, with a link count of one, and not older than the process, since PIDs are reused. Only the
 * last JIT_MAP_MAX bytes are read: newer lines replace older ones.
 */
#ifndef TALLY_SYM_JIT_MAP_H
#define TALLY_SYM_JIT_MAP_H

#include "base/confined.h"
#include "sym/symbol_table.h"

#define JIT_MAP_MAX (64U << 20)

struct jit_map {
	int fd;                 /* -1: none */
	u64 dev, inode;
	u64 size;               /* bytes read so far */
	struct symbol_table table;
	int err;                /* of the last read; -EFBIG: the oldest names are missing; 0: complete */
};

/*
 * Opens the map of a process, replacing the earlier one. On -ENOENT, -EPERM (not accepted), -ESTALE (older than the
 * process, kept in err) or -ESRCH, the earlier one is kept.
 */
int jit_map__open(struct jit_map *j, u32 pid);

/*
 * Reads the map if it has grown, in an unprivileged process. If code was replaced, the last line written wins. On a
 * read error, keeps the old symbols and sets err. Returns 0 or -ENOMEM.
 */
int jit_map__read(struct jit_map *j, struct allowance *allowance);

/* Returns the reason as a text for messages. */
const char *jit_map__why(int err);

void jit_map__init(struct jit_map *j);
void jit_map__free(struct jit_map *j);

/* Parses the text of such a file, size bytes, into a table. Returns 0 or -ENOMEM. */
int jit_map__parse(struct symbol_table *t, const char *text, size_t size);

#endif /* TALLY_SYM_JIT_MAP_H */
