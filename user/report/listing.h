/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions as lists of their instructions, each with what was counted there. Part of a report; in
 * text long stretches without counts are folded, JSON and CSV have every instruction.
 */
#ifndef TALLY_OUT_LISTING_H
#define TALLY_OUT_LISTING_H

#include "base/types.h"

struct listing_line {
	u64 offset;             /* from the start of the function */
	u64 count;
	u32 size;               /* 0: counted there, but no instruction is known to begin there */
	const char *mnemonic, *operands;
	/* The address it jumps to, calls or refers to. */
	bool has_target;
	bool target_is_operand; /* and that is all its operands say */
	u64 target;
	const char *target_name;        /* of the function there; NULL: not known */
	u64 target_offset;
	const char *file;       /* in the source; NULL: not known */
	u32 line;
	char *source;           /* what stands there, the listing's own; NULL: not known */
};

/* The texts without an owner belong to whoever resolved them, and outlive the report. */
struct listing {
	const char *name, *module;
	const char *path;       /* NULL: it is in no file */
	u64 address;            /* of its start, in the module's own numbering or the kernel's */
	u64 size;
	u64 count;
	const char *why;        /* why its instructions are not known; NULL: they are */
	struct listing_line *line;      /* by offset */
	size_t n;
	char *texts;            /* what mnemonics and operands point into; may be NULL */
	char *stubs;            /* and names of targets that have no symbol; likewise */
};

struct report_listings {
	struct listing *listing;        /* the one with the largest count first */
	size_t n;
	u64 total;              /* counted in all functions, those that are not here included */
	const char *unit;       /* of counts, in the plural: "samples" */
	bool colour;            /* text goes to a terminal that has them */
};

void listing__free(struct listing *l);
void report_listings__free(struct report_listings *all);

#endif /* TALLY_OUT_LISTING_H */
