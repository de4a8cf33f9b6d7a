/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The site of a program that follows function calls, stored in its slot (event.bpf.h); user/probe/calls.h fills it in.
 * At an entry: the function's number, and whether its calls may end in a jump to another traced function. At an end:
 * the function's number, whether calls of other functions also end there, and how many bytes have been popped off the
 * stack by then. At both: whether it is Go code.
 */
#ifndef TALLY_CALL_SITE_H
#define TALLY_CALL_SITE_H

#define CALL_FUNCTION 0x00003fffU
#define CALL_JUMPS 0x00004000U
#define CALL_IS_SHARED 0x00008000U
#define CALL_POPPED_SHIFT 16
#define CALL_POPPED 0xffU
#define CALL_IS_GO 0x01000000U

#endif /* TALLY_CALL_SITE_H */
