/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maintains the tables for walking user stacks without frame pointers (bpf/lib/unwind.h), for the processes that
 * symbols (sym/symbols.h) has seen and the files they have mapped.
 *
 * A process's mappings are added to the maps at once. The tables of its files are added when child processes have read
 * them; until then, walks use frame pointers. Callers run unwinder__work() whenever epoll_fd is readable, or
 * unwinder__finish() to wait until all files are read.
 */
#ifndef TALLY_UNWIND_UNWINDER_H
#define TALLY_UNWIND_UNWINDER_H

#include <bpf/libbpf.h>

#include "sym/symbols.h"
#include "unwind/spaces.h"
#include "unwind/sweep.h"
#include "unwind/tables.h"
#include "unwind/wanted.h"

/*
 * While files are being read, this process and the readers run at nice value UNWINDER_NICE if permitted. Otherwise,
 * when all CPUs are busy, the wait for each file would be ten times as long as the work, and all samples of its code
 * are incomplete until then. The priority is raised only for the first seconds: later files are chosen by other users,
 * who must not gain priority for the reading of their files.
 */
#define UNWINDER_NICE (-15)
#define UNWINDER_HURRY_NS (3 * NSEC_PER_SEC)

/* Number of files read in parallel: a single reader would take long when all CPUs are busy. */
#define UNWINDER_READERS 6

struct unwinder_reader {
	struct wanted_file *file;       /* NULL: idle */
	struct confined_job job;
};

struct unwinder {
	struct symbols *symbols;
	struct unwind_tables tables;
	struct unwind_spaces spaces;
	struct wanted_files wanted;
	struct unwinder_reader reader[UNWINDER_READERS];
	struct sweep sweep;
	bool sweeps;                    /* a sweep is in progress */
	bool told_all;                  /* records cover all mappings: none was lost */
	bool puts_off;                  /* postponed a process, to be passed again */
	bool soon;                      /* the current process is running now: read its files first */
	bool hurries;                   /* has raised its priority above nice_before */
	int nice_before;
	u64 began_ns;                   /* CLOCK_MONOTONIC */
	int epoll_fd, timer_fd;         /* readable when there is work to do */
	u32 only;               /* see unwinder__follow() */
	bool follows;
	struct unwind_mapping *mapping; /* of the current process */
	size_t room;
	u32 n, pid;
};

/*
 * Starts with these maps. unwinder__begin() is called between load and attach, and uses the maps of an object that
 * includes bpf/lib/unwind.bpf.h. Both return 0 or a negative errno.
 */
int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols);
int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols);

/*
 * Call after symbols__see() of a process, or instead of it: sees the process, and puts its mappings into the maps if
 * they have changed. Its files are read with priority. Returns 0, -ESRCH if it has exited, or -ENOMEM.
 */
int unwinder__see(struct unwinder *u, u32 pid);

/*
 * Announces a file that a process is about to map: its table is read with priority. Walks then find it at the process's
 * first stack, before its mappings are seen. Takes ownership of fd, also on failure. Returns 0 or -ENOMEM.
 */
struct stat;
int unwinder__expect(struct unwinder *u, int fd, const struct stat *st);

/*
 * Called for side-band records (stack/told.h), for all processes. A child uses its parent's code until it is seen. A
 * process with new code is seen, unless that takes too much CPU time: then -EAGAIN is returned, and the caller must
 * pass it again with the next records. Returns 0, -EAGAIN or -ENOMEM.
 */
int unwinder__changed(struct unwinder *u, u32 pid);
int unwinder__forked(struct unwinder *u, u32 pid, u32 parent);

/*
 * True if a step by frame pointers finds the caller of this code correctly, or as well as any other method here. False
 * if a table says otherwise, or may do so once it has been read. mark: see struct symbols_code; address: virtual, of
 * the file.
 */
bool unwinder__is_walked_by_frame_pointers(const struct unwinder *u, u32 mark, u64 address);

/* True if the file has been read and has no table. False if it has a table, or has not been read yet. */
bool unwinder__is_without_table(u32 mark);

/*
 * Restricts records to processes that have been seen, their children, and process pid (0: none), which the run
 * measures.
 */
void unwinder__follow(struct unwinder *u, u32 pid);

/*
 * Sees all existing processes and waits for their files. From then on, owners are limited to their shares of the
 * tables. Returns 0 or -ENOMEM.
 */
int unwinder__see_all(struct unwinder *u);

/*
 * Same, in steps of unwinder__work(), in the order of sweep.h, for up to UNWINDER_SWEEP_FILES files. Further files are
 * read when their processes run.
 */
#define UNWINDER_SWEEP_FILES 192
int unwinder__sweep_all(struct unwinder *u);

/* Does part of the pending work, for a few milliseconds at most. Returns 0 or -ENOMEM. */
int unwinder__work(struct unwinder *u);

/*
 * Works until nothing is pending, until end_ns (CLOCK_MONOTONIC), or until a signal is pending.
 * Returns 0 or -ENOMEM.
 */
int unwinder__finish(struct unwinder *u, u64 end_ns);

/* Reports statistics with -v, and always reports files and processes for which there was no room. */
void unwinder__end(struct unwinder *u);

#endif /* TALLY_UNWIND_UNWINDER_H */
