/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of .eh_frame (Linux Standard Base, 10.6). A CIE defines the encoding of the function entries (FDEs) that
 * refer to it. Handles 64-bit and 32-bit files. They are untrusted: nothing outside the section is read, and a damaged
 * entry does not affect others.
 */
#ifndef TALLY_TYPES_CIE_H
#define TALLY_TYPES_CIE_H

#include "base/cursor.h"

/* Bytes that contain pointers, and the context to decode them. */
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
	u8 handler_encoding;    /* of the language-specific data; DW_EH_PE_omit: FDEs have none */
	bool has_data;          /* in FDEs, start and size are followed by a length and augmentation data */
	bool has_personality;   /* takes part in exception handling; set even if the rest cannot be read */
	bool is_signal_frame;
	struct cursor program;  /* the initial instructions of all its FDEs */
};

/* Iterates over FDEs. The last CIE is cached, since consecutive FDEs mostly share one. */
struct eh_walk {
	struct eh_bytes section;
	struct cursor rest;
	const u8 *cie_at;       /* NULL: none read yet */
	bool cie_ok;
	struct cie cie;
};

void eh_walk__init(struct eh_walk *w, struct eh_bytes section);

/*
 * Advances to the next FDE. Returns 1: fde is the part after its CIE pointer, and w->cie is its CIE, read from
 * w->cie_at. -EBADMSG: the FDE or its CIE cannot be read; w->cie is undefined except for has_personality, and the walk
 * can continue. 0: the end.
 */
int eh_walk__next(struct eh_walk *w, struct cursor *fde);

/* Returns the size in bytes of a pointer in this encoding; 0: variable. */
u32 eh_pointer_bytes(u8 encoding, u32 word_bytes);

/* Takes a pointer's raw value, without its base. False: variable size, or truncated. */
bool eh_take_raw(struct cursor *c, u8 encoding, u32 word_bytes, u64 *raw);

/*
 * Takes an absolute or PC-relative pointer; a raw 0 is always 0, per the format. c is within b.
 * False: another encoding, or truncated.
 */
bool eh_take_pointer(struct cursor *c, u8 encoding, const struct eh_bytes *b, u64 *pointer);

#endif /* TALLY_TYPES_CIE_H */
