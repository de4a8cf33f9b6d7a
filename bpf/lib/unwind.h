/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables for walking user stacks through code without frame pointers: the .eh_frame rules for each instruction, in a
 * form that a program can look up. Built by user/unwind, used by unwind.bpf.h.
 *
 * The tables of all files share one space of words, divided into lines of 64 bytes (a cache line, a map element) and
 * slabs of 1 MiB (a map, so that memory is allocated as files are added): word w is line[w / 16 %
 * UNWIND_SLAB_LINES].word[w % 16] of slab w / UNWIND_SLAB_WORDS.
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
 * The code of a file from start, a multiple of a page, in virtual addresses of its program headers. word[index + p] is
 * the number of rows before page p, word[index + pages] the total. word[rows + i] is row i: the low 8 bits are the byte
 * of its page from which a rule applies, the other bits are the rule's number. Rows ascend; the first is at the first
 * byte, so the rule at an address is that of the last row at or before it, in its page or an earlier one.
 */
#define UNWIND_PAGE_BITS 8
#define UNWIND_PAGE (1 << UNWIND_PAGE_BITS)
#define UNWIND_MOST_ROWS_OF_A_PAGE UNWIND_PAGE

struct unwind_file {
	__u64 start;
	__u32 pages;
	__u32 index, rows;      /* positions in the space of words */
	__u32 pad;
};

/* How to compute the caller's stack pointer (the CFA: DWARF's canonical frame address). */
enum unwind_cfa {
	UNWIND_UNKNOWN,         /* no rule for this code: walk by frame pointers */
	UNWIND_END,             /* the outermost function: no caller */
	UNWIND_UNSUPPORTED,     /* the rule has an unsupported form */
	UNWIND_SP,              /* sp + offset */
	UNWIND_FP,              /* fp + offset */
	UNWIND_SP_DEREF,        /* *(sp + offset) + second */
	UNWIND_FP_DEREF,        /* *(fp + offset) + second */
	UNWIND_PLT,             /* sp + offset, and 8 more if ip % 16 >= second */
	UNWIND_BASE,            /* base + offset: rbx on x86-64 */
	UNWIND_SIGNAL,          /* sp points to the signal frame that the kernel pushed, which contains all registers */
};

/* Location of the caller's fp (rbp, x29). */
enum unwind_fp {
	UNWIND_FP_SAME,         /* still in fp */
	UNWIND_FP_AT_CFA,       /* *(CFA + fp_offset) */
	UNWIND_FP_AT_FP,        /* *(fp + fp_offset) */
	UNWIND_FP_LOST,
};

/* Rules are shared by all files, without duplicates; number 0 is UNWIND_UNKNOWN. */
struct unwind_rule {
	__u8 cfa;               /* enum unwind_cfa */
	__u8 fp;                /* enum unwind_fp */
	__s16 second;
	__s32 offset;
	__s32 fp_offset;
	__s32 ra_offset;        /* the return address is *(CFA + ra_offset); 0: in the link register (walk_regs.h) */
	__s32 base_at;          /* enum unwind_base, or the caller's base is *(CFA + base_at) */
};

/*
 * Location of the caller's base register, in the rules of files that have an UNWIND_BASE. The only such file is the
 * dynamic linker, where the callees of such a function save the register; the rules of other files mark it as lost.
 */
enum unwind_base {
	UNWIND_BASE_LOST,
	UNWIND_BASE_SAME,       /* still in the register */
};

#define UNWIND_RULES (1 << 14)

/* A code mapping of a process; sorted by address in the array of all mappings. */
struct unwind_mapping {
	__u64 start, end;
	__u64 bias;             /* address minus bias is a virtual address of the file */
	__u32 file;             /* number, or UNWIND_NO_FILE */
	__u32 token;            /* nonzero for a file that the loader still reads: bias is then the file offset */
};

/* A token that no file has: it is unknown whether a table exists for this code. */
#define UNWIND_UNSEEN 0xffffffffU

/* For each token modulo this, walks count how often they lacked the table of a file still being read. */
#define UNWIND_LACKS (1 << 10)

#define UNWIND_FILES (1 << 12)
#define UNWIND_NO_FILE 0xffffffffU       /* no tables: walk by frame pointers */

/*
 * A file with tables, as a program finds it behind a mapping of a process that the loader has not seen yet. All four
 * members of the key identify it, because inode numbers are reused. Addresses of its code are those of a segment:
 * offset in the file, plus delta.
 */
#define UNWIND_SEGMENTS 4               /* of code; files with more segments are not found this way */

struct unwind_identity {
	__u64 inode, size;
	__s64 modified_s;
	__u32 modified_ns;
	__u32 device;                   /* as in the kernel: major << 20 | minor; or UNWIND_ANY_DEVICE */
};

/*
 * On overlayfs and btrfs, stat(2) reports a device other than the one that the kernel finds behind a mapping. So a file
 * that root owns on such a device is also known without its device.
 */
#define UNWIND_ANY_DEVICE 0xffffffffU

struct unwind_found {
	__u32 file;
	__u32 n;                        /* segments */
	struct {
		__u64 from, to;         /* offsets, of whole pages */
		__u64 delta;
	} segment[UNWIND_SEGMENTS];
};

#define UNWIND_MAPPINGS (1 << 16)       /* of all processes */

/*
 * A process, by tgid. code and stack are mm->start_code and start_stack (fields 26 and 28 of /proc/PID/stat), which
 * change at an exec but not at a fork: if they differ, the entry belongs to an earlier program. The elements
 * mapping[first .. first + n) do not change while a program may read them, except that files become known: bias is
 * written first, then file, and programs read them in the opposite order.
 */
struct unwind_space {
	__u64 code, stack;
	__u32 first, n;
};

#define UNWIND_SPACES (1 << 14)

_Static_assert(sizeof(struct unwind_file) == 24, "unwind_file has padding");
_Static_assert(sizeof(struct unwind_rule) == 20, "unwind_rule has padding");
_Static_assert(sizeof(struct unwind_identity) == 32, "unwind_identity has padding");
_Static_assert(sizeof(struct unwind_found) == 8 + 24 * UNWIND_SEGMENTS, "unwind_found has padding");
_Static_assert(sizeof(struct unwind_mapping) == 32, "unwind_mapping has padding");
_Static_assert(sizeof(struct unwind_space) == 24, "unwind_space has padding");

#endif /* TALLY_UNWIND_H */
