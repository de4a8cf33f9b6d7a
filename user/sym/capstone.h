/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capstone, used only to disassemble. It is loaded on demand: relocating its tables of pointers would add 1 ms and 3 MB
 * to the start of every tool. Static builds link it in.
 */
#ifndef TALLY_SYM_CAPSTONE_H
#define TALLY_SYM_CAPSTONE_H

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

#define CAPSTONE_FUNCTIONS(F)                                                                      \
	F(open)                                                                                    \
	F(option)                                                                                  \
	F(malloc)                                                                                  \
	F(disasm_iter)                                                                             \
	F(insn_group)

#define CAPSTONE_MEMBER(name) __typeof__(cs_##name) *name;
struct capstone {
	CAPSTONE_FUNCTIONS(CAPSTONE_MEMBER)
};
#undef CAPSTONE_MEMBER

/* Returns NULL if the library is not installed. Once loaded, it remains loaded. */
const struct capstone *capstone__load(void);

#endif /* HAVE_CAPSTONE */

#endif /* TALLY_SYM_CAPSTONE_H */
