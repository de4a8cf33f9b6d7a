// SPDX-License-Identifier: BSD-2-Clause
#ifdef __aarch64__

#include "jit/registers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include "base/arch.h"

/* struct pt_regs begins with struct user_pt_regs, which has the same layout. */
#define AT(REG) offsetof(struct user_regs_struct, REG)

/* DWARF register numbers of the Arm 64-bit architecture: x0 to x30, sp, pc. */
enum { GO_ARGUMENTS = 16, FP = 29, LR = 30, GENERAL = 31, SP = 31, PC = 32, NUMBERS };

static struct machine_register whole(u32 number)
{
	u32 offset = number < GENERAL ? AT(regs) + 8 * number : number == SP ? AT(sp) : AT(pc);

	return (struct machine_register){ offset, 8, 0 };
}

/* Returns the size (8 or 4) and number of a register like x0 or w0, or 0 for another name. */
static u32 general_register(const char *name, u32 *number)
{
	char *end;
	unsigned long n;

	if ((*name != 'x' && *name != 'w') || name[1] < '0' || name[1] > '9' || (name[1] == '0' && name[2]))
		return 0;
	n = strtoul(name + 1, &end, 10);
	if (*end || n >= GENERAL)
		return 0;
	*number = n;
	return *name == 'x' ? 8 : 4;
}

bool machine_register__find(struct machine_register *r, const char *name)
{
	static const struct {
		const char *name;
		u32 number, size;
	} others[] = {
		{ "fp", FP, 8 }, { "lr", LR, 8 }, { "sp", SP, 8 }, { "wsp", SP, 4 }, { "pc", PC, 8 },
	};
	u32 number = 0, size = general_register(name, &number);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others) && !size; i++)
		if (!strcmp(name, others[i].name)) {
			number = others[i].number;
			size = others[i].size;
		}
	if (size) {
		*r = whole(number);
		r->size = size;
		return true;
	}
	if (strcmp(name, "pstate"))
		return false;
	*r = (struct machine_register){ AT(pstate), 8, 0 };
	return true;
}

bool machine_register__by_dwarf(struct machine_register *r, u32 number)
{
	if (number >= NUMBERS)
		return false;
	*r = whole(number);
	return true;
}

bool machine_register__dwarf(const struct machine_register *r, u32 *number)
{
	for (*number = 0; *number < NUMBERS; (*number)++)
		if (whole(*number).offset == r->offset)
			return true;
	return false;
}

bool machine_argument(struct machine_register *r, u32 n, s64 *stack_offset)
{
	if (n < ARCH_ARGUMENT_REGISTERS) {
		*r = whole(n);
		return true;
	}
	*stack_offset = 8 * (s64)(n - ARCH_ARGUMENT_REGISTERS);
	return false;
}

bool machine_go_argument(struct machine_register *r, u32 n)
{
	if (n >= GO_ARGUMENTS)
		return false;
	*r = whole(n);
	return true;
}

bool machine_link(struct machine_register *r)
{
	*r = whole(LR);
	return true;
}

struct machine_register machine_result(void)
{
	return whole(0);
}

struct machine_register machine_stack_pointer(void)
{
	return whole(SP);
}

struct machine_register machine_instruction_pointer(void)
{
	return whole(PC);
}

struct machine_register machine_goroutine(void)
{
	return whole(28);
}

const char *machine_registers(void)
{
	return "%x0 to %x30 %fp %lr %sp %pc %pstate, and their halves: %w0";
}

#endif /* __aarch64__ */
