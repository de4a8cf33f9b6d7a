/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's registers, and where programs on kprobes and uprobes find them. Only registers_x86.c and
 * registers_arm64.c have their names. Offsets are in struct pt_regs, the context of such programs (asm/ptrace.h;
 * calling conventions: System V ABI, Arm's AAPCS64).
 */
#ifndef TALLY_JIT_REGISTERS_H
#define TALLY_JIT_REGISTERS_H

#include "base/types.h"

struct machine_register {
	u32 offset;             /* in struct pt_regs */
	u32 size;               /* bytes that the name refers to: %eax 4, %ax 2, %al 1 */
	u32 shift;              /* bits to shift right: 8 for %ah */
};

/* Finds a register by the name after the %: "di", "rdi", "edi"; "x0", "w0". False: unknown. */
bool machine_register__find(struct machine_register *r, const char *name);
/* Finds a register by its DWARF number, and the reverse. False: unknown. */
bool machine_register__by_dwarf(struct machine_register *r, u32 number);
bool machine_register__dwarf(const struct machine_register *r, u32 *number);

/*
 * Locates argument n (from 0) at a function's entry: in a register (*r), or on the stack above the return address
 * (returns false; *stack_offset is relative to the stack pointer). Valid for kernel and user functions.
 */
bool machine_argument(struct machine_register *r, u32 n, s64 *stack_offset);

/*
 * Locates word n (from 0) of a Go function's arguments. False if it is not in a register: the other words are on the
 * stack (src/cmd/compile/abi-internal.md in Go's sources).
 */
bool machine_go_argument(struct machine_register *r, u32 n);

/* Finds the register with the return address at a function's entry. False: the address is on top of the stack. */
bool machine_link(struct machine_register *r);

struct machine_register machine_result(void);
struct machine_register machine_stack_pointer(void);
struct machine_register machine_instruction_pointer(void);

/*
 * Returns the register of the current goroutine in Go code (cmd/compile/abi-internal.md, "Special-purpose registers").
 */
struct machine_register machine_goroutine(void);

/* Returns all register names, for messages. */
const char *machine_registers(void);

#endif /* TALLY_JIT_REGISTERS_H */
