// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/syscalls.h"
#include "calls/syscall/guess.h"

static enum syscall_abi abi_of(u32 slot)
{
	return slot / SYSCALL_NUMBERS;
}

const char *call_name(char text[CALL_NAME_SPACE], u32 slot, u32 number)
{
	const char *name = number < SYSCALL_NUMBERS ? syscall_name(abi_of(slot), number) : NULL;
	const char *suffix = abi_of(slot) == SYSCALL_COMPAT ? ":32" : "";

	if (name)
		snprintf(text, CALL_NAME_SPACE, "%s%s", name, suffix);
	else
		snprintf(text, CALL_NAME_SPACE, "syscall_%u%s", number, suffix);
	return text;
}

const struct signature *call_signature(struct call_signatures *c, u32 slot)
{
	static const struct signature six = {
		.name = "",
		.native = 1,
		.arg = {{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX},
			{.kind = ARG_HEX}},
	};
	const char *name = syscall_name(abi_of(slot), slot % SYSCALL_NUMBERS);
	const struct signature *s = name ? syscall_signature(name) : NULL;
	struct signature *guess;

	if (c->known[slot])
		return c->known[slot];
	if (s && s->native && abi_of(slot) != SYSCALL_NATIVE)
		s = NULL;
	if (!s && name && abi_of(slot) == SYSCALL_NATIVE) {
		guess = malloc(sizeof(*guess));
		if (guess)
			syscall_signature__guess(guess, c->tracefs, name);
		s = guess;
	}
	c->known[slot] = s ?: &six;
	return c->known[slot];
}

void call_signatures__free(struct call_signatures *c)
{
	const struct signature *known;
	size_t n, slot;

	known = syscall_signatures(&n);
	for (slot = 0; slot < SYSCALL_NUMBERS; slot++)
		if (c->known[slot] && *c->known[slot]->name &&
		    (c->known[slot] < known || c->known[slot] >= known + n))
			free((void *)c->known[slot]);
}
