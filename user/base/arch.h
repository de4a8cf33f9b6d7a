/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Differences between architectures that a constant can express. Registers are in
 * jit/registers_x86.c and jit/registers_arm64.c, instructions in sym/disassembly.c.
 */
#ifndef TALLY_BASE_ARCH_H
#define TALLY_BASE_ARCH_H

#include <stdbool.h>

#if defined(__x86_64__)

/* Whether Python stacks can be walked (bpf/lib/python.h). */
#define ARCH_HAS_PYTHON true
/* Number of registers for integer and pointer arguments; further arguments are on the stack. */
#define ARCH_ARGUMENT_REGISTERS 6
/* Bytes that a call pushes, above the stack pointer at function entry: the return address. */
#define ARCH_CALL_BYTES 8
/* Whether structures are passed as in the System V ABI for x86-64. */
#define ARCH_PASSES_SYSV true
/* Whether the first argument points to the memory for a result that does not fit into registers. */
#define ARCH_RESULT_BY_ARGUMENT true
/* O_LARGEFILE: 0 in the C library of 64-bit programs, but some programs pass the kernel's value. */
#define ARCH_O_LARGEFILE 0100000

#elif defined(__aarch64__)

#define ARCH_HAS_PYTHON false
#define ARCH_ARGUMENT_REGISTERS 8
#define ARCH_CALL_BYTES 0
#define ARCH_PASSES_SYSV false
#define ARCH_RESULT_BY_ARGUMENT false
#define ARCH_O_LARGEFILE 0400000

#else
#error "this architecture is not supported: describe it here"
#endif

#endif /* TALLY_BASE_ARCH_H */
