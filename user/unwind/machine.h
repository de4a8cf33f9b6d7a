/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler of unwind tables knows this about a machine: DWARF's numbers of its registers,
 * and conventions of its ABI. machine_x86.c and machine_arm64.c describe theirs; both are always
 * there, so that either machine's tables can be made, and tested, on the other one.
 */
#ifndef TALLY_UNWIND_MACHINE_H
#define TALLY_UNWIND_MACHINE_H

#include "base/types.h"

struct unwind_machine {
	u32 elf;                /* e_machine of its files */
	u32 sp, fp, ra;         /* registers; ra: the column of the return address */
	u32 base;               /* a register by which few functions find their frame; 0: none */
	bool has_signed_ra;     /* return addresses may be signed (pointer authentication) */
	u32 link;               /* a register that few functions move a pushed return address to; 0: none */
	s64 pushed_ra;          /* where calls push the return address: CFA + this; 0: they leave it in ra */
	s64 signal_sp;          /* a signal frame's CFA is *(sp + this); 0: signal frames have no rules */
};

extern const struct unwind_machine unwind_x86, unwind_arm64;

/* The machine that tally runs on. */
#if defined(__x86_64__)
#define UNWIND_OWN_MACHINE unwind_x86
#elif defined(__aarch64__)
#define UNWIND_OWN_MACHINE unwind_arm64
#endif

#endif /* TALLY_UNWIND_MACHINE_H */
