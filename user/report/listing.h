/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions as lists of instructions with the count of each. Part of a report. Text folds long
 * stretches without counts; JSON and CSV have every instruction.
 */
#ifndef TALLY_OUT_LISTING_H
#define TALLY_OUT_LISTING_H

#include "base/types.h"

struct listing_line {
	u64 offset;             /* from the start of the function */
	u64 count;
	u32 size;               /* 0 if no known instruction begins here, although there are counts */
	const char *mnemonic, *operands;
	/* Address of a jump, call or reference. */
	bool has_target;
	bool target_is_operand; /* the operands consist of that address only */
	u64 target;
	const char *target_name;        /* function at target; NULL: unknown */
	u64 target_offset;
	const char *file;       /* source file; NULL: unknown */
	u32 line;
	char *source;           /* text of the source line, owned by the listing; NULL: unknown */
};

/* Texts not marked as owned are owned by the resolver and outlive the report. */
struct listing {
	const char *name, *module;
	const char *path;       /* file of the code; NULL if none */
	u64 address;            /* start of the function: an address of the module's file, or of the kernel */
	u64 size;
	u64 count;
	const char *why;        /* why the instructions are unknown; NULL if they are known */
	struct listing_line *line;      /* by offset */
	size_t n;
	char *texts;            /* owned storage of mnemonics and operands; may be NULL */
	char *stubs;            /* owned storage of target names without a symbol; may be NULL */
};

struct report_listings {
	struct listing *listing;        /* sorted by count, largest first */
	size_t n;
	u64 total;              /* counts of all functions, including those without a listing */
	const char *unit;       /* of counts, plural: "samples" */
	bool colour;            /* text output may use colours */
};

void listing__free(struct listing *l);
void report_listings__free(struct report_listings *all);

#endif /* TALLY_OUT_LISTING_H */
