/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file behind a descriptor, as tools/calls/syscall/descriptor.h shows it. */
#ifndef TALLY_DESCRIPTOR_BPF_H
#define TALLY_DESCRIPTOR_BPF_H

#include "compat.bpf.h"
#include "file_name.bpf.h"
#include "socket.bpf.h"
#include "trace.h"

static __always_inline void read_socket(struct trace_socket *to, struct file *f)
{
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk), *peer;

	to->protocol = BPF_CORE_READ(sk, sk_protocol);
	to->type = BPF_CORE_READ(sk, sk_type);
	to->peer = 0;
	read_local(&to->local, sk);
	if (to->local.family != AF_UNIX) {
		read_remote(&to->remote, sk);
		return;
	}
	to->remote.family = 0;
	peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	if (peer)
		to->peer = BPF_CORE_READ(peer, sk_socket, file, f_inode, i_ino);
}

/*
 * Stores the name of the file of one of the task's descriptors. If f is NULL, the directory that the task's paths are
 * relative to.
 */
static __always_inline void name_descriptor(struct file_name *n, struct task_struct *t, struct file *f)
{
	struct fs_struct *fs = BPF_CORE_READ(t, fs);
	const struct path *path = __builtin_preserve_access_index(&fs->pwd);
	u32 mode = S_IFDIR;
	u64 inode = 0;

	if (f) {
		path = __builtin_preserve_access_index(&f->f_path);
		mode = BPF_CORE_READ(f, f_inode, i_mode);
		inode = BPF_CORE_READ(f, f_inode, i_ino);
	}
	file_name_of_path(n, path, mode, inode);
	if (n->mode != S_IFSOCK)
		return;
	n->size = sizeof(struct trace_socket);
	read_socket((struct trace_socket *)n->names, f);
}

#endif /* TALLY_DESCRIPTOR_BPF_H */
