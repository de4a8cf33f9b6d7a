/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disassembles machine code to AT&T syntax, like objdump(1). Code may be crafted to attack the disassembler, so an
 * unprivileged child does the work (base/confined.h). Its answer is checked, except for the texts, which may contain
 * anything.
 */
#ifndef TALLY_ANNOTATE_DISASSEMBLY_H
#define TALLY_ANNOTATE_DISASSEMBLY_H

#include "base/types.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_REFERS,     /* to the address target, by a PC-relative operand */
	INSTRUCTION_BRANCHES,   /* to target: a jump or call, with no other operand */
};

/* Where control goes after an instruction. */
enum instruction_flow {
	FLOW_ON,                /* to the next instruction; calls return to it */
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_JUMP,              /* to target, unconditionally */
	FLOW_CONDITION,         /* to target, or to the next instruction */
	FLOW_JUMP_ELSEWHERE,    /* to an address in a register or memory */
	FLOW_STOP,              /* nowhere: ud2, hlt, int3 */
	FLOW_UNKNOWN,           /* these bytes are not a known instruction */
};

enum machine_code {
	MACHINE_OWN,            /* this CPU, in our mode */
	MACHINE_32_BIT,         /* this CPU's 32-bit mode; x86 only */
};

/* Instructions cover every byte: unknown ones become ".byte". */
struct instruction {
	u64 address;
	u32 size;
	enum instruction_kind kind;
	enum instruction_flow flow;
	u64 target;
	const char *mnemonic, *operands;        /* "jne", "0x1184" */
};

struct disassembly {
	struct instruction *instruction;        /* in order, contiguous */
	size_t n;
	char *texts;
};

/*
 * Disassembles size bytes of code located at address. Returns 0; -EOPNOTSUPP: capstone is not installed or not in this
 * build; -EBADMSG or -ETIME: it failed (see confined.h); -ENOMEM.
 */
int disassembly__make(struct disassembly *d, enum machine_code machine, const void *code, size_t size,
		      u64 address);
void disassembly__free(struct disassembly *d);

/* False in a build without capstone, or if it is not installed. */
bool disassembly__is_possible(void);

/*
 * The two halves of disassembly__make(): get the child's answer, which the caller frees, and parse it. The answer is
 * untrusted.
 */
int disassembly__ask(enum machine_code machine, const void *code, size_t size, u64 address,
		     void **answer, size_t *answered);
int disassembly__take(struct disassembly *d, const void *answer, size_t answered, size_t size,
		      u64 address);

#endif /* TALLY_ANNOTATE_DISASSEMBLY_H */
