/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file with code, identified by device, inode, size and modification time, so that a file mapped by a thousand
 * processes is one object. The file is held open until its symbols have been read, which is done once.
 */
#ifndef TALLY_SYM_MAPPED_FILE_H
#define TALLY_SYM_MAPPED_FILE_H

#include <sys/queue.h>
#include <sys/stat.h>

#include "base/confined.h"
#include "sym/elf_symbols.h"
#include "sym/source_file.h"

struct mapped_file {
	u64 dev, inode, size;
	s64 modified_ns;
	int fd;                 /* -1: symbols read, or given up */
	int code_fd;            /* kept open to read code (code.h); -1: not */
	u32 pid;                /* the last process seen to map it; 0: none */
	char *path;             /* its path in that process; NULL: none */
	u32 uid;                /* owner */
	bool is_elf;
	int err;                /* why its symbols are missing, to be reported; 0: nothing is missing */
	bool is_told;           /* is in the unread list of struct symbols */
	bool is_mapped;         /* see symbols__close_unmapped() */
	bool is_closed;         /* closed by symbols__close_unmapped(): reopen and reread it */
	STAILQ_ENTRY(mapped_file) next;
	struct elf_symbols symbols;
	struct source_file source;      /* fd -1 unless sources are wanted */
	u32 mark;               /* see struct symbols_code */
};

/* Takes ownership of fd, also on failure. NULL: no memory. */
struct mapped_file *mapped_file__new(int fd, const struct stat *st);
void mapped_file__free(struct mapped_file *f);

/*
 * Closes the file and forgets its symbols. mapped_file__open_again() reverses this with another descriptor of the same
 * file.
 */
void mapped_file__close(struct mapped_file *f);
void mapped_file__open_again(struct mapped_file *f, struct mapped_file *other);

/* Compares by identity, for tsearch(3). */
int mapped_file__compare(const void *a, const void *b);

/*
 * Reads the symbols, once: of the file and, if it is stripped, of its debug file. The debug file is searched by build
 * ID below /usr/lib/debug and by debug link beside the file, in the root of the process and then in ours, and must be
 * owned by root or the file's owner. An unreadable file has no symbols. If a signal is pending, the file remains unread
 * until a later call. Returns 0 or -ENOMEM.
 */
struct reading_wish {
	bool source;    /* also look for a debug file with debug information, and keep that open */
	struct allowance *allowance;    /* see base/confined.h */
};

int mapped_file__read(struct mapped_file *f, const struct reading_wish *want);

#endif /* TALLY_SYM_MAPPED_FILE_H */
