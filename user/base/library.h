/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared libraries that only some uses of a tool need: loaded then, so that no other start pays for them, and a
 * host may lack them.
 */
#ifndef TALLY_BASE_LIBRARY_H
#define TALLY_BASE_LIBRARY_H

#include "base/types.h"

struct library_function {
	const char *name;
	void **function;        /* where it is to go */
};

/* Loads it for good and finds all functions. NULL, or why it cannot be used: dlerror(3), until the next such call. */
const char *library__load(const char *soname, const struct library_function *function, size_t n);

#endif /* TALLY_BASE_LIBRARY_H */
