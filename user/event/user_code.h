/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a program or library, as far as probes need it: instruction boundaries, since a
 * breakpoint inside an instruction corrupts the program; and the instructions that end a function,
 * to probe its ends without changing the return address on the stack. A changed return address
 * kills the program when an exception passes through the function.
 *
 * Files are not trusted: processes without rights parse and disassemble them.
 */
#ifndef TALLY_EVENT_USER_CODE_H
#define TALLY_EVENT_USER_CODE_H

#include "base/types.h"
#include "event/convention.h"

struct user_code;

/*
 * Returns 0, -ENOEXEC, -ENOMEM, or an error of open(2). Addresses are virtual, in the file's own
 * numbering.
 */
int user_code__open(struct user_code **code, const char *path);
void user_code__close(struct user_code *code);

/* The nearest instruction boundaries around an address. */
struct code_neighbours {
	u64 before, behind;
};

/*
 * Does an instruction begin at an address? 0: yes; -EILSEQ: no, *near holds the nearest boundaries;
 * -ENODATA: unknown.
 */
int user_code__check(struct user_code *code, u64 address, struct code_neighbours *near);

/* Can code be disassembled? False without capstone (sym/disassembly.h): tally then relies on other sources. */
bool user_code__is_looked_at(void);

/* Is it a no-op, like those of USDT probes? */
bool user_code__is_nop(const struct user_code *code, u64 file_offset);

/* An instruction that ends a function; the stack pointer there is the same as at the function's entry. */
struct code_exit {
	u64 address;
	bool is_tail_call;      /* jumps to another function, which produces the result */
	bool is_shared;         /* belongs to the function jumped to: its other callers end there too */
};

struct code_exits {
	struct code_exit *exit;
	size_t n;               /* 0: the function never returns */
};

/*
 * Finds all instructions that end the function at an address, in the function and in the parts that
 * the compiler split off. follow: for a jump to another function of the file, which then returns in
 * its place, finds that function's ends. Returns 0; -ENOMEM; or -ENODATA if they cannot be found
 * reliably, with the reason (a constant) in *why.
 */
int user_code__exits(struct user_code *code, u64 address, bool follow, struct code_exits *exits,
		     const char **why);
void code_exits__free(struct code_exits *exits);

/*
 * Go functions begin with a check of their stack, and start again after it has grown
 * (https://go.dev/src/cmd/internal/obj/x86/obj6.go, stacksplit()). Returns the address after the check, which is
 * reached once per call, with the registers as at the entry. Returns the entry itself for functions without a check,
 * and in other programs.
 */
u64 user_code__body(struct user_code *code, u64 entry);
bool user_code__is_go(const struct user_code *code);

/*
 * Does a register hold the goroutine in this Go function (machine_goroutine() in jit/registers.h)? Also false for
 * assembly in a file without symbols, where its ABI is unknown.
 */
bool user_code__keeps_goroutine(const struct user_code *code, u64 function);

enum code_convention user_code__convention(const struct user_code *code, u64 address);

/* A C library, or a replacement of its allocator. */
bool user_code__is_c_library(const struct user_code *code);

/* Bytes that a return pops from the stack: 8, or 4 in a 32-bit program; 0 on arm64. */
u32 user_code__return_bytes(const struct user_code *code);

#endif /* TALLY_EVENT_USER_CODE_H */
