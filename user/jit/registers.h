/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registers of the machine and where programs on kprobes and uprobes find them: the only file that
 * knows their names. Offsets are those of struct pt_regs, which is what such programs are given
 * (arch/x86/include/asm/ptrace.h; the calling convention is that of the System V ABI).
 */
#ifndef TALLY_JIT_REGISTERS_H
#define TALLY_JIT_REGISTERS_H

#include "base/types.h"

struct machine_register {
	u32 offset;             /* in struct pt_regs */
	u32 size;               /* bytes that the name means: %eax 4, %ax 2, %al 1 */
	u32 shift;              /* bits to the right: 8 of %ah */
};

/* By the name behind a %: "di", "rdi", "edi". False: none such. */
bool machine_register__find(struct machine_register *r, const char *name);
/* By DWARF's number, and the number of one. False: none such. */
bool machine_register__by_dwarf(struct machine_register *r, u32 number);
bool machine_register__dwarf(const struct machine_register *r, u32 *number);

/*
 * Argument n (from 0) of a function at its entry: in a register (*r), or above the return address
 * on the stack (returns false, *stack_offset is from the stack pointer). The same for functions of
 * the kernel and of programs.
 */
bool machine_argument(struct machine_register *r, u32 n, s64 *stack_offset);

struct machine_register machine_result(void);
struct machine_register machine_stack_pointer(void);
struct machine_register machine_instruction_pointer(void);

/* All names, for messages. */
const char *machine_registers(void);

#endif /* TALLY_JIT_REGISTERS_H */
