/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of a process without rights (base/confined.h) as bytes: put in order, taken in the same
 * order by who does not believe them. Both are sticky: after an error nothing more is put, and what
 * is taken is 0 or NULL.
 */
#ifndef TALLY_BASE_WIRE_H
#define TALLY_BASE_WIRE_H

#include <sys/types.h>

#include "base/types.h"

struct wire {           /* all 0 at first */
	char *data;     /* to be freed */
	size_t n, room;
	int err;        /* -ENOMEM */
};

void wire__put(struct wire *w, const void *data, size_t size);
void wire__number(struct wire *w, u64 number);
void wire__text(struct wire *w, const char *text);      /* may be NULL */
/* The number of things and the things. */
void wire__array(struct wire *w, const void *array, u64 n, size_t each);

struct unwire {
	const char *at;
	size_t left;
	int err;        /* -EBADMSG: there was less; -ENOMEM */
};

void unwire__get(struct unwire *u, void *data, size_t size);
u64 unwire__number(struct unwire *u);
char *unwire__text(struct unwire *u);                   /* new memory; NULL: that was put */
void *unwire__array(struct unwire *u, u64 *n, size_t each);     /* new memory */
/* How many things follow, of which each takes so many bytes at least. */
u64 unwire__count(struct unwire *u, size_t least);

#endif /* TALLY_BASE_WIRE_H */
