/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine code as instructions, in AT&T syntax as objdump(1) writes it. Code may be made to harm
 * whoever takes it apart: it is done by a child without rights (sym/confined.h), and what that
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

/* Every byte is in one: what is no instruction, or not a known one, is a ".byte". */
struct instruction {
	u64 address;
	u32 size;
	enum instruction_kind kind;
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
int disassembly__make(struct disassembly *d, const void *code, size_t size, u64 address);
void disassembly__free(struct disassembly *d);

/* Its two halves: what the child answers, to be freed, and what is made of it, whatever it is. */
int disassembly__ask(const void *code, size_t size, u64 address, void **answer, size_t *answered);
int disassembly__take(struct disassembly *d, const void *answer, size_t answered, size_t size,
		      u64 address);

#endif /* TALLY_ANNOTATE_DISASSEMBLY_H */
