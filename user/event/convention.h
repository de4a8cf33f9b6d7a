/* SPDX-License-Identifier: BSD-2-Clause */
/* How a function of a program takes its arguments and gives its results. */
#ifndef TALLY_EVENT_CONVENTION_H
#define TALLY_EVENT_CONVENTION_H

enum code_convention {
	CODE_C,                 /* as in C */
	CODE_GO,                /* ABIInternal of Go: words in registers, in an order of their own */
	CODE_GO_STACK,          /* ABI0 of Go: on the stack, results too */
	CODE_GO_ASSEMBLY,       /* either */
	CODE_GO_UNKNOWN,        /* of Go before 1.18, or its table of functions is damaged */
};

#endif /* TALLY_EVENT_CONVENTION_H */
