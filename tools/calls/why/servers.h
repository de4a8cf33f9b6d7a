/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of this kernel in which threads wait for file servers: for the programs, server_code. */
#ifndef TALLY_CALLS_WHY_SERVERS_H
#define TALLY_CALLS_WHY_SERVERS_H

#include "base/types.h"

#include "bpf/calls/why.h"

/*
 * Returns how many there are: none if the kernel has neither FUSE nor NFS, if it hides addresses, or if there is no
 * memory. Modules that are loaded later are not seen.
 */
u32 why_find_servers(struct why_code code[WHY_SERVER_CODE]);

#endif /* TALLY_CALLS_WHY_SERVERS_H */
