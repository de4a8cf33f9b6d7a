/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stackcount.bpf.c and tools/events/stackcount.c share. */
#ifndef TALLY_STACKCOUNT_H
#define TALLY_STACKCOUNT_H

#include "stack.h"

/*
 * What programs are told of their site: the number of the event, and if it is where a function of a program
 * begins, before that has made a frame: the caller is then found by the return address.
 */
#define STACKCOUNT_AT_ENTRY 0x40000000U
#define STACKCOUNT_AT_EXIT 0x20000000U          /* or where one is about to return */
#define STACKCOUNT_EVENT 0x0000ffffU

#endif /* TALLY_STACKCOUNT_H */
