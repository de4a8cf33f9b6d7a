/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of the Internet protocols as text. */
#ifndef TALLY_BASE_ADDRESS_H
#define TALLY_BASE_ADDRESS_H

#include <netinet/in.h>

#include "base/types.h"

#define IP_END_SPACE (INET6_ADDRSTRLEN + 16)

/*
 * family is AF_INET, where 4 bytes of ip count, or AF_INET6; port is as numbers are here, not as in
 * packets. Each returns text, or NULL where the family is another one.
 */

/* "127.0.0.1", "::1" */
const char *ip_address(u32 family, const __u8 ip[16], char text[INET6_ADDRSTRLEN]);

/* "127.0.0.1:80", "[::1]:80" */
const char *ip_end(u32 family, const __u8 ip[16], __u16 port, char text[IP_END_SPACE]);

#endif /* TALLY_BASE_ADDRESS_H */
