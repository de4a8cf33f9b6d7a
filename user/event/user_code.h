/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a program or library, as far as probes have to know it: where instructions begin, since
 * a breakpoint inside of one makes a program compute something else; and by which instructions a
 * function ends, to see its ends without changing the return address on its stack. A return address
 * that is changed ends the program when an exception is to pass through the function.
 *
 * Files are not trusted: they are read and taken apart by processes without rights.
 */
#ifndef TALLY_EVENT_USER_CODE_H
#define TALLY_EVENT_USER_CODE_H

#include "base/types.h"

struct user_code;

/* Returns 0, -ENOEXEC, -ENOMEM, or what open(2) says. Addresses are the file's own, virtual ones. */
int user_code__open(struct user_code **code, const char *path);
void user_code__close(struct user_code *code);

/* The beginnings of instructions around an address. */
struct code_neighbours {
	u64 before, behind;
};

/*
 * Does an instruction begin at an address? 0: it does; -EILSEQ: it does not, *near is where the
 * nearest ones do; -ENODATA: that cannot be told.
 */
int user_code__check(struct user_code *code, u64 address, struct code_neighbours *near);

/* Is code looked at? False: in a build without capstone what else is known of it has to do. */
bool user_code__is_looked_at(void);

/* Is it a no-op, as those of USDT probes are? */
bool user_code__is_nop(const struct user_code *code, u64 file_offset);

/* An instruction by which a function ends; the stack pointer there is that of its first one. */
struct code_exit {
	u64 address;
	bool is_tail_call;      /* it jumps to another function, which makes the result */
	bool is_shared;         /* of a function jumped to: others come there, too */
};

struct code_exits {
	struct code_exit *exit;
	size_t n;               /* 0: it never returns */
};

/*
 * All instructions by which the function that begins at an address ends, in it and in the parts that
 * the compiler split off. follow: where it jumps to another function of the file, which then returns
 * in its place, the ends of that one. Returns 0; -ENOMEM; -ENODATA: they cannot be told for certain,
 * *why (a constant) is what stands in the way.
 */
int user_code__exits(struct user_code *code, u64 address, bool follow, struct code_exits *exits,
		     const char **why);
void code_exits__free(struct code_exits *exits);

/*
 * May an exception pass through the function at an address? Not in a file in which nothing takes part
 * in unwinding and which needs no library that throws.
 */
bool user_code__may_unwind(struct user_code *code, u64 address);

/* Bytes by which a return changes the stack pointer: 8, or 4 in a 32-bit program. */
u32 user_code__return_bytes(const struct user_code *code);

#endif /* TALLY_EVENT_USER_CODE_H */
