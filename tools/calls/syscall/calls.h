/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls by their slot (bpf/calls/trace.h): names and signatures. A signature is guessed if table.c has none. */
#ifndef TALLY_SYSCALL_CALLS_H
#define TALLY_SYSCALL_CALLS_H

#include "calls/syscall/table.h"

#include "bpf/calls/trace.h"

#define CALL_NAME_SPACE 64

/*
 * Writes the name of a call into text, and returns text: "openat", "openat:32" for a 32-bit call, "syscall_600" for an
 * unknown name. In sums, the highest number also stands for all higher numbers.
 */
const char *call_name(char text[CALL_NAME_SPACE], u32 slot, u32 number);

/* Initialise to all zeros, except tracefs. */
struct call_signatures {
	const struct signature *known[TRACE_SLOTS];     /* from the table or guessed; NULL: not looked up yet */
	int tracefs;                                    /* -1: none */
};

/* For a slot below TRACE_SLOTS. Never returns NULL. */
const struct signature *call_signature(struct call_signatures *c, u32 slot);
void call_signatures__free(struct call_signatures *c);

#endif /* TALLY_SYSCALL_CALLS_H */
