/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of mounts, as bpf/files/mount.bpf.h takes them. */
#ifndef TALLY_FILES_MOUNTS_H
#define TALLY_FILES_MOUNTS_H

#include <bpf/libbpf.h>

#include "base/types.h"
#include "report/report.h"

#include "bpf/lib/file.h"

/* That many have names: room for the map. */
#define MOUNT_NAMES 512

/*
 * Appends the cell "mount": the mount point as /proc/PID/mountinfo of its namespace has it, with the
 * namespace behind it where that is not ours: "/data", "/data (mnt:[4026532281])"; "-" for none;
 * "? (mount 512, device 0:51)" where there was no room for the name. mounts is the map of that
 * name. Returns 0 or -ENOMEM.
 */
int report_row__add_mount(struct report_row *row, const struct bpf_map *mounts,
			  const struct file_mount *mount);

#endif /* TALLY_FILES_MOUNTS_H */
