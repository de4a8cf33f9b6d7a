/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File systems that the kernel reads from a disk by itself: there is no server that might never answer.
 */
#ifndef TALLY_BASE_LOCAL_H
#define TALLY_BASE_LOCAL_H

#include "base/types.h"

/*
 * Whether the device, major << 32 | minor as in /proc/PID/maps, is a block device with such a file system (ext4, xfs,
 * ...) that is mounted in our mount namespace (/proc/self/mountinfo, proc(5)). Others may be, too: the answer is no
 * where it is not known. Devices without a number of their own (btrfs, overlayfs, tmpfs) are not, since a mount of a
 * user may get that number later.
 */
bool is_local_device(u64 device);

#endif /* TALLY_BASE_LOCAL_H */
