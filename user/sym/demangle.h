/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as their authors wrote them. */
#ifndef TALLY_SYM_DEMANGLE_H
#define TALLY_SYM_DEMANGLE_H

#include <sys/types.h>

#include "base/types.h"

#define DEMANGLED_MAX 16384

/*
 * The name that a C++ or Rust compiler has made a symbol from, with its parameters. 0: it is no
 * such symbol, its name would be longer than the buffer or DEMANGLED_MAX, or the build is without
 * libiberty. Else the length in buffer, which has a NUL. Only for names one can trust.
 */
size_t demangle(const char *symbol, char *buffer, size_t size);

/*
 * The same done by a confined process (confined.h), since a symbol may be made to hurt: it is
 * started for the first one that needs it, and stays. A name it fails on is not demangled, and if
 * it fails on many, no more are.
 */
struct demangler {
	int fd;                 /* to ask it; -1: not started */
	pid_t pid;
	u32 failures;
};

void demangler__init(struct demangler *d);
void demangler__end(struct demangler *d);
size_t demangler__ask(struct demangler *d, const char *symbol, char *buffer, size_t size);

#endif /* TALLY_SYM_DEMANGLE_H */
