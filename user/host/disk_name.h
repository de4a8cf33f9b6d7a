/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of disks and other block devices. Their numbers are the kernel's: major << 20 | minor (include/linux/kdev_t.h).
 */
#ifndef TALLY_HOST_DISK_NAME_H
#define TALLY_HOST_DISK_NAME_H

#include "base/types.h"

#define DISK_MINOR_BITS 20
#define DISK_NAME_SPACE 48

/*
 * Writes the name in /dev, or the number ("8:0") if the disk no longer exists, into text[DISK_NAME_SPACE] and returns
 * text. The name is not escaped. The name of disk 0 is "-".
 */
const char *disk__name(u32 disk, char *text);

#endif /* TALLY_HOST_DISK_NAME_H */
