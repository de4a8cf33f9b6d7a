/* SPDX-License-Identifier: BSD-2-Clause */
/* Calling conventions of functions in programs. */
#ifndef TALLY_EVENT_CONVENTION_H
#define TALLY_EVENT_CONVENTION_H

enum code_convention {
	CODE_C,                 /* as in C */
	CODE_GO,                /* Go's ABIInternal: words in registers, in Go's own order */
	CODE_GO_STACK,          /* Go's ABI0: arguments and results on the stack */
	CODE_GO_ASSEMBLY,       /* either of Go's ABIs */
	CODE_GO_UNKNOWN,        /* Go before 1.18, or a damaged table of functions */
};

#endif /* TALLY_EVENT_CONVENTION_H */
