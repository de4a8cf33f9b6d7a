/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts .eh_frame (Linux Standard Base, 10.6) to rules by address. Handles functions that are unordered, overlap,
 * are damaged, or lie outside the code.
 */
#ifndef TALLY_UNWIND_EH_FRAME_H
#define TALLY_UNWIND_EH_FRAME_H

#include "types/elf_file.h"
#include "base/cursor.h"

#include "bpf/lib/unwind.h"
#include "unwind/machine.h"

/* Statistics. */
struct eh_frame_counts {
	u64 functions;
	u64 outside;            /* functions outside the file's code */
	u64 overlapping;        /* functions that start inside another one */
	u64 damaged;            /* unreadable functions */
	u64 unsupported;        /* unsupported rows */
};

/* A file's rules, by number. The rules below RULES_FIXED always exist. */
enum { RULE_UNKNOWN, RULE_UNSUPPORTED, RULES_FIXED };

struct rule_set {
	struct unwind_rule rule[UNWIND_RULES];
	u32 n;
	u32 bucket[2 * UNWIND_RULES];           /* number + 1 */
	bool tracks_base;       /* set after init: see struct cfa_common */
	bool needs_base;        /* result: some rules need the base register */
};

void rule_set__init(struct rule_set *s);
bool rule_set__has(const struct rule_set *s, const struct unwind_rule *r);
/* Returns the number of a rule, adding it if it is new; RULE_UNSUPPORTED if there is no room. */
u32 rule_set__number(struct rule_set *s, const struct unwind_rule *r);

/* Layout as in bpf/lib/unwind.h: word[0 .. pages] is the index, the rows follow. */
struct eh_frame_rows {
	u64 start;
	u32 pages, nrows;
	u32 *word;
};

#define EH_FRAME_MAX_SIZE (256U << 20)
/* Limit of all code, from the first function to the last: 1 GiB. */
#define EH_FRAME_MAX_PAGES (1U << 22)

/*
 * Reads the section at address of a file with these segments. The section ends at its size or at an entry with length
 * zero. Returns 0, even if nothing was readable (nrows is then 0); -E2BIG: takes too long or has too much code;
 * -ENOMEM.
 */
int eh_frame__read(struct eh_frame_rows *rows, struct rule_set *rules, struct eh_frame_counts *counts,
		   const struct unwind_machine *machine, struct cursor section, u64 address,
		   const struct elf_segment *segment, size_t nsegments);
void eh_frame_rows__free(struct eh_frame_rows *rows);

#endif /* TALLY_UNWIND_EH_FRAME_H */
