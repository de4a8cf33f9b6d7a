/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maintains the tables for walking user stacks without frame pointers (bpf/lib/unwind.h), for the
 * processes that symbols (sym/symbols.h) has seen and the files these have mapped.
 *
 * A process's mappings enter the maps at once; its files follow when child processes have read
 * them, and until then walks use frame pointers. Callers run unwinder__work() whenever epoll_fd is
 * readable, or unwinder__finish() to wait until all files are read.
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
 * While files are to be read, this process has the nice value UNWINDER_NICE, as have the readers, if it
 * may: when all CPUs are busy, it would otherwise wait ten times as long as it works for each file,
 * and all samples of its code are incomplete until then. Only in the first seconds: files come at the
 * will of others later, and they must not get priority so for what they have read.
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
	bool told_all;                  /* records tell of all mappings: none was lost */
	bool puts_off;                  /* postpones a process, to be passed again */
	bool soon;                      /* the current process is running now */
	bool hurries;                   /* has a higher priority than nice_before */
	int nice_before;
	u64 began_ns;                   /* CLOCK_MONOTONIC */
	int epoll_fd, timer_fd;         /* there is work to do */
	u32 only;               /* see unwinder__follow() */
	bool follows;
	struct unwind_mapping *mapping; /* of the current process */
	size_t room;
	u32 n, pid;
};

/*
 * Starts with these maps; or, between load and attach, with those of an object that includes
 * bpf/lib/unwind.bpf.h. Returns 0 or a negative errno.
 */
int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols);
int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols);

/*
 * Call after symbols__see() of a process, or instead of it: sees the process, and puts its mappings
 * into the maps if they have changed. Its files are read with priority. -ESRCH: it has exited.
 * -ENOMEM.
 */
int unwinder__see(struct unwinder *u, u32 pid);

/*
 * A file that a process is going to map: its table is read with priority. From then on walks find
 * it at the process's first stack, before its mappings are seen. Takes ownership of fd, also on
 * failure. Returns 0 or -ENOMEM.
 */
struct stat;
int unwinder__expect(struct unwinder *u, int fd, const struct stat *st);

/*
 * Called for side-band records (stack/told.h), for all processes. A child uses its parent's code
 * until it is seen. A process with new code is seen, unless that takes too much CPU time: -EAGAIN,
 * pass it again with the next records. Returns 0, -EAGAIN or -ENOMEM.
 */
int unwinder__changed(struct unwinder *u, u32 pid);
int unwinder__forked(struct unwinder *u, u32 pid, u32 parent);

/*
 * Does a step by frame pointers find the caller of this code as it is, or as well as anything here can? False where
 * a table says otherwise, or may say so once it has been read. mark: see struct symbols_code; address: virtual, of
 * the file.
 */
bool unwinder__is_walked_by_frame_pointers(const struct unwinder *u, u32 mark, u64 address);

/* The file has been read and has no table. Other files have one, or may get one. */
bool unwinder__is_without_table(u32 mark);

/*
 * Restricts records to processes that have been seen, their children, and process pid (0: none),
 * which the run is about.
 */
void unwinder__follow(struct unwinder *u, u32 pid);

/*
 * Sees all existing processes and waits for their files; from then on, owners of files have shares of the tables.
 * Returns 0 or -ENOMEM.
 */
int unwinder__see_all(struct unwinder *u);

/*
 * Same, in steps of unwinder__work(), in the order of sweep.h, up to
 * UNWINDER_SWEEP_FILES files; the other files are read when their processes run.
 */
#define UNWINDER_SWEEP_FILES 192
int unwinder__sweep_all(struct unwinder *u);

/* Does a part of the pending work, for some milliseconds at most. Returns 0 or -ENOMEM. */
int unwinder__work(struct unwinder *u);

/*
 * Works until nothing is pending, until end_ns (CLOCK_MONOTONIC), or until a signal is pending.
 * Returns 0 or -ENOMEM.
 */
int unwinder__finish(struct unwinder *u, u64 end_ns);

/* Reports statistics with -v, and always what lacked room. */
void unwinder__end(struct unwinder *u);

#endif /* TALLY_UNWIND_UNWINDER_H */
