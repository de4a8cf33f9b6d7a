/* SPDX-License-Identifier: BSD-2-Clause */
/* The user who answers for a file: whose share of time and room is charged for reading it. */
#ifndef TALLY_BASE_FILE_OWNER_H
#define TALLY_BASE_FILE_OWNER_H

#include "base/types.h"

/* Not known: the file cannot be looked at, or is on FUSE, whose server may name any owner. */
#define OWNER_UNKNOWN UINT32_MAX

/* Asks the server of a file that claims to be root's in a child that can be abandoned (base/opener.h). */
u32 file_owner(int fd);

#endif /* TALLY_BASE_FILE_OWNER_H */
