/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the call frame instructions of .eh_frame, which locate the caller's registers at each instruction of a function
 * (DWARF 5, 6.4.2), and converts them to the rules of bpf/lib/unwind.h. Only sp, fp and the return address are tracked,
 * and the base register on request.
 *
 * libdw gives the same results (tests/unit/test_unwind_cfi.c compares them), but takes five times as long. It also runs
 * a function from its start for each row, so the cost of a hostile file is quadratic in its size.
 */
#ifndef TALLY_UNWIND_CFA_H
#define TALLY_UNWIND_CFA_H

#include "base/cursor.h"

#include "bpf/lib/unwind.h"
#include "unwind/machine.h"

/* Location of a caller's register. */
struct cfa_place {
	enum cfa_how {
		CFA_SAME,
		CFA_AT_CFA,             /* *(CFA + offset) */
		CFA_AT_FP,              /* *(fp + offset) */
		CFA_UNDEFINED,
		CFA_IN_LINK,            /* in the machine's register link */
		CFA_OTHERWISE,          /* elsewhere, for example in another register */
	} how;
	s64 offset;
};

/* The rule at an instruction. */
struct cfa_state {
	u64 reg;                        /* CFA = reg + offset */
	s64 offset;
	bool by_expression;             /* if set, the following replace reg + offset: */
	enum unwind_cfa shape;          /* UNWIND_UNSUPPORTED if not a known shape */
	s64 shape_offset, shape_second;
	struct cfa_place fp, sp, ra, base;
};

/* State shared by the functions of a CIE. */
struct cfa_common {
	const struct unwind_machine *machine;
	u64 code_unit;
	s64 data_unit;
	bool is_signal_frame;
	bool has_other_ra;      /* the return address is not in the machine's usual register */
	/* rules track the base register; otherwise rules that need it are unsupported */
	bool tracks_base;
	bool *needs_base;               /* set if a rule needs the base register */
	struct cfa_state initial;
};

/*
 * Called for each rule with the offset from the function's start at which it takes effect. Offsets increase from 0; a
 * rule equal to the previous one is not reported. A non-zero result ends cfa__run(), which returns it.
 */
typedef int (*cfa_visit)(void *arg, u32 offset, const struct unwind_rule *rule);

/*
 * Runs the instructions of a function of size bytes. An unknown instruction makes all further rules UNWIND_UNSUPPORTED.
 * *steps is the number of instructions that may still be run; -E2BIG if it runs out.
 */
int cfa__run(const struct cfa_common *common, struct cursor program, u32 size, u64 *steps,
	     cfa_visit visit, void *arg);

/* Runs the initial instructions of a CIE, to fill in common->initial. -EBADMSG, -E2BIG. */
int cfa__run_initial(struct cfa_common *common, struct cursor program, u64 *steps);

#endif /* TALLY_UNWIND_CFA_H */
