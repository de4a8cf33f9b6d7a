// SPDX-License-Identifier: BSD-2-Clause
#include "jit/dump.h"

#include <stdio.h>

static const char *helper_name(int helper)
{
	static const struct {
		int helper;
		const char *name;
	} names[] = {
		{ BPF_FUNC_get_current_pid_tgid, "get_current_pid_tgid" },
		{ BPF_FUNC_get_current_uid_gid, "get_current_uid_gid" },
		{ BPF_FUNC_get_smp_processor_id, "get_smp_processor_id" },
		{ BPF_FUNC_get_current_cgroup_id, "get_current_cgroup_id" },
		{ BPF_FUNC_get_current_comm, "get_current_comm" },
		{ BPF_FUNC_ktime_get_ns, "ktime_get_ns" },
		{ BPF_FUNC_probe_read_user, "probe_read_user" },
		{ BPF_FUNC_probe_read_kernel, "probe_read_kernel" },
		{ BPF_FUNC_probe_read_user_str, "probe_read_user_str" },
		{ BPF_FUNC_probe_read_kernel_str, "probe_read_kernel_str" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].helper == helper)
			return names[i].name;
	return "helper";
}

static const char *size_name(u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return "u8";
	case BPF_H:
		return "u16";
	case BPF_W:
		return "u32";
	default:
		return "u64";
	}
}

static void dump_alu(const struct bpf_insn *i, char text[DUMP_SPACE])
{
	static const char *const ops[16] = {
		"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "neg", "%=", "^=", "=", "s>>=",
	};
	const char *op = ops[BPF_OP(i->code) >> 4] ?: "?";

	if (BPF_OP(i->code) == BPF_END)
		snprintf(text, DUMP_SPACE, "r%d = le%d r%d", i->dst_reg, i->imm, i->dst_reg);
	else if (BPF_OP(i->code) == BPF_NEG)
		snprintf(text, DUMP_SPACE, "r%d = -r%d", i->dst_reg, i->dst_reg);
	else if (BPF_SRC(i->code) == BPF_X)
		snprintf(text, DUMP_SPACE, "r%d %s r%d", i->dst_reg, op, i->src_reg);
	else
		snprintf(text, DUMP_SPACE, "r%d %s %d", i->dst_reg, op, i->imm);
}

static void dump_jump(const struct bpf_insn *i, size_t at, char text[DUMP_SPACE])
{
	static const char *const ops[16] = {
		NULL, "==", ">", ">=", "&", "!=", "s>", "s>=", NULL, NULL, "<", "<=", "s<", "s<=",
	};
	const char *op = ops[BPF_OP(i->code) >> 4] ?: "?";
	long to = (long)at + 1 + i->off;

	if (BPF_OP(i->code) == BPF_CALL)
		snprintf(text, DUMP_SPACE, "call %s#%d", helper_name(i->imm), i->imm);
	else if (BPF_OP(i->code) == BPF_EXIT)
		snprintf(text, DUMP_SPACE, "exit");
	else if (BPF_OP(i->code) == BPF_JA)
		snprintf(text, DUMP_SPACE, "goto %ld", to);
	else if (BPF_SRC(i->code) == BPF_X)
		snprintf(text, DUMP_SPACE, "if r%d %s r%d goto %ld", i->dst_reg, op, i->src_reg,
			 to);
	else
		snprintf(text, DUMP_SPACE, "if r%d %s %d goto %ld", i->dst_reg, op, i->imm, to);
}

size_t code__dump(const struct code *c, size_t at, char text[DUMP_SPACE])
{
	const struct bpf_insn *i = &c->insn[at];

	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		if (at + 1 >= c->n)
			break;
		snprintf(text, DUMP_SPACE, "r%d = 0x%llx", i->dst_reg,
			 (u64)(u32)i[1].imm << 32 | (u32)i->imm);
		return 2;
	case BPF_LDX:
		snprintf(text, DUMP_SPACE, "r%d = *(%s *)(r%d %+d)", i->dst_reg, size_name(i->code),
			 i->src_reg, i->off);
		return 1;
	case BPF_STX:
		snprintf(text, DUMP_SPACE, "*(%s *)(r%d %+d) = r%d", size_name(i->code), i->dst_reg,
			 i->off, i->src_reg);
		return 1;
	case BPF_ALU:
	case BPF_ALU64:
		dump_alu(i, text);
		return 1;
	case BPF_JMP:
		dump_jump(i, at, text);
		return 1;
	}
	snprintf(text, DUMP_SPACE, "?");
	return 1;
}

const char *code__note_at(const struct code *c, size_t i)
{
	size_t k;

	/* The innermost note at a position was added last. */
	for (k = c->nnotes; k-- > 0;)
		if (c->note[k].at == i)
			return c->note[k].text;
	return NULL;
}
