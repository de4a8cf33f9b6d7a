/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of files, in the maps of bpf/lib/unwind.h. Each file is added once, rules are shared by all files, and
 * memory is allocated as files are added.
 */
#ifndef TALLY_UNWIND_TABLES_H
#define TALLY_UNWIND_TABLES_H

#include <stdio.h>

#include "unwind/cfi.h"
#include "unwind/maps.h"

/* Statistics for -v. */
struct unwind_counts {
	u64 files;              /* with a table */
	u64 silent;             /* ELF files without unwind information */
	u64 unread;             /* damaged or too large */
	u64 refused;            /* files for which there was no room; reported even without -v */
	u64 words;              /* of all tables */
	u64 rows, unsupported;
	u64 time_ns;            /* total reading time */
};

struct unwind_segments {
	struct elf_segment *segment;
	size_t n;
};

/* Room taken by files: rules that no earlier file has, words, and the files themselves. */
struct unwind_room {
	u64 rules, words, files;
};

/* Room taken by a user's files; uid 0 is exempt. */
struct unwind_owner {
	u32 uid;
	struct unwind_room taken;
};

enum unwind_refusal {
	UNWIND_FILE_TOO_LARGE,  /* more than 3/4 of all room */
	UNWIND_OWNER_HAS_SHARE, /* together with the owner's other files, more than 1/4 */
	UNWIND_USERS_HAVE_SHARE,        /* together with the files of all users but root, more than 1/2 */
	UNWIND_FULL,
};

struct unwind_refused {
	char name[64];          /* base name */
	u32 uid;
	enum unwind_refusal why;
};

/* Number of refused files that are reported by name. */
#define UNWIND_NAMED_REFUSED 4

struct unwind_tables {
	int rules_fd, files_fd, slabs_fd, found_fd;
	struct rule_set *rules;
	struct unwind_segments *file;   /* by file number */
	u32 nfiles;
	u32 nslabs, most_slabs;
	u32 *slab;                      /* the last slab, mapped */
	struct unwind_counts counts;
	/* Limit owners to their shares. Set after init, unless the run measures given processes. */
	bool shares;
	struct unwind_room users;       /* of all users but root */
	struct unwind_owner *owner;
	u32 nowners;
	struct unwind_refused refused[UNWIND_NAMED_REFUSED];
	struct allowance allowance;     /* for reading files */
};

#define UNWIND_BUDGET (64ULL << 20)

/*
 * Uses the maps unwind_rules, unwind_files, unwind_slabs and unwind_found, which the caller owns. budget: bytes for all
 * files. Returns 0 or a negative errno.
 */
int unwind_tables__init(struct unwind_tables *t, const struct unwind_maps *maps, u64 budget);
void unwind_tables__free(struct unwind_tables *t);

/*
 * Reads a file and puts it into the maps, in two steps, as a job of base/confined.h. The descriptor remains the
 * caller's. *number is UNWIND_NO_FILE if the file has no table or is refused. Both return 0 or -ENOMEM; begin() also
 * returns 0 if the file is already known, and take() returns -EAGAIN if it is not yet done.
 */
int unwind_tables__begin(struct unwind_tables *t, struct confined_job *job, int fd);
int unwind_tables__take(struct unwind_tables *t, struct confined_job *job, int fd, u32 *number);

/* Writes the names of the first refused files and the reasons, for a note. Returns the number of all refused files. */
u64 unwind_tables__say_refused(const struct unwind_tables *t, FILE *f);

/*
 * Lets BPF programs find the file fd behind mappings of processes that are not yet known. Best effort: on some file
 * systems the device and inode numbers of stat(2) differ from the kernel's.
 */
void unwind_tables__announce(const struct unwind_tables *t, u32 number, int fd);

/*
 * Finds the rule at a virtual address of a file. *rule is NULL if the file has none there. Returns 0, or a negative
 * errno if the maps could not be read.
 */
int unwind_tables__find(const struct unwind_tables *t, u32 number, u64 address, const struct unwind_rule **rule);

/*
 * Finds the bias of a mapping (its addresses minus the file's virtual addresses), if code at this offset of the file is
 * mapped at start. -ENOENT: the file has no code there.
 */
int unwind_tables__bias(const struct unwind_tables *t, u32 number, u64 start, u64 offset, u64 *bias);

#endif /* TALLY_UNWIND_TABLES_H */
