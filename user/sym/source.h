/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to places in the source, by the debug information (DWARF) of the files that code runs
 * from, or of their separate debug files. Those are read by children without rights (confined.h).
 *
 * Nothing here is trusted: names may hold any bytes but NUL, as in symbols.h.
 */
#ifndef TALLY_SYM_SOURCE_H
#define TALLY_SYM_SOURCE_H

#include "base/types.h"

struct symbols;

/* A function at an address, and where in its source that is. */
struct source_place {
	const char *function;   /* demangled; NULL: not said */
	const char *file;       /* with its directory, where the compiler found it; NULL: not said */
	u32 line;               /* 0: not said */
};

/*
 * To be called before the first symbols__see(): what sources need is kept from then on. A file
 * with debug information stays open (at most SOURCE_MAX_FILES of them), and separate debug files
 * are looked for even where a file has all its symbols. -EOPNOTSUPP: a build without libdw.
 */
#define SOURCE_MAX_FILES 256
int symbols__want_source(struct symbols *s);

/*
 * What the debug information says is at an address, the innermost first: functions inlined there,
 * and last the one that holds them. Each but the first is at the line of its call. *n = 0: it says
 * nothing. For a caller in a stack, give the return address less 1. Array and texts live as long
 * as struct symbols. Returns 0 or -ENOMEM.
 */
int symbols__user_source(struct symbols *s, u32 pid, u64 at_ns, u64 address,
			 const struct source_place **place, size_t *n);
/* The same of the kernel and its modules, whose debug information is not read: *n is 0. */
int symbols__kernel_source(struct symbols *s, u64 address, const struct source_place **place,
			   size_t *n);

/*
 * The next file that was asked about and had nothing to say, NULL: no more. *at: 0 at first.
 * why: -ENODATA: it has no debug information, nor was a file with it found; -EBADMSG: it is
 * damaged, or takes too long; -EMFILE: SOURCE_MAX_FILES others are open.
 */
const char *symbols__sourceless(const struct symbols *s, size_t *at, int *why);

#endif /* TALLY_SYM_SOURCE_H */
