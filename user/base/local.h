/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File systems that the kernel itself reads from a disk, without a server that might never answer.
 */
#ifndef TALLY_BASE_LOCAL_H
#define TALLY_BASE_LOCAL_H

#include "base/types.h"

/*
 * Whether the device, major << 32 | minor as in /proc/PID/maps, is a block device with such a file system (ext4, xfs,
 * ...) that is mounted in our mount namespace (/proc/self/mountinfo, proc(5)). Returns false if unknown, so some local
 * devices may be missed. Also false for anonymous devices (btrfs, overlayfs, tmpfs), since a user's mount may get the
 * same number later.
 */
bool is_local_device(u64 device);

#endif /* TALLY_BASE_LOCAL_H */
