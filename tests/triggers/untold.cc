// SPDX-License-Identifier: BSD-2-Clause
/*
 * untold N: like refused, but nobody can tell for certain where its operator new ends: within it are
 * bytes that are no instruction.
 */
#define IN_OPERATOR_NEW asm volatile("jmp 1f; .byte 0x06; 1:")
#include "refused.cc"
