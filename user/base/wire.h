/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serialises results of a confined process (base/confined.h). The reader reads values in the same
 * order and does not trust them. Errors are sticky on both sides: later puts are no-ops, later gets
 * return 0 or NULL.
 */
#ifndef TALLY_BASE_WIRE_H
#define TALLY_BASE_WIRE_H

#include <sys/types.h>

#include "base/types.h"

struct wire {           /* initialise to all zeros */
	char *data;     /* the caller frees it */
	size_t n, room;
	int err;        /* -ENOMEM */
};

void wire__put(struct wire *w, const void *data, size_t size);
void wire__number(struct wire *w, u64 number);
void wire__text(struct wire *w, const char *text);      /* may be NULL */
/* Puts the number of elements and the elements. */
void wire__array(struct wire *w, const void *array, u64 n, size_t each);

struct unwire {
	const char *at;
	size_t left;
	int err;        /* -EBADMSG: too short; -ENOMEM */
};

void unwire__get(struct unwire *u, void *data, size_t size);
u64 unwire__number(struct unwire *u);
char *unwire__text(struct unwire *u);                   /* allocated; NULL if NULL was put */
void *unwire__array(struct unwire *u, u64 *n, size_t each);     /* allocated */
/* Gets a number of elements. Fails unless that many elements of at least least bytes can follow. */
u64 unwire__count(struct unwire *u, size_t least);

#endif /* TALLY_BASE_WIRE_H */
