/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that code runs from, known by device, inode, size and time: mapped by a thousand
 * processes it is one. It is held open until its symbols are read, which happens once.
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
	int fd;                 /* -1: read, or given up */
	int code_fd;            /* kept open for its code (code.h); -1: not */
	u32 pid;                /* the last process seen to map it, 0: none */
	char *path;             /* as that one sees it; NULL: it has none */
	u32 uid;                /* whose it is */
	bool is_elf;
	int err;                /* why names of it are missing, to be told; 0: none are for that */
	bool is_told;           /* of struct symbols, as unread */
	bool is_mapped;         /* see symbols__close_unmapped() */
	bool is_closed;         /* by that: to be opened, and read, anew */
	STAILQ_ENTRY(mapped_file) next;
	struct elf_symbols symbols;
	struct source_file source;      /* fd -1 unless sources are wanted */
	u32 mark;               /* see struct symbols_code */
};

/* fd is taken over, also on failure. NULL: no memory. */
struct mapped_file *mapped_file__new(int fd, const struct stat *st);
void mapped_file__free(struct mapped_file *f);

/*
 * Closes it, and forgets what was read of it; and the other way round, where it is closed, with the descriptor of another
 * one of the same file.
 */
void mapped_file__close(struct mapped_file *f);
void mapped_file__open_again(struct mapped_file *f, struct mapped_file *other);

/* Which is which. */
int mapped_file__compare(const void *a, const void *b);

/*
 * Reads the symbols, if that has not been done: of the file, and if it has been stripped, of its
 * debug file, which is looked for below /usr/lib/debug by build ID and beside the file by its
 * link, in the root of the process and then in our own, and has to be root's or of the file's
 * owner. A file that cannot be read has none. Where a signal waits, it stays unread: another call
 * may read it. Returns 0 or -ENOMEM.
 */
struct reading_wish {
	bool source;    /* keep the file with the debug information open, and look for it likewise */
	struct allowance *allowance;    /* see base/confined.h */
};

int mapped_file__read(struct mapped_file *f, const struct reading_wish *want);

#endif /* TALLY_SYM_MAPPED_FILE_H */
