/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of a task by descriptor, and their names as the kernel stores them (user/files/name.h). */
#ifndef TALLY_FILE_NAME_BPF_H
#define TALLY_FILE_NAME_BPF_H

#include "compat.bpf.h"
#include "file.h"

/* include/uapi/linux/stat.h */
#define S_IFMT 00170000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000

/* include/uapi/linux/magic.h */
#define TMPFS_MAGIC 0x01021994

/* True for files on tmpfs, memfds, and shared memory without a file. */
static __always_inline bool is_on_tmpfs(const struct inode *inode)
{
	return BPF_CORE_READ(inode, i_sb, s_magic) == TMPFS_MAGIC;
}

/* At most FILE_DEPTH. The verifier follows each step of the walk, so a lower limit makes a tool start faster. */
const volatile u32 file_depth = FILE_DEPTH;

static __always_inline struct file *file_of(const struct fdtable *fdt, u32 fd)
{
	struct file **slot = BPF_CORE_READ(fdt, fd), *f = NULL;

	if (fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&f, sizeof(f), slot + fd);
	return f;
}

static __always_inline struct file *file_of_task(struct task_struct *t, u32 fd)
{
	return file_of(BPF_CORE_READ(t, files, fdt), fd);
}

/* Appends a name. Returns false if there is no room. */
static __always_inline bool file_name_add(struct file_name *n, struct dentry *d)
{
	u64 at = n->size, size;

	barrier_var(at);
	if (at > FILE_PATH_MAX)
		return false;
	size = bpf_probe_read_kernel_str(n->names + at, FILE_NAME_MAX,
					 BPF_CORE_READ(d, d_name.name));
	if (size > FILE_NAME_MAX)       /* a negative errno */
		return false;
	n->size = at + size;
	return true;
}

static __always_inline struct mount *mount_of(struct vfsmount *v)
{
	return (struct mount *)((u64)v - bpf_core_field_offset(struct mount, mnt));
}

/*
 * Walks from the file's name up to the root of its mount namespace, across mount points, like prepend_path() in
 * fs/d_path.c. A concurrent rename may leave a mix of old and new names.
 */
static __always_inline void file_name_walk(struct file_name *n, struct dentry *d,
					   struct vfsmount *v)
{
	struct dentry *root = BPF_CORE_READ(v, mnt_root), *parent;
	struct mount *m = mount_of(v), *above;
	u32 i;

	for (i = 0; i < FILE_DEPTH && i < file_depth; i++) {
		parent = BPF_CORE_READ(d, d_parent);
		if (d == root) {
			above = BPF_CORE_READ(m, mnt_parent);
			if (above == m)
				return;
			d = BPF_CORE_READ(m, mnt_mountpoint);
			m = above;
			root = BPF_CORE_READ(m, mnt.mnt_root);
			continue;
		}
		if (d == parent)
			return;
		if (!file_name_add(n, d))
			break;
		d = parent;
	}
	n->flags |= FILE_NAME_CUT;
}

/* Stores the name of the file at path; the caller passes its mode and inode. */
static __noinline int file_name_of_path(struct file_name *n, const struct path *path, u32 mode,
					u64 inode)
{
	struct dentry *d = BPF_CORE_READ(path, dentry);

	n->flags = 0;
	n->size = 0;
	n->mode = mode & S_IFMT;
	n->inode = inode;
	if (d != BPF_CORE_READ(d, d_parent) && !BPF_CORE_READ(d, d_hash.pprev))
		n->flags |= FILE_NAME_DELETED;
	file_name_walk(n, d, BPF_CORE_READ(path, mnt));
	if (!n->size) {
		file_name_add(n, d);
		n->flags |= FILE_NAME_PLAIN;
	}
	return 0;
}

static __always_inline void file_name_of(struct file_name *n, struct file *f)
{
	file_name_of_path(n, __builtin_preserve_access_index(&f->f_path),
			  BPF_CORE_READ(f, f_inode, i_mode), BPF_CORE_READ(f, f_inode, i_ino));
}

#endif /* TALLY_FILE_NAME_BPF_H */
