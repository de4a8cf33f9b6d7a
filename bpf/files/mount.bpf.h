/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of mounts (struct file_mount of file.h), stored when a mount is first seen, because the mount and its namespace
 * may no longer exist at the time of the report. Read by user/files/mounts.h.
 */
#ifndef TALLY_MOUNT_BPF_H
#define TALLY_MOUNT_BPF_H

#include "compat.bpf.h"
#include "file.h"
#include "file_name.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);         /* set by the loader */
	__type(key, struct file_mount);
	__type(value, struct file_name);
} mounts SEC(".maps");

static const struct file_name no_name = {};

/* Stores the mount point, from the root of its namespace; the root mount has no names. */
static __noinline int mount_name_of(struct file_name *n, struct mount *m)
{
	struct mount *above = BPF_CORE_READ(m, mnt_parent);

	n->mode = S_IFDIR;
	if (above != m)
		file_name_walk(n, BPF_CORE_READ(m, mnt_mountpoint), &above->mnt);
	return 0;
}

/*
 * f is a file of that mount. It may have been freed already, since only its call held a reference; a later file will
 * then give the name. If there is no room for a name, the mount has none.
 */
static __always_inline void name_mount(const struct file_mount *key, struct file *f)
{
	struct file_name *n = bpf_map_lookup_elem(&mounts, key);
	struct mount *m;

	if (n)
		return;
	m = mount_of(BPF_CORE_READ(f, f_path.mnt));
	if (BPF_CORE_READ(m, mnt_id) != (int)key->id ||
	    bpf_map_update_elem(&mounts, key, &no_name, BPF_NOEXIST))
		return;
	n = bpf_map_lookup_elem(&mounts, key);
	if (n)
		mount_name_of(n, m);
}

#endif /* TALLY_MOUNT_BPF_H */
