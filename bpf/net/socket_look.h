/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request of the loader to a program that it runs itself: look at some of the sockets of a map. Reading their memory
 * needs a program, and some kernels reject iter/bpf_map_elem programs. tools/net/socket_look.h makes these requests.
 */
#ifndef TALLY_SOCKET_LOOK_H
#define TALLY_SOCKET_LOOK_H

/* Preemption is off during the program, so it looks at few sockets. */
#define SOCKET_LOOK_MOST 64

struct socket_look {
	__u32 n;
	__u8 is_shown[SOCKET_LOOK_MOST]; /* the answer */
	__u64 socket[SOCKET_LOOK_MOST];	 /* addresses, which are keys of the map */
	/* The first member of their elements. If the map has another one by now, another socket has the address. */
	__u64 since_ns[SOCKET_LOOK_MOST];
};

#endif /* TALLY_SOCKET_LOOK_H */
