/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions in .eh_frame that tell, for each instruction of a function, where its caller's
 * registers are (DWARF 5, 6.4.2): run, and made into rules of bpf/lib/unwind.h. Of x86-64; of the
 * registers, only rsp, rbp and rip are followed.
 *
 * libdw says the same (tests/unit/test_unwind_cfi.c compares them) in five times the time, and runs a
 * function from its start for each row: a hostile file makes that the square of its size.
 */
#ifndef TALLY_UNWIND_CFA_H
#define TALLY_UNWIND_CFA_H

#include "unwind/cursor.h"

#include "bpf/lib/unwind.h"

/* Where a register of the caller is. */
struct cfa_place {
	enum cfa_how {
		CFA_SAME,
		CFA_AT_CFA,             /* *(CFA + offset) */
		CFA_AT_RBP,             /* *(rbp + offset) */
		CFA_UNDEFINED,
		CFA_OTHERWISE,          /* in another register, say */
	} how;
	s64 offset;
};

/* What is known at an instruction. */
struct cfa_state {
	u64 reg;                        /* CFA = reg + offset */
	s64 offset;
	bool by_expression;             /* or rather: */
	enum unwind_cfa shape;          /* UNWIND_UNSUPPORTED if it is none of those known */
	s64 shape_offset, shape_second;
	struct cfa_place rbp, rsp, rip;
};

/* What many functions share (a CIE). */
struct cfa_common {
	u64 code_unit;
	s64 data_unit;
	u64 return_register;
	bool is_signal_frame;
	struct cfa_state initial;
};

/*
 * Rules hold from an offset from the start of the function on. Offsets rise, the first one is 0; a
 * rule that is the same as the one before is not told. -ENOMEM and the like are passed on.
 */
typedef int (*cfa_visit)(void *arg, u32 offset, const struct unwind_rule *rule);

/*
 * Runs the instructions of a function of size bytes. What cannot be understood is
 * UNWIND_UNSUPPORTED from there on. *steps is the number of instructions that may still be run:
 * -E2BIG when they are used up.
 */
int cfa__run(const struct cfa_common *common, struct cursor program, u32 size, u64 *steps,
	     cfa_visit visit, void *arg);

/* Runs those that all functions begin with, to fill in common->initial. -EBADMSG, -E2BIG. */
int cfa__run_initial(struct cfa_common *common, struct cursor program, u64 *steps);

#endif /* TALLY_UNWIND_CFA_H */
