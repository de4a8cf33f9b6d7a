/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of mounts, as recorded by bpf/files/mount.bpf.h. */
#ifndef TALLY_FILES_MOUNTS_H
#define TALLY_FILES_MOUNTS_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "report/report.h"

#include "bpf/lib/file.h"

/* Size of the map: mounts with names. */
#define MOUNT_NAMES 512

/*
 * Appends the cell "mount": the mount point as in /proc/PID/mountinfo of its namespace, followed by
 * the namespace unless it is ours: "/data", "/data (mnt:[4026532281])"; "-" without a mount; "?
 * (mount 512, device 0:51)" if its name did not fit into the map. mounts is the map of that name.
 * Returns 0 or -ENOMEM.
 */
int report_row__add_mount(struct report_row *row, const struct bpf_map *mounts,
			  const struct file_mount *mount);

#endif /* TALLY_FILES_MOUNTS_H */
