// SPDX-License-Identifier: BSD-2-Clause
#include "cli/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"

static void add_v4(struct listen_addresses *a, struct in_addr host, u64 port)
{
	a->address[a->n++].v4 = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = host,
	};
}

static void add_v6(struct listen_addresses *a, struct in6_addr host, u64 port)
{
	a->address[a->n++].v6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = host,
	};
}

/* IPv6 addresses are in brackets, because they contain colons. */
static int add_named(struct listen_addresses *a, const char *name, size_t n, u64 port)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr v6;
	struct in_addr v4;
	bool bracketed = n > 2 && name[0] == '[' && name[n - 1] == ']';

	if (bracketed) {
		name++;
		n -= 2;
	}
	if (n >= sizeof(host))
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)n, name);
	if (bracketed && inet_pton(AF_INET6, host, &v6) == 1)
		add_v6(a, v6, port);
	else if (!bracketed && inet_pton(AF_INET, host, &v4) == 1)
		add_v4(a, v4, port);
	return a->n ? 0 : -EINVAL;
}

int listen_addresses__parse(struct listen_addresses *a, const char *text)
{
	const char *colon = strrchr(text, ':');
	u64 port;

	a->n = 0;
	if (parse_u64_between(colon ? colon + 1 : text, 1, 65535, &port))
		return -EINVAL;
	if (colon)
		return add_named(a, text, colon - text, port);
	add_v4(a, (struct in_addr){ htonl(INADDR_LOOPBACK) }, port);
	add_v6(a, in6addr_loopback, port);
	return 0;
}

const char *listen_address__format(char text[LISTEN_ADDRESS_SPACE],
				   const union listen_address *address)
{
	bool v6 = address->any.sa_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->any.sa_family,
		  v6 ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr, host,
		  sizeof(host));
	snprintf(text, LISTEN_ADDRESS_SPACE, v6 ? "[%s]:%u" : "%s:%u", host,
		 ntohs(v6 ? address->v6.sin6_port : address->v4.sin_port));
	return text;
}
