/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TCP sockets: their endpoints, and the port filter. */
#ifndef TALLY_TCP_BPF_H
#define TALLY_TCP_BPF_H

#include "compat.bpf.h"
#include "loss.bpf.h"
#include "socket.bpf.h"
#include "tcp.h"

/* include/uapi/linux/in.h */
#define IPPROTO_MPTCP 262

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_CLOSE_WAIT 8
#define TCP_LAST_ACK 9
#define TCP_LISTEN 10

/* include/net/sock.h: the second of enum sock_flags. */
#define SOCK_DONE 1

const volatile struct tcp_ports ports = {};

/* True if the peer has sent a FIN. */
static __always_inline bool sock_got_fin(const struct sock *sk)
{
	return (BPF_CORE_READ(sk, __sk_common.skc_flags) >> SOCK_DONE) & 1;
}

/* net/mptcp/protocol.h; kernels without MPTCP have no such type. */
struct mptcp_sock {
	struct sock *first;
} __attribute__((preserve_access_index));

/* The TCP socket behind a descriptor's socket; for MPTCP, the first one of its connection. NULL if there is none. */
static __always_inline struct sock *tcp_socket_of(struct sock *sk)
{
	u16 protocol = sk ? BPF_CORE_READ(sk, sk_protocol) : 0;

	if (protocol == IPPROTO_TCP)
		return sk;
	if (protocol != IPPROTO_MPTCP || !bpf_core_field_exists(struct mptcp_sock, first))
		return NULL;
	return BPF_CORE_READ((struct mptcp_sock *)sk, first);
}

static __always_inline void flow_addresses(struct tcp_flow *f, const struct sock_common *c)
{
	f->family = BPF_CORE_READ(c, skc_family);
	if (f->family == AF_INET) {
		bpf_probe_read_kernel(f->local, 4, &c->skc_rcv_saddr);
		bpf_probe_read_kernel(f->remote, 4, &c->skc_daddr);
	} else if (f->family == AF_INET6 && bpf_core_field_exists(c->skc_v6_daddr)) {
		bpf_probe_read_kernel(f->local, sizeof(f->local), &c->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(f->remote, sizeof(f->remote), &c->skc_v6_daddr);
	}
}

/*
 * The local port comes from inet_sport, because skc_num has already been released, and is 0, when a socket becomes
 * closed (tcp_set_state()).
 */
static __always_inline void flow_ports(struct tcp_flow *f, const struct sock *sk)
{
	f->lport = swapped(BPF_CORE_READ((const struct inet_sock *)sk, inet_sport));
	f->rport = swapped(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

static __always_inline void flow_of(struct tcp_flow *f, const struct sock *sk)
{
	flow_addresses(f, &sk->__sk_common);
	flow_ports(f, sk);
}

/* Clears all parts that are not in parts (enum tcp_flow_part). */
static __always_inline void flow_reduce(struct tcp_flow *f, u32 parts)
{
	if (!(parts & BY_LOCAL))
		__builtin_memset(f->local, 0, sizeof(f->local));
	if (!(parts & BY_REMOTE))
		__builtin_memset(f->remote, 0, sizeof(f->remote));
	if (!(parts & (BY_LOCAL | BY_REMOTE)))
		f->family = 0;
	if (!(parts & BY_LPORT))
		f->lport = 0;
	if (!(parts & BY_RPORT))
		f->rport = 0;
}

static __always_inline bool port_wanted(const volatile u16 *list, u32 n, u16 port)
{
	u32 i;

	if (!n)
		return true;
#pragma unroll
	for (i = 0; i < TCP_PORTS_MOST; i++)
		if (i < n && list[i] == port)
			return true;
	return false;
}

static __always_inline bool ports_match(const struct tcp_flow *f)
{
	return port_wanted(ports.local, ports.nlocal, f->lport) && port_wanted(ports.remote, ports.nremote, f->rport);
}

/* Returns true if the ports match; otherwise counts the event as filtered. */
static __always_inline bool ports_wanted(const struct tcp_flow *f)
{
	if (ports_match(f))
		return true;
	count_filtered();
	return false;
}

#endif /* TALLY_TCP_BPF_H */
