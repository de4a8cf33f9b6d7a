/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two files behind event/user_code.h. */
#ifndef TALLY_EVENT_USER_CODE_EXITS_H
#define TALLY_EVENT_USER_CODE_EXITS_H

#include <sys/types.h>

#include "sym/disassembly.h"
#include "event/user_code.h"
#include "types/binary.h"
#include "types/extents.h"

/* The state of the stack pointer at an address, from .eh_frame. */
enum stack_state {
	STACK_UNKNOWN,
	STACK_AS_AT_ENTRY,      /* the return address is on top */
	STACK_IN_USE,
};

enum stack_state user_code__stack_at(struct user_code *c, u64 address);

const struct code_extents *user_code__extents(struct user_code *c);

/* Returns the symbol that contains an address, or NULL. */
const struct binary_function *user_code__function(const struct user_code *c, u64 address);

/* True if the name is one of the names of the function at the address. */
bool user_code__has_name(const struct user_code *c, u64 address, const char *name, size_t len);

/* True if the address is in the PLT. */
bool user_code__in_plt(const struct user_code *c, u64 address);

/* Finds start and size of the function, or part of a function, that contains an address. -ENODATA: none is known. */
int user_code__extent(struct user_code *c, u64 address, u64 *start, u64 *size);

/*
 * Reads bytes of the file by address. Returns their number, or -ENODATA if the file does not have
 * all of them.
 */
ssize_t user_code__read(const struct user_code *c, u64 address, void *to, size_t size,
			bool executable);

/* Disassembles size bytes at start. Returns 0, -ENOMEM, or -ENODATA if that is impossible. */
int user_code__take_apart(struct user_code *c, struct disassembly *d, u64 start, u64 size);

#endif /* TALLY_EVENT_USER_CODE_EXITS_H */
