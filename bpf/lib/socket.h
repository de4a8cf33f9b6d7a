/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One end of a socket, as read by socket.bpf.h. */
#ifndef TALLY_SOCKET_H
#define TALLY_SOCKET_H

#define SOCKET_PATH_MOST 108    /* include/uapi/linux/un.h: UNIX_PATH_MAX */

struct socket_address {
	__u16 family;           /* 0 if unknown */
	__u16 port;
	__u16 length;           /* bytes of path */
	__u8 padding[2];
	__u8 ip[16];            /* AF_INET uses 4 bytes */
	char path[SOCKET_PATH_MOST];
};

#endif /* TALLY_SOCKET_H */
