/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to names, for stacks: those of the kernel and its modules (kallsyms), and those of
 * processes (their mappings, the ELF files mapped there with their separate debug files, the
 * vdso, and the maps that JIT compilers write to /tmp/perf-PID.map).
 *
 * A process is to be seen while it is alive, symbols__see(); what it had mapped then can be
 * asked for after it has gone. The files of its code are opened when it is seen (so deleted
 * ones and those of containers are found) and parsed when the first address in them is asked
 * for: each file once, however many processes map it.
 *
 * Nothing here is trusted. Files are parsed in a child without rights; names may hold any bytes
 * but NUL, and are not escaped: that is the work of user/report.
 */
#ifndef TALLY_SYM_SYMBOLS_H
#define TALLY_SYM_SYMBOLS_H

#include "base/types.h"

struct symbols;

enum symbol_kind {
	SYMBOL_UNKNOWN,         /* nothing is mapped there, or the process was never seen */
	SYMBOL_KERNEL,
	SYMBOL_USER,            /* a mapping of the process: a file, or [heap], [stack], [anon] */
	SYMBOL_JIT,             /* named by the process's own perf-PID.map */
	SYMBOL_VDSO,
};

/* What is known of one address. The texts live as long as struct symbols. */
struct symbol {
	const char *name;       /* demangled; NULL: no symbol covers the address */
	u64 offset;             /* of the address from the symbol's start; 0 without a name */
	u64 size;               /* of what the name stands for; 0 without one */
	/*
	 * Base name of the file, without " (deleted)": "libc.so.6"; of kernel code "[kernel]" or
	 * the module's name, "ext4"; "[vdso]", "[JIT]", "[heap]", "[anon]". NULL: no mapping.
	 */
	const char *module;
	const char *path;       /* of the file as the process sees it; NULL: it is no file */
	/*
	 * The address in the module's own numbering: in an ELF file the virtual address that its
	 * program headers give (what nm and addr2line say), in other files the offset. Elsewhere
	 * bytes from the start of the mapping, of the kernel's text or of the kernel module.
	 */
	u64 module_offset;
	enum symbol_kind kind;
	bool is_mixed;          /* other code was mapped there while it was counted */
};

int symbols__new(struct symbols **s);
void symbols__free(struct symbols *s);

/*
 * Takes down what process pid (as this process's /proc numbers it) has mapped. To be called while
 * it is alive, as often as its samples are looked at: if nothing has changed, a call reads two
 * small files. What was mapped earlier stays known where nothing else is mapped now; after an
 * exec nothing stays. -ESRCH: it has gone, and what was seen of it stays; else a negative errno.
 *
 * The processes seen longest ago are forgotten when all together have too many mappings (a
 * million: 80 MB), so this can go on for days.
 */
int symbols__see(struct symbols *s, u32 pid);

/*
 * What the kernel told of a process as it happened (perf_event_open(2): MMAP2, FORK, COMM and EXIT records), and
 * when, by CLOCK_MONOTONIC; in order of time. It is known even of one that has gone before it could be seen: it
 * has mapped this code; it is a copy of its parent; it has become another program; it has ended. Files are
 * opened at once, see symbols__open_at_once(). A process is let tell of some thousands of mappings at once and
 * some hundreds a second for long; the others are skipped, and counted. replaced_ns: since when
 * the code was there that this mapping takes the place of; unchanged if there was none of another name.
 * 0 or -ENOMEM.
 */
struct mapping_line;
int symbols__mapped(struct symbols *s, u32 pid, const struct mapping_line *line, u64 at_ns,
		    u64 *replaced_ns);
int symbols__forked(struct symbols *s, u32 pid, u32 parent, u64 at_ns);
int symbols__execed(struct symbols *s, u32 pid, u64 at_ns);
void symbols__exited(struct symbols *s, u32 pid, u64 at_ns);

/* What was replaced last in this process went on being counted under its old name. */
void symbols__note_mixed(struct symbols *s, u32 pid);

/*
 * symbols__see() within bounds: not again in ten times what it took, if that was 5 ms or more, nor of one that maps
 * so much that its mappings cannot be looked at. told_all: no record was lost; then of one that is known only the
 * map of its compiler is looked at.
 */
int symbols__see_again(struct symbols *s, u32 pid, bool told_all);

/* Forgets the processes and programs that had ended then. */
void symbols__forget_over(struct symbols *s, u64 before_ns);

/* No name that was given out is used any more: files that no program has mapped that is known are forgotten. */
void symbols__forget_names(struct symbols *s);

/* Had the program ended before before_ns, that process pid ran at at_ns? */
bool symbols__is_over(const struct symbols *s, u32 pid, u64 at_ns, u64 before_ns);

/* What was left out to stay within bounds. */
struct symbols_bounds {
	u64 skipped;            /* mappings, of processes that made too many */
	u64 forgotten;          /* processes, of too many */
	u64 cut;                /* times that what a process has mapped was not read to the end */
	u64 unnamed;            /* mappings whose names were too much */
};
struct symbols_bounds symbols__bounds(const struct symbols *s);

/*
 * Code that a process has mapped, for those who want to know more of files than names. mark is the
 * file's or the vdso's, 0 at first, for the caller's use as long as struct symbols; NULL: it is in no
 * file, or in one that could not be opened.
 */
struct symbols_code {
	u64 start, end, offset;
	u32 *mark;
};
/*
 * Calls visit for each, in order of address, until it returns non-zero, which is passed on: what the
 * last symbols__see() found. What this is of is in *stamp (sym/mappings.h). -ESRCH: it was not seen.
 */
typedef int (*code_visit)(void *arg, const struct symbols_code *code);
struct process_stamp;
int symbols__stamp(const struct symbols *s, u32 pid, struct process_stamp *stamp);
int symbols__each_code(struct symbols *s, u32 pid, code_visit visit, void *arg);
/* Opens the file, from visit. The descriptor is the caller's; or a negative errno. */
int symbols__open_code(struct symbols *s, u32 pid, const struct symbols_code *code);

/*
 * What is at an address. Addresses inside an instruction will do: for the caller in a stack, give
 * the return address less 1. 0, even if nothing is known: *found is filled in with what is. Else
 * -ENOMEM. Of a process, what it had mapped when it was last seen.
 */
int symbols__kernel(struct symbols *s, u64 address, struct symbol *found);
/* at_ns: what it had mapped then, and what program it was. */
int symbols__user_at(struct symbols *s, u32 pid, u64 at_ns, u64 address, struct symbol *found);
int symbols__user(struct symbols *s, u32 pid, u64 address, struct symbol *found);

/*
 * The next file that names are missing of because it could not be read as a whole, NULL: no more.
 * *at: 0 at first. *why: for people.
 */
const char *symbols__unread(const struct symbols *s, size_t *at, const char **why);

#endif /* TALLY_SYM_SYMBOLS_H */
