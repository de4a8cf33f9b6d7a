/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of files, in the maps of bpf/lib/unwind.h: each file once, rules shared by all, memory
 * as files are added.
 */
#ifndef TALLY_UNWIND_TABLES_H
#define TALLY_UNWIND_TABLES_H

#include "unwind/cfi.h"

/* What -v tells. */
struct unwind_counts {
	u64 files;              /* with a table */
	u64 silent;             /* ELF files that say nothing of their code */
	u64 unread;             /* damaged ones, or too large */
	u64 refused;            /* for which there was no room: also told without -v */
	u64 words;              /* of all tables */
	u64 rows, unsupported;
	u64 time_ns;            /* that it took to read them */
};

struct unwind_segments {
	struct elf_segment *segment;
	size_t n;
};

struct unwind_tables {
	int rules_fd, files_fd, slabs_fd;
	struct rule_set *rules;
	struct unwind_segments *file;   /* by number */
	u32 nfiles, files_room;
	u32 nslabs, most_slabs;
	u32 *slab;                      /* the last one, mapped */
	struct unwind_counts counts;
	struct allowance allowance;     /* for reading files */
};

#define UNWIND_BUDGET (64ULL << 20)

/*
 * The maps unwind_rules, unwind_files and unwind_slabs, which stay the caller's, and how many bytes
 * all files may take. Returns 0 or a negative errno.
 */
int unwind_tables__init(struct unwind_tables *t, int rules_fd, int files_fd, int slabs_fd, u64 budget);
void unwind_tables__free(struct unwind_tables *t);

/*
 * Reads a file (the descriptor stays the caller's) and puts it into the maps: begun, and then taken, as
 * base/confined.h has it of a job. *number is UNWIND_NO_FILE if there is nothing to put or no room for it. Both
 * return 0, begun or known, or -ENOMEM; take, -EAGAIN too.
 */
int unwind_tables__begin(struct unwind_tables *t, struct confined_job *job, int fd);
int unwind_tables__take(struct unwind_tables *t, struct confined_job *job, u32 *number);

/*
 * What addresses of a mapping are above the file's own, where code at an offset in the file is
 * mapped at start. -ENOENT: that is no code of the file.
 */
int unwind_tables__bias(const struct unwind_tables *t, u32 number, u64 start, u64 offset, u64 *bias);

#endif /* TALLY_UNWIND_TABLES_H */
