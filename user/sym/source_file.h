/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug information of one file, and the process without rights that reads it (confined.h):
 * started by the first question, and kept for the next ones.
 */
#ifndef TALLY_SYM_SOURCE_FILE_H
#define TALLY_SYM_SOURCE_FILE_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/confined.h"
#include "sym/source.h"

struct source_file {
	int fd;                 /* with the debug information; -1: none */
	int alt_fd;             /* with what dwz(1) has moved out of it; -1: none */
	u64 moved;              /* see struct elf_symbols */
	int err;                /* of symbols__sourceless(); 0: it may say something */
	const char *name;       /* it was asked about under this one; NULL: never */
	int ask_fd;             /* to the reader; -1: none runs */
	pid_t pid;
	u32 failures;           /* one after the other */
	void *known;            /* tree of addresses */
	TAILQ_ENTRY(source_file) order;         /* of those with a reader */
	STAILQ_ENTRY(source_file) next;         /* of those that were asked about */
};

void source_file__init(struct source_file *f);
void source_file__free(struct source_file *f);

/* All of them: the texts they share, and their readers. */
struct sources {
	void *texts;                            /* tree */
	TAILQ_HEAD(readers, source_file) readers;       /* the one asked longest ago first */
	size_t nreaders;
	STAILQ_HEAD(asked, source_file) asked;
	size_t nfiles;                          /* held open */
	struct allowance *allowance;            /* for asking about files of others; NULL: none */
};

void sources__init(struct sources *s);
/* Of a file that has been opened: it stays so if there are not too many. */
void sources__admit(struct sources *s, struct source_file *f);
/*
 * What is at an address of the mapped file, which is called name: see symbols__user_source(). The
 * texts live as long as s, the array as long as f.
 */
int sources__ask(struct sources *s, struct source_file *f, const char *name, u64 address,
		 const struct source_place **place, size_t *n);
/*
 * What is made of an answer of the process without rights, whatever it is. place has room for
 * SOURCE_MAX_PLACES. -EBADMSG: it is none. -ENOMEM.
 */
#define SOURCE_MAX_PLACES 64
int sources__take(struct sources *s, const char *answer, size_t size, struct source_place *place,
		  size_t *n);

/* See symbols__sourceless(). */
const char *sources__sourceless(const struct sources *s, size_t *at, int *why);
/* While its files are still there. */
void sources__free(struct sources *s);

#endif /* TALLY_SYM_SOURCE_FILE_H */
