/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF instructions as text, in the notation of the kernel's verifier (kernel/bpf/disasm.c): what
 * was compiled, for people. Knows what jit/code.h emits.
 */
#ifndef TALLY_JIT_DUMP_H
#define TALLY_JIT_DUMP_H

#include "jit/code.h"

#define DUMP_SPACE 128

/* Instruction i, "r0 = *(u32 *)(r6 +16)", in text[DUMP_SPACE]. Returns how many instructions it is:
 * 1 or 2. */
size_t code__dump(const struct code *c, size_t i, char text[DUMP_SPACE]);

/* What the instruction begins to do, NULL: what those before it do. */
const char *code__note_at(const struct code *c, size_t i);

#endif /* TALLY_JIT_DUMP_H */
