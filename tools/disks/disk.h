/* SPDX-License-Identifier: BSD-2-Clause */
/* Disks that options name. */
#ifndef TALLY_BLOCK_DISK_H
#define TALLY_BLOCK_DISK_H

#include "base/types.h"
#include "cli/complete.h"
#include "host/disk_name.h"

/*
 * Finds the number of a disk by name (sda, /dev/sda) or number (8:0). Reports errors: no such disk,
 * a partition, or a disk without requests of its own. Returns 0 or a negative errno.
 */
int disk__find(const char *name, u32 *disk);

/* Adds the names of disks that disk__find() accepts. */
void complete_disks(struct completion *c);

#endif /* TALLY_BLOCK_DISK_H */
