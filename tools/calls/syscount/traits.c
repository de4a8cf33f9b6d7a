// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscount/traits.h"

#include <string.h>

#include "host/syscalls.h"

static const struct {
	const char *name;
	u8 traits;
} special_calls[] = {
	{ "fork", CALL_ASKED | CALL_FORKS },
	{ "vfork", CALL_ASKED | CALL_FORKS },
	{ "clone", CALL_ASKED | CALL_FORKS },
	{ "clone3", CALL_ASKED | CALL_FORKS },
	{ "sigreturn", CALL_ASKED | CALL_SIGRETURN },
	{ "rt_sigreturn", CALL_ASKED | CALL_SIGRETURN },
	/* These calls never return, so nothing can be counted, and zombies would appear to be inside them. */
	{ "exit", 0 },
	{ "exit_group", 0 },
};

static u8 traits_of(const struct syscall_set *wanted, enum syscall_abi abi, u32 number)
{
	const char *name = syscall_name(abi, number);
	u8 asked = syscall_set__has(wanted, abi, number) ? CALL_ASKED : 0;
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(special_calls); i++)
		if (!strcmp(special_calls[i].name, name))
			return special_calls[i].traits & (asked | ~CALL_ASKED);
	return asked;
}

void calls__describe(const struct syscall_set *wanted, u8 traits[CALLS],
		     u32 sigreturn[SYSCALL_ABIS])
{
	u32 abi, i;
	int number;

	for (abi = 0; abi < SYSCALL_ABIS; abi++) {
		for (i = 0; i < SYSCALL_NUMBERS; i++)
			traits[abi << CALL_NUMBER_BITS | i] = traits_of(wanted, abi, i);
		number = syscall_number_in(abi, "rt_sigreturn");
		sigreturn[abi] = number < 0 ? CALL_BEYOND : number;
	}
}
