// SPDX-License-Identifier: BSD-2-Clause
#include "sym/disassembly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/confined.h"
#include "sym/capstone.h"

/* The child's answer for each instruction. Two NUL-terminated strings follow. */
struct sent {
	u32 size;
	u32 kind;               /* enum instruction_kind */
	u32 flow;               /* enum instruction_flow */
	u64 target;
	u32 mnemonic, operands; /* bytes of the strings, including NULs */
};

/*
 * --- the child ---------------------------------------------------------------------------------
 */

#ifdef HAVE_CAPSTONE

struct work {
	const struct capstone *cs;
	enum machine_code machine;
	const u8 *code;
	size_t size;
	u64 address;
};

#if defined(__x86_64__)

static int open_capstone(const struct capstone *cs, csh *handle, enum machine_code machine)
{
	return cs->open(CS_ARCH_X86, machine == MACHINE_32_BIT ? CS_MODE_32 : CS_MODE_64, handle) ||
	       cs->option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
}

static void find_target(const cs_insn *i, bool branches, struct sent *s)
{
	const cs_x86 *x = &i->detail->x86;
	int k;

	for (k = 0; k < x->op_count; k++) {
		const cs_x86_op *op = &x->operands[k];

		if (branches && op->type == X86_OP_IMM) {
			s->kind = INSTRUCTION_BRANCHES;
			s->target = op->imm;
		} else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
			s->kind = INSTRUCTION_REFERS;
			s->target = i->address + i->size + op->mem.disp;
		}
	}
}

static enum instruction_flow flow_of(const struct capstone *cs, csh handle, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;

	switch (i->id) {
	case X86_INS_RET:
		return FLOW_RETURN;
	case X86_INS_JMP:
		return x->op_count && x->operands[0].type == X86_OP_IMM ? FLOW_JUMP :
									 FLOW_JUMP_ELSEWHERE;
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		return FLOW_STOP;
	case X86_INS_LJMP:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		return FLOW_UNKNOWN;
	}
	if (cs->insn_group(handle, i, CS_GRP_CALL))
		return FLOW_CALL;
	return cs->insn_group(handle, i, CS_GRP_JUMP) ||
	       cs->insn_group(handle, i, CS_GRP_BRANCH_RELATIVE) ? FLOW_CONDITION : FLOW_ON;
}

/*
 * capstone 4.0 mistakes the upper half of a vector register number, as in %ymm17, for a vector index: it writes
 * "(%rsi, %xmm0)" for (%rsi,%rax), and "(%rsp, %xmm4)" for (%rsp). The number is that of the register, or 4 if there
 * is none. Only gathers and scatters have a vector index.
 */
static void mend_index(cs_insn *i)
{
	static const char *const registers[] = {
		"rax", "rcx", "rdx", "rbx", "", "rbp", "rsi", "rdi",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};
	char *operand = strchr(i->op_str, '('), *close = operand ? strchr(operand, ')') : NULL, *from, *to;
	const char *const end = i->op_str + sizeof(i->op_str);
	char rest[sizeof(i->op_str)];
	int number, length;

	if (!close || strstr(i->mnemonic, "gather") || strstr(i->mnemonic, "scatter"))
		return;
	from = memchr(operand, ',', close - operand);
	if (!from || sscanf(from, ", %%%*1[xyz]mm%d%n", &number, &length) != 1)
		return;
	number &= 15;
	to = number == 4 ? close : from + length;
	if (number == 4 && from == operand + 1) {
		from = operand;
		to = close + 1;
	}
	memcpy(rest, to, strlen(to) + 1);
	snprintf(from, end - from, "%s%s%s", number == 4 ? "" : ", %", registers[number], rest);
}

#define LONGEST 15              /* bytes of the longest instruction */

/* Returns the bytes of a memory operand after its ModRM byte, which is modrm[0]. */
static size_t operand_length(const u8 *modrm)
{
	u8 mod = modrm[0] >> 6, rm = modrm[0] & 7;
	bool has_sib = mod != 3 && rm == 4;

	if (mod == 3)
		return 0;
	if (mod)
		return has_sib + (mod == 1 ? 1 : 4);
	return has_sib + ((has_sib ? modrm[1] & 7 : rm) == 5 ? 4 : 0);
}

/* Returns the length of a VEX or EVEX prefix and its opcode map, or 0 if it is not such a prefix. */
static size_t vector_prefix(const u8 *code, u8 *map)
{
	*map = code[0] == 0xc5 ? 1 : code[1] & (code[0] == 0x62 ? 7 : 0x1f);
	return code[0] == 0xc5 ? 2 : code[0] == 0xc4 ? 3 : code[0] == 0x62 ? 4 : 0;
}

/*
 * Returns the length of a vector instruction that capstone does not know (4.0 lacks many with
 * masks), so that disassembly resumes at the next instruction. Returns 0 if it is none, or unknown.
 */
