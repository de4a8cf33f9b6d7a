/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the addresses of --listen. */
#ifndef TALLY_CLI_ADDRESS_H
#define TALLY_CLI_ADDRESS_H

#include <netinet/in.h>

#include "base/types.h"

#define LISTEN_MOST_ADDRESSES 2

union listen_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct listen_addresses {
	union listen_address address[LISTEN_MOST_ADDRESSES];
	size_t n;               /* 0 without --listen */
};

/*
 * Parses "9435" (this port of 127.0.0.1 and ::1) or an explicit address: "192.0.2.1:9435",
 * "[2001:db8::1]:9435". Host names are not resolved. Returns 0 or -EINVAL.
 */
int listen_addresses__parse(struct listen_addresses *a, const char *text);

#define LISTEN_ADDRESS_SPACE (INET6_ADDRSTRLEN + sizeof("[]:65535"))

/* Formats an address as in a URL. Returns text. */
const char *listen_address__format(char text[LISTEN_ADDRESS_SPACE],
				   const union listen_address *address);

#endif /* TALLY_CLI_ADDRESS_H */
