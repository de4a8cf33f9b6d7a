// SPDX-License-Identifier: BSD-2-Clause
#include "jit/code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Makes room for one more element in an array that doubles. */
static bool grow(struct code *c, void *array, size_t n, size_t size)
{
	if (!c->err)
		c->err = array__grow(array, n, 1, size);
	return !c->err;
}

void code__emit(struct code *c, struct bpf_insn insn)
{
	if (c->n >= CODE_MOST)
		c->err = c->err ?: -E2BIG;
	if (grow(c, (void **)&c->insn, c->n, sizeof(insn)))
		c->insn[c->n++] = insn;
}

void code__set(struct code *c, int dst, u64 value)
{
	if ((s64)value == (int)value) {
		code__emit(c, (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K,
						.dst_reg = dst,
						.imm = value});
		return;
	}
	code__emit(c, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = dst,
					 .imm = (u32)value });
	code__emit(c, (struct bpf_insn){ .imm = value >> 32 });
}

void code__load(struct code *c, int size, int dst, int src, int off)
{
	code__emit(c, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | size, .dst_reg = dst,
					 .src_reg = src, .off = off });
}

void code__store(struct code *c, int size, int dst, int src, int off)
{
	code__emit(c, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | size, .dst_reg = dst,
					 .src_reg = src, .off = off });
}

void code__op(struct code *c, int op, int dst, int src)
{
	code__emit(c, (struct bpf_insn){
			      .code = BPF_ALU64 | op | BPF_X, .dst_reg = dst, .src_reg = src});
}

void code__op_number(struct code *c, int op, int dst, s64 number)
{
	code__emit(c, (struct bpf_insn){
			      .code = BPF_ALU64 | op | BPF_K, .dst_reg = dst, .imm = number});
}

void code__move(struct code *c, int dst, int src)
{
	code__op(c, BPF_MOV, dst, src);
}

void code__call(struct code *c, int helper)
{
	code__emit(c, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper });
}

void code__exit(struct code *c)
{
	code__emit(c, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

int code__label(struct code *c)
{
	if (!grow(c, (void **)&c->label, c->nlabels, sizeof(*c->label)))
		return 0;
	c->label[c->nlabels] = SIZE_MAX;
	return c->nlabels++;
}

void code__place(struct code *c, int label)
{
	if (!c->err)
		c->label[label] = c->n;
}

static void jump(struct code *c, struct bpf_insn insn, int label)
{
	if (!grow(c, (void **)&c->jump, c->njumps, sizeof(*c->jump)))
		return;
	c->jump[c->njumps++] = (struct code_jump){ c->n, label };
	code__emit(c, insn);
}

void code__jump(struct code *c, int label)
{
	jump(c, (struct bpf_insn){ .code = BPF_JMP | BPF_JA }, label);
}

void code__jump_if(struct code *c, int op, int dst, int src, int label)
{
	jump(c, (struct bpf_insn){.code = BPF_JMP | op | BPF_X, .dst_reg = dst, .src_reg = src},
	     label);
}

void code__jump_if_number(struct code *c, int op, int dst, s64 number, int label)
{
	jump(c, (struct bpf_insn){.code = BPF_JMP | op | BPF_K, .dst_reg = dst, .imm = number},
	     label);
}

bool code__jumps_to(const struct code *c, int label)
{
	size_t i;

	for (i = 0; i < c->njumps; i++)
		if (c->jump[i].label == label)
			return true;
	return false;
}

int code__finish(struct code *c)
{
	size_t i;

	for (i = 0; i < c->njumps && !c->err; i++) {
		size_t to = c->label[c->jump[i].label];

		if (to == SIZE_MAX || to > c->n)
			c->err = -EINVAL;
		else
			c->insn[c->jump[i].at].off = to - c->jump[i].at - 1;
	}
	return c->err;
}

void code__note(struct code *c, char *text)
{
	if (!text || !grow(c, (void **)&c->note, c->nnotes, sizeof(*c->note))) {
		free(text);
		return;
	}
	c->note[c->nnotes++] = (struct code_note){ c->n, text };
}

void code__free(struct code *c)
{
	size_t i;

	for (i = 0; i < c->nnotes; i++)
		free(c->note[i].text);
	free(c->note);
	free(c->insn);
	free(c->jump);
	free(c->label);
	*c = (struct code){};
}
