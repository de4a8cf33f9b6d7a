/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stubs through which a file calls functions of other files (its procedure linkage table).
 * Stubs have no symbols, but each jumps to an address that a relocation fills in, and the
 * relocation names a function.
 */
#ifndef TALLY_ANNOTATE_PLT_H
#define TALLY_ANNOTATE_PLT_H

#include "base/types.h"

/*
 * Names the stubs at n addresses (in the address space of the file) of the ELF file fd. *names is n
 * consecutive strings, "malloc@plt", or "" where there is no stub; the caller frees it. A child
 * without privileges reads the file. Returns 0; -EBADMSG or -ETIME: the child failed (see
 * base/confined.h); -ENOMEM.
 */
int plt__names(int fd, const u64 *address, size_t n, char **names);

#endif /* TALLY_ANNOTATE_PLT_H */
