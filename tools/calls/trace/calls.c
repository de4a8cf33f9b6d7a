// SPDX-License-Identifier: BSD-2-Clause
/* Describes each call to the programs. */
#include <stdio.h>
#include <stdlib.h>

#include "host/syscalls.h"
#include "calls/syscall/decode.h"
#include "calls/trace/trace.h"

static enum syscall_abi abi_of(u32 slot)
{
	return slot / SYSCALL_NUMBERS;
}

static bool forks(u32 slot)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (syscall_number_in(abi_of(slot), names[i]) == (int)(slot % SYSCALL_NUMBERS))
			return true;
	return false;
}

static int describe_call(struct trace *t, u32 slot)
{
	const struct signature *s = call_signature(&t->signatures, slot);
	struct trace_call c = {
		.wanted = syscall_set__has(&t->set, abi_of(slot), slot % SYSCALL_NUMBERS),
		.no_return = s->no_return,
		.exec = s->exec,
		.forks = forks(slot),
	};

	if (!t->summary)
		syscall_fetches(&c, s, abi_of(slot), t->bytes);
	return bpf_map__update_elem(t->bpf->maps.calls, &slot, sizeof(slot), &c, sizeof(c),
				    BPF_ANY);
}

static int describe_command(struct trace *t, u32 slot, const struct signature *s, u32 at)
{
	struct trace_command key = { .slot = slot, .command = s->command };
	struct trace_call c = {};
	int err;

	syscall_fetches(&c, s, abi_of(slot), t->bytes);
	err = bpf_map__update_elem(t->bpf->maps.calls, &at, sizeof(at), &c, sizeof(c), BPF_ANY);
	return err ?: bpf_map__update_elem(t->bpf->maps.commands, &key, sizeof(key), &at, sizeof(at),
					   BPF_ANY);
}

/* The entries of commands follow those of all calls, in both tables. */
static int describe_commands(struct trace *t)
{
	u32 at = TRACE_SLOTS, slot, abi;
	const struct signature *s;
	size_t n, i;
	int err = 0, number;

	s = syscall_commands(&n);
	for (i = 0; i < n && !err; i++) {
		for (abi = 0; abi < SYSCALL_ABIS && !err; abi++) {
			number = syscall_number_in(abi, s[i].name);
			slot = abi * SYSCALL_NUMBERS + number;
			if (number >= 0 && at < TRACE_SLOTS + TRACE_COMMANDS &&
			    !(s[i].native && abi != SYSCALL_NATIVE))
				err = describe_command(t, slot, &s[i], at++);
		}
	}
	return err;
}

int trace__describe_calls(struct trace *t)
{
	int err = 0;
	u32 slot;

	for (slot = 0; slot < TRACE_SLOTS && !err; slot++)
		err = describe_call(t, slot);
	return err || t->summary ? err : describe_commands(t);
}
