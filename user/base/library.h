/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared libraries that a tool rarely needs, loaded on demand, so that other uses do not pay for them and hosts need
 * not have them.
 */
#ifndef TALLY_BASE_LIBRARY_H
#define TALLY_BASE_LIBRARY_H

#include "base/types.h"

struct library_function {
	const char *name;
	void **function;        /* where to store its address */
};

/*
 * Loads the library, which is never unloaded, and looks up all functions. Returns NULL, or the error
 * as text: dlerror(3), valid until its next call.
 */
const char *library__load(const char *soname, const struct library_function *function, size_t n);

#endif /* TALLY_BASE_LIBRARY_H */
