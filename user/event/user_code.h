/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Analyses the code of a program or library for probes. Finds instruction boundaries, since a breakpoint inside an
 * instruction corrupts the program, and the instructions that end a function, to probe its ends without changing the
 * return address on the stack. A changed return address kills the program when an exception passes through the
 * function.
 *
 * Files are untrusted: unprivileged processes parse and disassemble them.
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
 * Checks whether an instruction begins at an address. Returns 0 if so; -EILSEQ if not, with the nearest boundaries in
 * *near; -ENODATA if unknown.
 */
int user_code__check(struct user_code *code, u64 address, struct code_neighbours *near);

/* True if code can be disassembled. False without capstone (sym/disassembly.h): tally then relies on other sources. */
bool user_code__is_looked_at(void);

/* True if the instruction is a no-op, like those of USDT probes. */
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
 * True if a register holds the goroutine in this Go function (machine_goroutine() in jit/registers.h). False for
 * assembly in a file without symbols, where the ABI is unknown.
 */
bool user_code__keeps_goroutine(const struct user_code *code, u64 function);

enum code_convention user_code__convention(const struct user_code *code, u64 address);

/* True for a C library, or a replacement allocator. */
bool user_code__is_c_library(const struct user_code *code);

/* Bytes that a return pops from the stack: 8, or 4 in a 32-bit program; 0 on arm64. */
u32 user_code__return_bytes(const struct user_code *code);

#endif /* TALLY_EVENT_USER_CODE_H */
