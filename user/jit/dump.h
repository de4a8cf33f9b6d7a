/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disassembles BPF instructions in the notation of the kernel's verifier (kernel/bpf/disasm.c), to
 * show compiled code to the user. Supports the instructions that jit/code.h emits.
 */
#ifndef TALLY_JIT_DUMP_H
#define TALLY_JIT_DUMP_H

#include "jit/code.h"

#define DUMP_SPACE 128

/*
 * Writes instruction i, "r0 = *(u32 *)(r6 +16)", to text[DUMP_SPACE]. Returns the number of instruction slots: 1 or 2.
 */
size_t code__dump(const struct code *c, size_t i, char text[DUMP_SPACE]);

/* Returns the note that starts at this instruction; NULL if the previous note still applies. */
const char *code__note_at(const struct code *c, size_t i);

#endif /* TALLY_JIT_DUMP_H */
