/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds the tables by which programs walk user stacks without frame pointers (bpf/lib/unwind.h): from
 * the processes that symbols (sym/symbols.h) see, and the files these have mapped.
 *
 * What a process has mapped is in the maps at once, its files when they have been read, by processes beside
 * this one: until then walks go through them by frame pointers. Who has said what is to be seen calls
 * unwinder__work() whenever epoll_fd can be read, or unwinder__finish() to wait for all of it.
 */
#ifndef TALLY_UNWIND_UNWINDER_H
#define TALLY_UNWIND_UNWINDER_H

#include <bpf/libbpf.h>

#include "sym/symbols.h"
#include "unwind/spaces.h"
#include "unwind/sweep.h"
#include "unwind/tables.h"
#include "unwind/wanted.h"

/* Files are read by so many processes at once: where all CPUs are busy, one alone would take long. */
#define UNWINDER_READERS 4

struct unwinder_reader {
	struct wanted_file *file;       /* NULL: it reads none */
	struct confined_job job;
};

struct unwinder {
	struct symbols *symbols;
	struct unwind_tables tables;
	struct unwind_spaces spaces;
	struct wanted_files wanted;
	struct unwinder_reader reader[UNWINDER_READERS];
	struct sweep sweep;
	bool sweeps;                    /* it has not come to its end */
	bool told_all;                  /* records tell of all that is mapped: none was lost */
	bool puts_off;                  /* a process is to be told of again */
	bool soon;                      /* the process at hand runs now */
	int epoll_fd, timer_fd;         /* there is something to do */
	u32 only;               /* see unwinder__follow() */
	bool follows;
	struct unwind_mapping *mapping; /* of the process at hand */
	u32 n, room;
	u32 pid;
};

/* The maps of bpf/lib/unwind.h, open; they stay the caller's. */
struct unwind_maps {
	int rules, files, slabs, mappings, spaces;
};

/*
 * Begins with these maps; or, between load and attach, with those of an object that includes
 * bpf/lib/unwind.bpf.h. 0 or a negative errno.
 */
int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols);
int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols);

/*
 * After symbols__see() of a process, or instead: sees it, and puts what it has mapped into the maps
 * if that is news. Its files are read before others. -ESRCH: it has gone. -ENOMEM.
 */
int unwinder__see(struct unwinder *u, u32 pid);

/*
 * From what records tell (stack/told.h), of all processes there are. A child has its parent's code until
 * it is seen. One with new code is seen, unless that takes too much of a CPU's time: -EAGAIN, it is to be
 * told again with the next records. 0, -EAGAIN or -ENOMEM.
 */
int unwinder__changed(struct unwinder *u, u32 pid);
int unwinder__forked(struct unwinder *u, u32 pid, u32 parent);

/*
 * Records count for those that have been seen, their children, and the process pid (0: none) only: the
 * run is about them.
 */
void unwinder__follow(struct unwinder *u, u32 pid);

/* All processes that there are now, with their files: waits for these. 0 or -ENOMEM. */
int unwinder__see_all(struct unwinder *u);

/*
 * The same from unwinder__work(), those first that have used the most CPU time, as far as
 * UNWINDER_SWEEP_FILES files: the others are read when their processes run.
 */
#define UNWINDER_SWEEP_FILES 192
int unwinder__sweep_all(struct unwinder *u);

/* A piece of what there is to do, some milliseconds at most. 0 or -ENOMEM. */
int unwinder__work(struct unwinder *u);

/* Works until there is nothing left to do, until end_ns (CLOCK_MONOTONIC), or until a signal waits. 0 or -ENOMEM. */
int unwinder__finish(struct unwinder *u, u64 end_ns);

/* With -v, tells what was made; and in any case, what there was no room for. */
void unwinder__end(struct unwinder *u);

#endif /* TALLY_UNWIND_UNWINDER_H */
