/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds the tables by which programs walk user stacks without frame pointers (bpf/unwind.h): from
 * the processes that symbols (sym/symbols.h) see, and the files these have mapped.
 */
#ifndef TALLY_UNWIND_UNWINDER_H
#define TALLY_UNWIND_UNWINDER_H

#include <bpf/libbpf.h>

#include "sym/symbols.h"
#include "unwind/spaces.h"
#include "unwind/tables.h"

struct unwinder {
	struct symbols *symbols;
	struct unwind_tables tables;
	struct unwind_spaces spaces;
	u32 only;               /* see unwinder__follow() */
	bool follows;
	struct unwind_mapping *mapping; /* of the process at hand */
	u32 n, room;
	u32 pid;
};

/* The maps of bpf/unwind.h, open; they stay the caller's. */
struct unwind_maps {
	int rules, files, slabs, mappings, spaces;
};

/*
 * Begins with these maps; or, between load and attach, with those of an object that includes
 * bpf/unwind.bpf.h. 0 or a negative errno.
 */
int unwinder__init(struct unwinder *u, const struct unwind_maps *maps, struct symbols *symbols);
int unwinder__begin(struct unwinder *u, const struct bpf_object *obj, struct symbols *symbols);

/*
 * After symbols__see() of a process, or instead: sees it, and puts what it has mapped into the maps
 * if that is news. -ESRCH: it has gone. -ENOMEM.
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

/* All processes that there are now. 0 or -ENOMEM. */
int unwinder__see_all(struct unwinder *u);

/* With -v, tells what was made; and in any case, what there was no room for. */
void unwinder__end(struct unwinder *u);

#endif /* TALLY_UNWIND_UNWINDER_H */
