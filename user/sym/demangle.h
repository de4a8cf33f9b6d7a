/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns mangled symbols back into source names. */
#ifndef TALLY_SYM_DEMANGLE_H
#define TALLY_SYM_DEMANGLE_H

#include <sys/types.h>

#include "base/types.h"

#define DEMANGLED_MAX 16384

/*
 * Demangles a C++ or Rust symbol, with parameters, into buffer, NUL-terminated. Returns the length, or 0 if it is not
 * such a symbol, is longer than the buffer or DEMANGLED_MAX, or in a build without libiberty. Only for trusted symbols.
 */
size_t demangle(const char *symbol, char *buffer, size_t size);

/*
 * Demangles in a confined process (confined.h), since symbols may be crafted to attack the demangler. The process is
 * started for the first mangled symbol and kept for later ones. A symbol that cannot be demangled remains mangled;
 * after many failures, no more symbols are tried.
 */
struct demangler {
	int fd;                 /* connection to the process; -1: not started */
	pid_t pid;
	u32 failures;
};

void demangler__init(struct demangler *d);
void demangler__end(struct demangler *d);
size_t demangler__ask(struct demangler *d, const char *symbol, char *buffer, size_t size);

#endif /* TALLY_SYM_DEMANGLE_H */
