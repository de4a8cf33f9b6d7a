/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine code as instructions, in AT&T syntax as objdump(1) writes it. Code may be made to harm
 * whoever takes it apart: it is done by a child without rights (base/confined.h), and what that
 * answers is checked, but for its texts, which may be anything.
 */
#ifndef TALLY_ANNOTATE_DISASSEMBLY_H
#define TALLY_ANNOTATE_DISASSEMBLY_H

#include "base/types.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_REFERS,     /* to the address target: an operand relative to itself */
	INSTRUCTION_BRANCHES,   /* to target: a jump or call, the operand is nothing else */
};

/* Where control goes from an instruction. */
enum instruction_flow {
	FLOW_ON,                /* to the next one; calls come back to it */
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_JUMP,              /* to target, always */
	FLOW_CONDITION,         /* to target, or on */
	FLOW_JUMP_ELSEWHERE,    /* to what a register or memory says */
	FLOW_STOP,              /* nowhere: ud2, hlt, int3 */
	FLOW_UNKNOWN,           /* these bytes are no instruction, or not a known one */
};

enum machine_code {
	MACHINE_OWN,            /* of this CPU as we are */
	MACHINE_32_BIT,         /* what it runs of its 32-bit predecessor; x86 alone has this */
};

/* Every byte is in one: what is no instruction, or not a known one, is a ".byte". */
struct instruction {
	u64 address;
	u32 size;
	enum instruction_kind kind;
	enum instruction_flow flow;
	u64 target;
	const char *mnemonic, *operands;        /* "jne", "0x1184" */
};

struct disassembly {
	struct instruction *instruction;        /* in order, each where the one before ends */
	size_t n;
	char *texts;
};

/*
 * Takes size bytes of code apart, the first of which is at an address. Returns 0; -EOPNOTSUPP: a
 * build without capstone; -EBADMSG or -ETIME: it could not be done (see confined.h); -ENOMEM.
 */
int disassembly__make(struct disassembly *d, enum machine_code machine, const void *code, size_t size,
		      u64 address);
void disassembly__free(struct disassembly *d);

/* False: this is a build without capstone. */
bool disassembly__is_possible(void);

/* Its two halves: what the child answers, to be freed, and what is made of it, whatever it is. */
int disassembly__ask(enum machine_code machine, const void *code, size_t size, u64 address,
		     void **answer, size_t *answered);
int disassembly__take(struct disassembly *d, const void *answer, size_t answered, size_t size,
		      u64 address);

#endif /* TALLY_ANNOTATE_DISASSEMBLY_H */
