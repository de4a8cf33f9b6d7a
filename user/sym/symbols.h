/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to names, for stacks: of the kernel and its modules (kallsyms), and of processes (their
 * mappings, the ELF files mapped there with their separate debug files, the vdso, and the maps that
 * JIT compilers write to /tmp/perf-PID.map).
 *
 * Call symbols__see() while a process is alive; its mappings at that time can be queried after it
 * has exited. The files of its code are opened at that point (so deleted files and those of
 * containers are found) and parsed at the first lookup of an address in them: each file once,
 * however many processes map it.
 *
 * Nothing here is trusted. Children without rights parse the files; names may hold any bytes but
 * NUL and are not escaped: user/report does that.
 */
#ifndef TALLY_SYM_SYMBOLS_H
#define TALLY_SYM_SYMBOLS_H

#include "base/types.h"

struct symbols;

enum symbol_kind {
	SYMBOL_UNKNOWN,         /* nothing is mapped there, or the process was never seen */
	SYMBOL_KERNEL,
	SYMBOL_USER,            /* a mapping of the process: a file, or [heap], [stack], [anon] */
	SYMBOL_JIT,             /* named by the process's perf-PID.map */
	SYMBOL_VDSO,
};

/* The result of one lookup. Strings live until symbols__forget_names(), or as long as struct symbols. */
struct symbol {
	const char *name;       /* demangled; NULL: no symbol covers the address */
	u64 offset;             /* of the address from the symbol's start; 0 without a name */
	u64 size;               /* of the symbol; 0 without a name */
	/*
	 * Base name of the file, without " (deleted)": "libc.so.6"; for kernel code "[kernel]" or
	 * the module's name, "ext4"; "[vdso]", "[JIT]", "[heap]", "[anon]". NULL: no mapping.
	 */
	const char *module;
	const char *path;       /* of the file as the process sees it; NULL: not a file */
	/*
	 * The address in the module's own numbering: in an ELF file the virtual address by its
	 * program headers (as in nm and addr2line), in other files the offset. Elsewhere the offset
	 * from the start of the mapping, of the kernel's text or of the kernel module.
	 */
	u64 module_offset;
	enum symbol_kind kind;
	const u32 *mark;        /* of the file, see struct symbols_code; NULL: not in a file, or it was never opened */
	bool is_mixed;          /* other code was mapped there while it was counted */
	bool is_generated;      /* code that the process has generated; nothing names it */
};

int symbols__new(struct symbols **s);
void symbols__free(struct symbols *s);

/*
 * Records the mappings of process pid (in our /proc). Call it while the process is alive, whenever
 * its samples are processed: if nothing has changed, a call reads two small files. Earlier mappings
 * stay known unless something else is mapped there now; an exec discards all. -ESRCH: it has
 * exited, and what is known of it stays; else a negative errno.
 *
 * Bounded, so this can run for days: when all processes together have too many mappings (a million:
 * 80 MB), those seen longest ago are forgotten.
 */
int symbols__see(struct symbols *s, u32 pid);

/*
 * A file that a process is going to map, before it does. Takes ownership of fd, also on failure.
 * *mark is the file's, as in struct symbols_code. Returns 0 or -ENOMEM.
 */
struct stat;
int symbols__expect(struct symbols *s, int fd, const struct stat *st, u32 **mark);

/*
 * Side-band records of a process (perf_event_open(2): MMAP2, FORK, COMM and EXIT), with their
 * CLOCK_MONOTONIC time; call in order of time. They cover processes that exit before they can be
 * seen: mapped code, a copy of its parent, an exec, an exit. Files are opened at once, see
 * symbols__open_at_once(). A process may add some thousands of mappings at once and some hundreds a
 * second over time; more are skipped, and counted. replaced_ns: mapping time of the code that this
 * mapping replaces; unchanged if none of another name was there. Returns 0 or -ENOMEM.
 */
struct mapping_line;
int symbols__mapped(struct symbols *s, u32 pid, const struct mapping_line *line, u64 at_ns,
		    u64 *replaced_ns);
