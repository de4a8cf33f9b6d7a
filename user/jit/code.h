/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer of BPF instructions with labels (Documentation/bpf/standardization/instruction-set.rst).
 * Emits only instructions that every kernel since 5.10 understands: version 2 of the instruction
 * set, 64-bit jumps. Errors are sticky: emit everything, then check code__finish().
 */
#ifndef TALLY_JIT_CODE_H
#define TALLY_JIT_CODE_H

#include <linux/bpf.h>

#include "base/types.h"

struct code {
	struct bpf_insn *insn;
	size_t n;
	struct code_jump {
		size_t at;              /* the jumping instruction */
		int label;
	} *jump;
	size_t njumps;
	size_t *label;                  /* position of each; SIZE_MAX: not placed yet */
	size_t nlabels;
	struct code_note {
		size_t at;              /* the first instruction it describes */
		char *text;
	} *note;                        /* describes the instructions, by ascending position */
	size_t nnotes;
	int err;                        /* the first error */
};

#define CODE_MOST 4096          /* instructions; 5.10 allows a million */

void code__emit(struct code *c, struct bpf_insn insn);

/* dst = value, in one or two instructions. */
void code__set(struct code *c, int dst, u64 value);

/* dst = *(SIZE *)(src + off); SIZE: BPF_B, BPF_H, BPF_W, BPF_DW. Zero-extended. */
void code__load(struct code *c, int size, int dst, int src, int off);
/* *(SIZE *)(dst + off) = src */
void code__store(struct code *c, int size, int dst, int src, int off);

/* dst OP= src, dst OP= number (a signed 32-bit value). OP: BPF_ADD, ... */
void code__op(struct code *c, int op, int dst, int src);
void code__op_number(struct code *c, int op, int dst, s64 number);
void code__move(struct code *c, int dst, int src);

void code__call(struct code *c, int helper);
void code__exit(struct code *c);

/* Creates a label for forward jumps; code__place() sets its position. */
int code__label(struct code *c);
void code__place(struct code *c, int label);
void code__jump(struct code *c, int label);
/* if (dst OP src) goto label; OP: BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JGE, BPF_JLT, BPF_JSGT, ... */
void code__jump_if(struct code *c, int op, int dst, int src, int label);
/* Same, with a signed 32-bit number. */
void code__jump_if_number(struct code *c, int op, int dst, s64 number, int label);

bool code__jumps_to(const struct code *c, int label);

/* Describes the instructions that follow. Takes ownership of text; NULL: no note. */
void code__note(struct code *c, char *text);

/* Resolves the jumps. Returns 0 or a negative errno: -ENOMEM, -E2BIG (more than CODE_MOST). */
int code__finish(struct code *c);
void code__free(struct code *c);

#endif /* TALLY_JIT_CODE_H */
