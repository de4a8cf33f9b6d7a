// SPDX-License-Identifier: BSD-2-Clause
/*
 * untold N: like refused, but the end of its operator new cannot be determined: it contains bytes that are not
 * instructions.
 */
#if defined(__x86_64__)
#define IN_OPERATOR_NEW asm volatile("jmp 1f; .byte 0x06; 1:")
#elif defined(__aarch64__)
#define IN_OPERATOR_NEW asm volatile("b 1f; .inst 0x00000001; 1:")
#endif
#include "refused.cc"
