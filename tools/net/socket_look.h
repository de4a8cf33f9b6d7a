/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at all sockets of a map by a program of the tool: bpf/net/socket_look.h. */
#ifndef TALLY_NET_SOCKET_LOOK_H
#define TALLY_NET_SOCKET_LOOK_H

#include <bpf/libbpf.h>

#include "base/types.h"

#include "bpf/net/socket_look.h"

/* element: of the map. at: position of the socket in the request. now: CLOCK_MONOTONIC. Returns 0 or -ENOMEM. */
typedef int (*socket_look_take)(void *context, const void *element, size_t at, u64 now);

struct socket_look_spec {
	const struct bpf_map *map; /* keyed by address; elements begin with a time, since_ns */
	const struct bpf_program *program;
	struct socket_look *look; /* variable of the program */
	socket_look_take take;	  /* is called for each socket that the program shows */
	void *context;
};

/* Returns 0, a negative errno, or the first error of take(). */
int socket_look__all(const struct socket_look_spec *spec);

#endif /* TALLY_NET_SOCKET_LOOK_H */
