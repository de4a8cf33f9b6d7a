/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .eh_frame (Linux Standard Base, 10.6) to rules by address: functions in any order, that overlap
 * or lie outside the code, and damaged ones do no harm.
 */
#ifndef TALLY_UNWIND_EH_FRAME_H
#define TALLY_UNWIND_EH_FRAME_H

#include "types/elf_file.h"
#include "unwind/cursor.h"

#include "bpf/lib/unwind.h"

/* What was met with, for those who ask. */
struct eh_frame_counts {
	u64 functions;
	u64 outside;            /* functions that are not in the file's code */
	u64 overlapping;        /* and those that begin in another one */
	u64 damaged;            /* that cannot be read */
	u64 unsupported;        /* rows */
};

/* Rules of one file by number. The first ones are always there. */
enum { RULE_UNKNOWN, RULE_UNSUPPORTED, RULES_FIXED };

struct rule_set {
	struct unwind_rule rule[UNWIND_RULES];
	u32 n;
	u32 bucket[2 * UNWIND_RULES];           /* number + 1 */
};

void rule_set__init(struct rule_set *s);
/* The number of a rule, which is added if it is new; RULE_UNSUPPORTED if there is no room. */
u32 rule_set__number(struct rule_set *s, const struct unwind_rule *r);

/* As bpf/lib/unwind.h lays it out: word[0 .. pages] is the index, behind it are the rows. */
struct eh_frame_rows {
	u64 start;
	u32 pages, nrows;
	u32 *word;
};

#define EH_FRAME_MAX_SIZE (256U << 20)
/* Of all code together, from the first function to the last: 1 GiB. */
#define EH_FRAME_MAX_PAGES (1U << 22)

/*
 * Reads the section, which is at an address, of a file with these segments. Its end is that of the
 * bytes or a length of zero. 0, even if nothing could be read of it (nrows is 0 then); -E2BIG: it
 * takes too long or has too much code; -ENOMEM.
 */
int eh_frame__read(struct eh_frame_rows *rows, struct rule_set *rules, struct eh_frame_counts *counts,
		   struct cursor section, u64 address, const struct elf_segment *segment,
		   size_t nsegments);
void eh_frame_rows__free(struct eh_frame_rows *rows);

#endif /* TALLY_UNWIND_EH_FRAME_H */
