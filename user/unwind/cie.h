/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of .eh_frame (Linux Standard Base, 10.6) and what they share: a CIE says how the entries
 * of functions (FDEs) that refer to it are written. Of 64-bit and 32-bit files, bytes nobody vouches
 * for: nothing outside the section is read, and one damaged entry spoils no other.
 */
#ifndef TALLY_UNWIND_CIE_H
#define TALLY_UNWIND_CIE_H

#include "unwind/cursor.h"

/* Bytes that hold pointers, and what these depend on. */
struct eh_bytes {
	const u8 *at, *end;
	u64 address;            /* of the first byte, in the file's own numbering */
	u32 word_bytes;         /* of an absolute pointer: 8, or 4 in 32-bit files */
};

struct cie {
	u64 code_unit;
	s64 data_unit;
	u64 return_register;
	u8 encoding;            /* DW_EH_PE_*, of start and size in FDEs */
	u8 handler_encoding;    /* of the language's data; DW_EH_PE_omit: FDEs have none */
	bool has_data;          /* FDEs have a length and augmentation data behind start and size */
	bool has_personality;   /* takes part in exceptions; set even if the rest cannot be read */
	bool is_signal_frame;
	struct cursor program;  /* the instructions that all its FDEs begin with */
};

/* Goes from one FDE to the next. The CIE read last is kept: most FDEs have that of those before. */
struct eh_walk {
	struct eh_bytes section;
	struct cursor rest;
	const u8 *cie_at;       /* NULL: none was read */
	bool cie_ok;
	struct cie cie;
};

void eh_walk__init(struct eh_walk *w, struct eh_bytes section);

/*
 * Moves on to the next FDE. 1: fde is what follows its pointer to the CIE, which is w->cie, read from
 * w->cie_at. -EBADMSG: the FDE or its CIE cannot be read; w->cie is undefined but for
 * has_personality, and the walk can go on. 0: there are no more.
 */
int eh_walk__next(struct eh_walk *w, struct cursor *fde);

/* Bytes of a pointer or size in an encoding; 0: it has no fixed size. */
u32 eh_pointer_bytes(u8 encoding, u32 word_bytes);

/* Takes a pointer as it stands, without its base. False: not of a fixed size, or cut off. */
bool eh_take_raw(struct cursor *c, u8 encoding, u32 word_bytes, u64 *raw);

/*
 * Takes a pointer, absolute or relative to itself; 0 is 0 either way, as the format has it. c is
 * within b. False: in another encoding, or cut off.
 */
bool eh_take_pointer(struct cursor *c, u8 encoding, const struct eh_bytes *b, u64 *pointer);

#endif /* TALLY_UNWIND_CIE_H */
