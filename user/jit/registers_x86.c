// SPDX-License-Identifier: BSD-2-Clause
#ifdef __x86_64__

#include "jit/registers.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/user.h>

/* struct pt_regs begins like user_regs_struct, and has all registers named here. */
#define AT(REG) offsetof(struct user_regs_struct, REG)

/* In the order of the DWARF numbers 0 to 16 of the System V ABI. */
static const struct {
	const char *base;       /* without the prefix r or e */
	const char *byte;       /* name of the lowest byte */
	const char *high;       /* name of the second byte */
	u32 offset;
} registers[] = {
	{"ax", "al", "ah", AT(rax)},	{"dx", "dl", "dh", AT(rdx)},
	{"cx", "cl", "ch", AT(rcx)},	{"bx", "bl", "bh", AT(rbx)},
	{"si", "sil", NULL, AT(rsi)},	{"di", "dil", NULL, AT(rdi)},
	{"bp", "bpl", NULL, AT(rbp)},	{"sp", "spl", NULL, AT(rsp)},
	{"r8", "r8b", NULL, AT(r8)},	{"r9", "r9b", NULL, AT(r9)},
	{"r10", "r10b", NULL, AT(r10)}, {"r11", "r11b", NULL, AT(r11)},
	{"r12", "r12b", NULL, AT(r12)}, {"r13", "r13b", NULL, AT(r13)},
	{"r14", "r14b", NULL, AT(r14)}, {"r15", "r15b", NULL, AT(r15)},
	{"ip", "ipl", NULL, AT(rip)},
};

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R14 = 14, RIP = 16 };

static struct machine_register whole(u32 number)
{
	return (struct machine_register){ registers[number].offset, 8, 0 };
}

/* The kernel's names have no prefix (di), and mean the whole register. */
static u32 size_by_name(const char *name, const char *base)
{
	char text[8];

	if (!strcmp(name, base))
		return 8;
	if (base[0] == 'r') {
		snprintf(text, sizeof(text), "%sd", base);
		if (!strcmp(name, text))
			return 4;
		text[strlen(base)] = 'w';
		return strcmp(name, text) ? 0 : 2;
	}
	if (strlen(name) < 2 || strcmp(name + 1, base))
		return 0;
	return name[0] == 'r' ? 8 : name[0] == 'e' ? 4 : 0;
}

bool machine_register__find(struct machine_register *r, const char *name)
{
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		*r = whole(i);
		size = size_by_name(name, registers[i].base);
		if (size) {
			r->size = size;
			return true;
		}
		if (!strcmp(name, registers[i].byte)) {
			r->size = 1;
			return true;
		}
		if (registers[i].high && !strcmp(name, registers[i].high)) {
			r->size = 1;
			r->shift = 8;
			return true;
		}
	}
	if (!strcmp(name, "flags") || !strcmp(name, "eflags")) {
		*r = (struct machine_register){ AT(eflags), 8, 0 };
		return true;
	}
	return false;
}

bool machine_register__by_dwarf(struct machine_register *r, u32 number)
{
	if (number >= ARRAY_SIZE(registers))
		return false;
	*r = whole(number);
	return true;
}

bool machine_register__dwarf(const struct machine_register *r, u32 *number)
{
	for (*number = 0; *number < ARRAY_SIZE(registers); (*number)++)
		if (registers[*number].offset == r->offset)
			return true;
	return false;
}

bool machine_argument(struct machine_register *r, u32 n, s64 *stack_offset)
{
	static const u8 order[] = { RDI, RSI, RDX, RCX, R8, R9 };

	if (n < ARRAY_SIZE(order)) {
		*r = whole(order[n]);
		return true;
	}
	*stack_offset = 8 * (s64)(n - ARRAY_SIZE(order) + 1);
	return false;
}

bool machine_go_argument(struct machine_register *r, u32 n)
{
	static const u8 order[] = { RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11 };

	if (n >= ARRAY_SIZE(order))
		return false;
	*r = whole(order[n]);
	return true;
}

bool machine_link(struct machine_register *r)
{
	(void)r;
	return false;
}

struct machine_register machine_result(void)
{
	return whole(RAX);
}

struct machine_register machine_stack_pointer(void)
{
	return whole(RSP);
}

struct machine_register machine_instruction_pointer(void)
{
	return whole(RIP);
}

struct machine_register machine_goroutine(void)
{
	return whole(R14);
}

const char *machine_registers(void)
{
	return "%ax %bx %cx %dx %si %di %bp %sp %r8 to %r15 %ip, and their parts: %eax %al";
}

#endif /* __x86_64__ */