static size_t unknown_length(const u8 *bytes, size_t left)
{
	static const u8 has_imm[] = { 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6 };
	u8 code[LONGEST] = {}, map;
	bool has_byte;
	size_t size;

	memcpy(code, bytes, left < LONGEST ? left : LONGEST);
	size = vector_prefix(code, &map);
	if (!size || !map || map == 4 || map > 6)
		return 0;
	has_byte = map == 3 || (map == 1 && memchr(has_imm, code[size], sizeof(has_imm)));
	size += 2 + operand_length(&code[size + 1]) + has_byte;
	return size <= left ? size : 0;
}

/* Only vector instructions have a known length here. */
static enum instruction_flow unknown_flow(const u8 *code)
{
	(void)code;
	return FLOW_ON;
}

#elif defined(__aarch64__)

static size_t unknown_length(const u8 *code, size_t left)
{
	(void)code;
	return left < 4 ? 0 : 4;
}

/*
 * An unknown branch (capstone 4.0 lacks retaa) must not be mistaken for an instruction that falls through. Bits 25 to
 * 28 are 101x in branches, exceptions and system instructions (Arm ARM, C4.1); system instructions begin with 0xd50
 * and fall through.
 */
static enum instruction_flow unknown_flow(const u8 *code)
{
	u32 word;

	memcpy(&word, code, sizeof(word));
	if (word <= 0xffff)
		return FLOW_STOP;       /* udf */
	return (word >> 26 & 7) == 5 && word >> 20 != 0xd50 ? FLOW_UNKNOWN : FLOW_ON;
}

static int open_capstone(const struct capstone *cs, csh *handle, enum machine_code machine)
{
	if (machine != MACHINE_OWN)
		return -1;
	return cs->open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, handle);
}

static enum instruction_flow flow_of(const struct capstone *cs, csh handle, const cs_insn *i)
{
	arm64_cc condition = i->detail->arm64.cc;

	switch (i->id) {
	case ARM64_INS_RET:
		return FLOW_RETURN;
	case ARM64_INS_B:
		return condition == ARM64_CC_INVALID || condition == ARM64_CC_AL || condition == ARM64_CC_NV ?
			       FLOW_JUMP : FLOW_CONDITION;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return FLOW_CONDITION;
	case ARM64_INS_BR:
		return FLOW_JUMP_ELSEWHERE;
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
		return FLOW_CALL;
	case ARM64_INS_BRK:
	case ARM64_INS_HLT:
		return FLOW_STOP;
	}
	/* System calls return here. Instructions of newer CPUs (retaa, braa) cannot be distinguished. */
	return cs->insn_group(handle, i, CS_GRP_JUMP) || cs->insn_group(handle, i, CS_GRP_RET) ||
	       cs->insn_group(handle, i, CS_GRP_IRET) ? FLOW_UNKNOWN : FLOW_ON;
}

static void mend_index(cs_insn *i)
{
	(void)i;
}

/* The address is the last operand, possibly after others: cbz x0, ADDRESS. */
static void find_target(const cs_insn *i, bool branches, struct sent *s)
{
	const cs_arm64 *a = &i->detail->arm64;
	const cs_arm64_op *op = a->op_count ? &a->operands[a->op_count - 1] : NULL;

	if (!op || op->type != ARM64_OP_IMM || !(branches || i->id == ARM64_INS_ADRP))
		return;
	s->kind = branches && a->op_count == 1 ? INSTRUCTION_BRANCHES : INSTRUCTION_REFERS;
	s->target = op->imm;
}

#else

static size_t unknown_length(const u8 *code, size_t left)
{
	(void)code, (void)left;
	return 0;
}

static enum instruction_flow unknown_flow(const u8 *code)
{
	(void)code;
	return FLOW_UNKNOWN;
}

static int open_capstone(const struct capstone *cs, csh *handle, enum machine_code machine)
{
	(void)cs, (void)handle, (void)machine;
	return -1;
}

static enum instruction_flow flow_of(const struct capstone *cs, csh handle, const cs_insn *i)
{
	(void)cs, (void)handle, (void)i;
	return FLOW_ON;
}

static void find_target(const cs_insn *i, bool branches, struct sent *s)
{
	(void)i, (void)branches, (void)s;
}

static void mend_index(cs_insn *i)
{
	(void)i;
}

#endif

static void put(struct answer *to, struct sent *s, const char *mnemonic, const char *operands)
{
	s->mnemonic = strlen(mnemonic) + 1;
	s->operands = strlen(operands) + 1;
	answer__put(to, s, sizeof(*s));
	answer__put(to, mnemonic, s->mnemonic);
	answer__put(to, operands, s->operands);
}

static void put_instruction(struct answer *to, const struct capstone *cs, csh handle, cs_insn *i)
{
	bool branches = cs->insn_group(handle, i, CS_GRP_JUMP) ||
			cs->insn_group(handle, i, CS_GRP_CALL) ||
			cs->insn_group(handle, i, CS_GRP_BRANCH_RELATIVE);
	struct sent s = { .size = i->size, .flow = flow_of(cs, handle, i) };

	find_target(i, branches, &s);
	mend_index(i);
	put(to, &s, i->mnemonic, i->op_str);
}

