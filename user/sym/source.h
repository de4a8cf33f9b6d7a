/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps addresses to source locations, by the debug information (DWARF) of the code's file or its separate debug file.
 * Unprivileged children read these files (confined.h).
 *
 * The results are untrusted: names may contain any bytes but NUL, as in symbols.h.
 */
#ifndef TALLY_SYM_SOURCE_H
#define TALLY_SYM_SOURCE_H

#include "base/types.h"

struct symbols;

/* A function at an address, and its source location. */
struct source_place {
	const char *function;   /* demangled; NULL: unknown */
	const char *file;       /* with its directory at compile time; NULL: unknown */
	u32 line;               /* 0: unknown */
};

/*
 * Call before the first symbols__see(), so that files needed for source locations are kept: files with debug
 * information remain open (at most SOURCE_MAX_FILES), and separate debug files are searched even for files with full
 * symbols. -EOPNOTSUPP: a build without libdw.
 */
#define SOURCE_MAX_FILES 256
int symbols__want_source(struct symbols *s);

/*
 * Finds the functions at an address, innermost first: the functions inlined there, then the function that contains
 * them. Each but the first is at the line of its call. *n = 0: no information. For a caller in a stack, pass the return
 * address minus 1. Array and strings live as long as struct symbols. Returns 0 or -ENOMEM.
 */
int symbols__user_source(struct symbols *s, u32 pid, u64 at_ns, u64 address,
			 const struct source_place **place, size_t *n);
/* Same for the kernel and its modules, whose debug information is not read: *n is 0. */
int symbols__kernel_source(struct symbols *s, u64 address, const struct source_place **place,
			   size_t *n);

/*
 * Returns the next file whose source locations were requested but not found, NULL after the last. *at starts at 0. why:
 * -ENODATA: neither it nor a separate file has debug information; -EBADMSG: damaged, or takes too long; -EMFILE:
 * SOURCE_MAX_FILES others are open.
 */
const char *symbols__sourceless(const struct symbols *s, size_t *at, int *why);

#endif /* TALLY_SYM_SOURCE_H */
