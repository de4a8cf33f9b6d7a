// SPDX-License-Identifier: BSD-2-Clause
#include "base/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

const char *ip_address(u32 family, const __u8 ip[16], char text[INET6_ADDRSTRLEN])
{
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	return inet_ntop(family, ip, text, INET6_ADDRSTRLEN);
}

const char *ip_end(u32 family, const __u8 ip[16], __u16 port, char text[IP_END_SPACE])
{
	char address[INET6_ADDRSTRLEN];

	if (!ip_address(family, ip, address))
		return NULL;
	snprintf(text, IP_END_SPACE, family == AF_INET ? "%s:%u" : "[%s]:%u", address, port);
	return text;
}
