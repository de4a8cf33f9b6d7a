/* SPDX-License-Identifier: BSD-2-Clause */
/* Disks: names and device numbers (major << 20 | minor, as the kernel has them). */
#ifndef TALLY_BLOCK_DISK_H
#define TALLY_BLOCK_DISK_H

#include "base/types.h"

#define DISK_NAME_SPACE 48

/*
 * The number of a disk by name (sda, /dev/sda) or number (8:0). Says what is wrong: there is
 * none, it is a partition, or it has no requests of its own. Returns 0 or a negative errno.
 */
int disk__find(const char *name, u32 *disk);

/*
 * Writes its name as in /dev, or its number where it has gone, into text[DISK_NAME_SPACE] and
 * returns text. Not escaped. 0: "-".
 */
const char *disk__name(u32 disk, char *text);

#endif /* TALLY_BLOCK_DISK_H */
