// SPDX-License-Identifier: BSD-2-Clause
/*
 * untold N: like refused, but nobody can tell for certain where its operator new ends: within it are
 * bytes that are no instruction.
 */
#if defined(__x86_64__)
#define IN_OPERATOR_NEW asm volatile("jmp 1f; .byte 0x06; 1:")
#elif defined(__aarch64__)
#define IN_OPERATOR_NEW asm volatile("b 1f; .inst 0x00000001; 1:")
#endif
#include "refused.cc"
