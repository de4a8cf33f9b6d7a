/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug information of one file, and the unprivileged process that reads it (confined.h). The first query starts
 * the process; later queries use it, too.
 */
#ifndef TALLY_SYM_SOURCE_FILE_H
#define TALLY_SYM_SOURCE_FILE_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/confined.h"
#include "sym/source.h"

struct source_file {
	int fd;                 /* with the debug information; -1: none */
	int alt_fd;             /* file with the parts that dwz(1) moved out to share; -1: none */
	u64 moved;              /* see struct elf_symbols */
	int err;                /* for symbols__sourceless(); 0: not known to lack information */
	const char *name;       /* the name used in queries; NULL: never queried */
	int ask_fd;             /* to the reader; -1: not running */
	pid_t pid;
	u32 failures;           /* in a row */
	void *known;            /* tree of resolved addresses */
	TAILQ_ENTRY(source_file) order;         /* in the list of files with a reader */
	STAILQ_ENTRY(source_file) next;         /* in the list of queried files */
};

void source_file__init(struct source_file *f);
void source_file__free(struct source_file *f);

/* All source files: the strings they share, and their readers. */
struct sources {
	void *texts;                            /* tree */
	TAILQ_HEAD(readers, source_file) readers;       /* least recently queried first */
	size_t nreaders;
	STAILQ_HEAD(asked, source_file) asked;
	size_t nfiles;                          /* held open */
	struct allowance *allowance;            /* for querying other users' files; NULL: none */
};

void sources__init(struct sources *s);
/* Keeps an opened file open unless too many are open. */
void sources__admit(struct sources *s, struct source_file *f);
/*
 * Resolves an address of the mapped file called name: see symbols__user_source(). The strings live
 * as long as s, the array as long as f.
 */
int sources__ask(struct sources *s, struct source_file *f, const char *name, u64 address,
		 const struct source_place **place, size_t *n);
/*
 * Parses an answer of the unprivileged process, which is untrusted. place has room for SOURCE_MAX_PLACES. -EBADMSG:
 * malformed. -ENOMEM.
 */
#define SOURCE_MAX_PLACES 64
int sources__take(struct sources *s, const char *answer, size_t size, struct source_place *place,
		  size_t *n);

/* See symbols__sourceless(). */
const char *sources__sourceless(const struct sources *s, size_t *at, int *why);
/* Call before the struct source_files are freed. */
void sources__free(struct sources *s);

#endif /* TALLY_SYM_SOURCE_FILE_H */
