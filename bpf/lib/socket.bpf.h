/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads both ends of a socket from kernel memory. */
#ifndef TALLY_SOCKET_BPF_H
#define TALLY_SOCKET_BPF_H

#include "compat.bpf.h"
#include "socket.h"

/* Kernel ABI: include/linux/socket.h, include/uapi/linux/in.h, include/uapi/linux/stat.h. */
#define IPPROTO_TCP 6
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define S_IFMT 00170000
#define S_IFSOCK 0140000

static __always_inline u16 swapped(u16 port)
{
	return port << 8 | port >> 8;
}

/*
 * Reads a path. Returns its length, or 0 if there is none. Not inlined: 5.10 loses the range of a register that is
 * spilled to the stack, and a separate function needs no spilling.
 */
static __noinline u32 read_path(char *to, u64 length, const void *from)
{
	barrier_var(length);
	if (length > SOCKET_PATH_MOST || bpf_probe_read_kernel(to, length, from))
		return 0;
	return length;
}

static __always_inline void read_unix(struct socket_address *a, struct sock *sk)
{
	struct unix_address *address = BPF_CORE_READ((struct unix_sock *)sk, addr);

	a->family = AF_UNIX;
	a->port = 0;
	a->length = 0;
	if (address)
		a->length =
			read_path(a->path, BPF_CORE_READ(address, len) - sizeof(a->family), &address->name[0].sun_path);
}

static __always_inline void read_local(struct socket_address *a, struct sock *sk)
{
	a->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	a->length = 0;
	if (a->family == AF_UNIX) {
		read_unix(a, sk);
		return;
	}
	a->port = BPF_CORE_READ(sk, __sk_common.skc_num);
	if (a->family == AF_INET)
		bpf_probe_read_kernel(a->ip, 4, &sk->__sk_common.skc_rcv_saddr);
	else if (a->family == AF_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr))
		bpf_probe_read_kernel(a->ip, sizeof(a->ip), &sk->__sk_common.skc_v6_rcv_saddr);
}

static __always_inline void read_remote(struct socket_address *a, struct sock *sk)
{
	a->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	a->length = 0;
	if (a->family == AF_UNIX) {
		read_unix(a, BPF_CORE_READ((struct unix_sock *)sk, peer));
		return;
	}
	a->port = swapped(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (a->family == AF_INET)
		bpf_probe_read_kernel(a->ip, 4, &sk->__sk_common.skc_daddr);
	else if (a->family == AF_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		bpf_probe_read_kernel(a->ip, sizeof(a->ip), &sk->__sk_common.skc_v6_daddr);
}

/* The socket of a file; NULL if the file is not a socket. */
static __always_inline struct sock *socket_of_file(struct file *file)
{
	struct socket *socket;

	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

/* The socket of a descriptor of the current task. NULL if the descriptor is not open or not a socket. */
static __always_inline struct sock *socket_of(u32 fd)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct fdtable *fdt = BPF_CORE_READ(t, files, fdt);
	struct file **slot = BPF_CORE_READ(fdt, fd), *file = NULL;

	if (fd >= BPF_CORE_READ(fdt, max_fds) || bpf_probe_read_kernel(&file, sizeof(file), slot + fd) || !file)
		return NULL;
	return socket_of_file(file);
}

#endif /* TALLY_SOCKET_BPF_H */
