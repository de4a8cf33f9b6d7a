/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables by which user stacks are walked through code that keeps no frame pointers: what .eh_frame
 * says of each instruction, in a form that a program can look up. Made by user/unwind, walked by
 * unwind.bpf.h.
 *
 * What is said of files is in one space of words, cut into lines of 64 bytes (a cache line, an element
 * of a map) and slabs of 1 MiB (a map, so that memory is taken as files are added): word w is
 * line[w / 16 % UNWIND_SLAB_LINES].word[w % 16] of slab w / UNWIND_SLAB_WORDS.
 */
#ifndef TALLY_UNWIND_H
#define TALLY_UNWIND_H

#define UNWIND_LINE_WORDS 16
#define UNWIND_SLAB_LINES (1 << 14)
#define UNWIND_SLAB_WORDS (UNWIND_SLAB_LINES * UNWIND_LINE_WORDS)
#define UNWIND_SLABS 256                /* 256 MiB at most */

struct unwind_line {
	__u32 word[UNWIND_LINE_WORDS];
};

/*
 * The code of a file, from start on, a multiple of a page, by the virtual addresses of its program
 * headers. word[index + p] is the number of rows before page p, word[index + pages] that of all.
 * word[rows + i] is row i: from which byte of its page on (the low 8 bits) which rule holds (the
 * others: its number). Rows rise; the first one is of the first byte, so that the rule at an address
 * is that of the last row not behind it, in its page or before.
 */
#define UNWIND_PAGE_BITS 8
#define UNWIND_PAGE (1 << UNWIND_PAGE_BITS)
#define UNWIND_MOST_ROWS_OF_A_PAGE UNWIND_PAGE

struct unwind_file {
	__u64 start;
	__u32 pages;
	__u32 index, rows;      /* words */
	__u32 pad;
};

/* How the caller's stack pointer (the CFA: the canonical frame address of DWARF) is found. */
enum unwind_cfa {
	UNWIND_UNKNOWN,         /* nothing is said of this code: the walk goes by frame pointers */
	UNWIND_END,             /* the outermost function: there is no caller */
	UNWIND_UNSUPPORTED,     /* said in a way that is not followed */
	UNWIND_RSP,             /* rsp + offset */
	UNWIND_RBP,             /* rbp + offset */
	UNWIND_RSP_DEREF,       /* *(rsp + offset) + second */
	UNWIND_RBP_DEREF,       /* *(rbp + offset) + second */
	UNWIND_PLT,             /* rsp + offset, and 8 more if rip % 16 >= second */
	UNWIND_SIGNAL,          /* rsp is at a struct ucontext: all registers are there */
};

/* Where the caller's rbp is. Its rip is always below the CFA. */
enum unwind_rbp {
	UNWIND_RBP_SAME,        /* still in rbp */
	UNWIND_RBP_AT_CFA,      /* *(CFA + rbp_offset) */
	UNWIND_RBP_AT_RBP,      /* *(rbp + rbp_offset) */
	UNWIND_RBP_LOST,
};

/* Rules are shared by all files, equal ones kept once; number 0 is UNWIND_UNKNOWN. */
struct unwind_rule {
	__u8 cfa;               /* enum unwind_cfa */
	__u8 rbp;               /* enum unwind_rbp */
	__s16 second;
	__s32 offset;
	__s32 rbp_offset;
	__u32 pad;
};

#define UNWIND_RULES (1 << 14)

/* Code that a process has mapped, in order of address in the array of all mappings. */
struct unwind_mapping {
	__u64 start, end;
	__u64 bias;             /* an address less bias is one of the file's own */
	__u32 file;             /* number, or UNWIND_NO_FILE */
	__u32 token;            /* of the loader, of a file that is still read: bias is the offset in it; 0 */
};

#define UNWIND_FILES (1 << 12)
#define UNWIND_NO_FILE 0xffffffffU       /* nothing is said of it: the walk goes by frame pointers */

#define UNWIND_MAPPINGS (1 << 16)       /* of all processes */

/*
 * What is known of a process, by its tgid. code and stack are mm->start_code and start_stack (fields
 * 26 and 28 of /proc/PID/stat), which change with an exec and not with a fork: where they differ, this
 * is of a program that has gone. mapping[first .. first + n) does not change while a program may look, but that
 * files become known: bias first and then file, which is read in the opposite order.
 */
struct unwind_space {
	__u64 code, stack;
	__u32 first, n;
};

#define UNWIND_SPACES (1 << 14)

_Static_assert(sizeof(struct unwind_file) == 24, "unwind_file has padding");
_Static_assert(sizeof(struct unwind_rule) == 16, "unwind_rule has padding");
_Static_assert(sizeof(struct unwind_mapping) == 32, "unwind_mapping has padding");
_Static_assert(sizeof(struct unwind_space) == 24, "unwind_space has padding");

#endif /* TALLY_UNWIND_H */