int symbols__forked(struct symbols *s, u32 pid, u32 parent, u64 at_ns);
int symbols__execed(struct symbols *s, u32 pid, u64 at_ns);
void symbols__exited(struct symbols *s, u32 pid, u64 at_ns);

/* The code replaced last in this process continued to be counted under its old name. */
void symbols__note_mixed(struct symbols *s, u32 pid);

/*
 * Rate-limited symbols__see(): skipped for ten times the duration of the last call if that was 5 ms
 * or more, and for processes with too many mappings. told_all: no record was lost; then only the
 * JIT map of a known process is checked.
 */
int symbols__see_again(struct symbols *s, u32 pid, bool told_all);

/* Forgets the processes and programs that had ended by then, and are known to be gone since. */
void symbols__forget_over(struct symbols *s, u64 before_ns);

/*
 * No returned name is used any more: forgets files that no known program maps, and frees the names of mappings that no
 * known program has.
 */
void symbols__forget_names(struct symbols *s);

/*
 * Had the program that process pid ran at at_ns ended before before_ns? Nobody tells when a process ends whose first
 * thread ends earlier, or which no record tells of: it has ended when this function has found its pid gone.
 */
bool symbols__is_over(struct symbols *s, u32 pid, u64 at_ns, u64 before_ns);

/* Amounts left out to stay within bounds. */
struct symbols_bounds {
	u64 skipped;            /* mappings of processes that created too many */
	u64 forgotten;          /* processes, of too many */
	u64 cut;                /* times that a process's mappings were not read completely */
	u64 unnamed;            /* mappings whose names took too much memory */
};
struct symbols_bounds symbols__bounds(const struct symbols *s);

/*
 * Code mapped by a process, for users that need the file, not names. mark belongs to the file or
 * vdso, starts at 0, and is for the caller's use as long as struct symbols lives; NULL: not in a
 * file, or the file could not be opened.
 */
struct symbols_code {
	u64 start, end, offset;
	const char *module;     /* as in struct symbol */
	u32 *mark;
};
/*
 * Calls visit for each mapping found by the last symbols__see(), by rising address, until it
 * returns non-zero, which is returned. *stamp is the process's stamp at that time (sym/mappings.h).
 * -ESRCH: never seen.
 */
typedef int (*code_visit)(void *arg, const struct symbols_code *code);
struct process_stamp;
int symbols__stamp(const struct symbols *s, u32 pid, struct process_stamp *stamp);
int symbols__each_code(struct symbols *s, u32 pid, code_visit visit, void *arg);
/* Opens the file, during visit. Returns a descriptor that the caller owns, or a negative errno. */
int symbols__open_code(struct symbols *s, u32 pid, const struct symbols_code *code);

/*
 * Looks up an address. It may point inside an instruction: for a caller in a stack, pass the return
 * address minus 1. Returns 0 with *found filled in, even if nothing is known, or -ENOMEM. For a
 * process, uses the mappings last seen.
 */
int symbols__kernel(struct symbols *s, u64 address, struct symbol *found);
/* From now on symbols__kernel() finds no names. They are not worth reading /proc/kallsyms where nobody sees them. */
void symbols__leave_kernel(struct symbols *s);
/*
 * Looks whether modules or BPF programs have come since the last look; symbols__kernel() does so by itself every tenth
 * of a second. A number that rises when kernel addresses may have other names than before.
 */
u64 symbols__kernel_changes(struct symbols *s);
/* at_ns: use the mappings and the program of that time. */
int symbols__user_at(struct symbols *s, u32 pid, u64 at_ns, u64 address, struct symbol *found);
int symbols__user(struct symbols *s, u32 pid, u64 address, struct symbol *found);

/*
 * The next file whose symbols are missing because it could not be read completely, NULL: no more.
 * *at starts at 0. *why is a text for messages.
 */
const char *symbols__unread(const struct symbols *s, size_t *at, const char **why);

#endif /* TALLY_SYM_SYMBOLS_H */
