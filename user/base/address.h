/* SPDX-License-Identifier: BSD-2-Clause */
/* IP addresses as text. */
#ifndef TALLY_BASE_ADDRESS_H
#define TALLY_BASE_ADDRESS_H

#include <netinet/in.h>

#include "base/types.h"

#define IP_END_SPACE (INET6_ADDRSTRLEN + 16)

/*
 * family: AF_INET, which uses 4 bytes of ip, or AF_INET6. port: in host byte order. Both return text, or NULL for
 * another family.
 */

/* Formats "127.0.0.1", "::1". */
const char *ip_address(u32 family, const __u8 ip[16], char text[INET6_ADDRSTRLEN]);

/* Formats "127.0.0.1:80", "[::1]:80". */
const char *ip_end(u32 family, const __u8 ip[16], __u16 port, char text[IP_END_SPACE]);

#endif /* TALLY_BASE_ADDRESS_H */
