/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine properties for the conversion of unwind tables: the DWARF numbers of registers, and ABI conventions. Both
 * machines are always built in, so that the tables of either can be made and tested on the other.
 */
#ifndef TALLY_UNWIND_MACHINE_H
#define TALLY_UNWIND_MACHINE_H

#include "base/types.h"

struct unwind_machine {
	u32 elf;                /* e_machine of its ELF files */
	u32 sp, fp, ra;         /* registers; ra: column of the return address */
	u32 base;               /* a register that a few functions use as the CFA's base; 0: none */
	bool has_signed_ra;     /* return addresses may be signed (pointer authentication) */
	u32 link;               /* a register to which a few functions move a pushed return address; 0: none */
	s64 pushed_ra;          /* calls push the return address to CFA + this; 0: they leave it in ra */
	s64 signal_sp;          /* a signal frame's CFA is *(sp + this); 0: no rules for signal frames */
};

extern const struct unwind_machine unwind_x86, unwind_arm64;

/* The machine that tally runs on. */
#if defined(__x86_64__)
#define UNWIND_OWN_MACHINE unwind_x86
#elif defined(__aarch64__)
#define UNWIND_OWN_MACHINE unwind_arm64
#endif

#endif /* TALLY_UNWIND_MACHINE_H */
