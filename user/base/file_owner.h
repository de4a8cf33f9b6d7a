/* SPDX-License-Identifier: BSD-2-Clause */
/* The user who is charged the time and room for reading a file. */
#ifndef TALLY_BASE_FILE_OWNER_H
#define TALLY_BASE_FILE_OWNER_H

#include "base/types.h"

/* The owner is unknown: stat fails, or the file is on FUSE, whose server can report any owner. */
#define OWNER_UNKNOWN UINT32_MAX

/* If the file claims to be owned by root, asks its server, in a child that can be abandoned (base/opener.h). */
u32 file_owner(int fd);

#endif /* TALLY_BASE_FILE_OWNER_H */
