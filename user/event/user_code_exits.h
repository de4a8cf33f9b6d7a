/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files behind event/user_code.h share. */
#ifndef TALLY_EVENT_USER_CODE_EXITS_H
#define TALLY_EVENT_USER_CODE_EXITS_H

#include <sys/types.h>

#include "sym/disassembly.h"
#include "event/user_code.h"
#include "types/binary.h"
#include "unwind/extents.h"

/* What .eh_frame says of the stack pointer at an address. */
enum stack_state {
	STACK_UNKNOWN,
	STACK_AS_AT_ENTRY,      /* the return address is on top */
	STACK_IN_USE,
};

enum stack_state user_code__stack_at(struct user_code *c, u64 address);

const struct code_extents *user_code__extents(struct user_code *c);

/* The symbol that holds an address; NULL: none. */
const struct binary_function *user_code__function(const struct user_code *c, u64 address);

/* Is that one of the names of what begins at the address? */
bool user_code__has_name(const struct user_code *c, u64 address, const char *name, size_t len);

/* Is it one of the jumps by which functions of other files are called? */
bool user_code__in_plt(const struct user_code *c, u64 address);

/* The function or part of one that holds an address. -ENODATA: none is known. */
int user_code__extent(struct user_code *c, u64 address, u64 *start, u64 *size);

/* Bytes of the file by their address. How many; -ENODATA: it has not all of them. */
ssize_t user_code__read(const struct user_code *c, u64 address, void *to, size_t size,
			bool executable);

/* Returns 0, -ENOMEM, or -ENODATA: it cannot be done. */
int user_code__take_apart(struct user_code *c, struct disassembly *d, u64 start, u64 size);

#endif /* TALLY_EVENT_USER_CODE_EXITS_H */