/* Emits unknown code as bytes. Returns their number. */
static size_t put_unknown(struct answer *to, const u8 *code, size_t left)
{
	size_t known = unknown_length(code, left);
	struct sent s = { .size = known ?: 1, .flow = known ? unknown_flow(code) : FLOW_UNKNOWN };
	char text[16 * 6] = "";
	size_t i, n = 0;

	for (i = 0; i < s.size && n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s0x%02x", i ? ", " : "", code[i]);
	put(to, &s, ".byte", text);
	return s.size;
}

/* Callback of confined_work. */
static void disassemble(struct answer *to, void *arg)
{
	const struct work *w = arg;
	const struct capstone *cs = w->cs;
	const u8 *at = w->code;
	uint64_t address = w->address;
	size_t left = w->size, n;
	cs_insn *instruction;
	csh handle;

	to->err = open_capstone(cs, &handle, w->machine) ? -ENOMEM : 0;
	if (to->err)
		return;
	cs->option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	instruction = cs->malloc(handle);
	while (left && instruction && !to->err) {
		if (cs->disasm_iter(handle, &at, &left, &address, instruction)) {
			put_instruction(to, cs, handle, instruction);
			continue;
		}
		n = put_unknown(to, at, left);
		at += n;
		address += n;
		left -= n;
	}
	/* The child exits now, so nothing needs freeing. */
}

int disassembly__ask(enum machine_code machine, const void *code, size_t size, u64 address,
		     void **answer, size_t *answered)
{
	struct work w = { capstone__load(), machine, code, size, address };

	if (!w.cs)
		return -EOPNOTSUPP;
	return confined__run(disassemble, &w, NULL, 0, NULL, answer, answered);
}

bool disassembly__is_possible(void)
{
	return capstone__load();
}

#else

bool disassembly__is_possible(void)
{
	return false;
}

int disassembly__ask(enum machine_code machine, const void *code, size_t size, u64 address,
		     void **answer, size_t *answered)
{
	(void)machine, (void)code, (void)size, (void)address, (void)answer, (void)answered;
	return -EOPNOTSUPP;
}

#endif /* HAVE_CAPSTONE */

/*
 * --- the parent: checks the child's answer -----------------------------------------------------
 */

/* Takes a NUL-terminated string of n bytes from the rest of the answer. Returns NULL if it is malformed. */
static const char *take_text(const char **at, size_t *left, u32 n)
{
	const char *text = *at;

	if (!n || n > *left || text[n - 1])
		return NULL;
	*at += n;
	*left -= n;
	return text;
}

static int take_one(struct disassembly *d, const char **at, size_t *left, u64 address)
{
	struct instruction *i = &d->instruction[d->n];
	struct sent s;

	if (*left < sizeof(s))
		return -EBADMSG;
	memcpy(&s, *at, sizeof(s));
	*at += sizeof(s);
	*left -= sizeof(s);
	if (!s.size || s.kind > INSTRUCTION_BRANCHES || s.flow > FLOW_UNKNOWN)
		return -EBADMSG;
	*i = (struct instruction){
		.address = address, .size = s.size, .kind = s.kind, .flow = s.flow,
		.target = s.target,
		.mnemonic = take_text(at, left, s.mnemonic),
	};
	i->operands = i->mnemonic ? take_text(at, left, s.operands) : NULL;
	if (!i->operands)
		return -EBADMSG;
	d->n++;
	return 0;
}

int disassembly__take(struct disassembly *d, const void *answer, size_t answered, size_t size,
		      u64 address)
{
	size_t left = answered, done = 0;
	const char *at;
	int err = 0;

	*d = (struct disassembly){
		calloc(size ?: 1, sizeof(*d->instruction)), 0, malloc(answered ?: 1),
	};
	if (!d->instruction || !d->texts)
		err = -ENOMEM;
	else
		memcpy(d->texts, answer, answered);
	for (at = d->texts; !err && left; done += d->instruction[d->n - 1].size) {
		err = done < size ? take_one(d, &at, &left, address + done) : -EBADMSG;
		if (err)
			break;
	}
	if (!err && done != size)
		err = -EBADMSG;
	if (err)
		disassembly__free(d);
	return err;
}

int disassembly__make(struct disassembly *d, enum machine_code machine, const void *code, size_t size,
		      u64 address)
{
	size_t answered;
	void *answer;
	int err = disassembly__ask(machine, code, size, address, &answer, &answered);

	if (err)
		return err;
	err = disassembly__take(d, answer, answered, size, address);
	free(answer);
	return err;
}

void disassembly__free(struct disassembly *d)
{
	free(d->instruction);
	free(d->texts);
	*d = (struct disassembly){};
}
