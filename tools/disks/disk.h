/* SPDX-License-Identifier: BSD-2-Clause */
/* Disks: names and device numbers (the kernel's major << 20 | minor). */
#ifndef TALLY_BLOCK_DISK_H
#define TALLY_BLOCK_DISK_H

#include "base/types.h"
#include "cli/complete.h"

#define DISK_NAME_SPACE 48

/*
 * Finds the number of a disk by name (sda, /dev/sda) or number (8:0). Reports errors: no such disk,
 * a partition, or a disk without requests of its own. Returns 0 or a negative errno.
 */
int disk__find(const char *name, u32 *disk);

/*
 * Writes the name in /dev, or the number if the disk no longer exists, into text[DISK_NAME_SPACE] and returns text. The
 * name is not escaped. The name of disk 0 is "-".
 */
const char *disk__name(u32 disk, char *text);

/* Adds the names of disks that disk__find() accepts. */
void complete_disks(struct completion *c);

#endif /* TALLY_BLOCK_DISK_H */
