/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stubs by which a file calls functions of others (its procedure linkage table). They have no
 * symbols, but each jumps to where a relocation puts the address of a function, which has a name.
 */
#ifndef TALLY_ANNOTATE_PLT_H
#define TALLY_ANNOTATE_PLT_H

#include "base/types.h"

/*
 * Names what is at n addresses (in the file's own numbering) of the ELF file fd: *names is n texts,
 * one behind the other, "malloc@plt", or "" where no stub is. The caller frees it. A child without
 * rights does it. Returns 0; -EBADMSG, -ETIME: it could not (see base/confined.h); -ENOMEM.
 */
int plt__names(int fd, const u64 *address, size_t n, char **names);

#endif /* TALLY_ANNOTATE_PLT_H */
