/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of DNS messages (RFC 1035). */
#ifndef TALLY_NET_DNS_NAMES_H
#define TALLY_NET_DNS_NAMES_H

#include "base/types.h"

/* Room for the longest name, in which each byte of a label may be escaped as \DDD. */
#define DNS_NAME_SPACE 1024
#define DNS_WORD_SPACE 16

/*
 * Reads a question: the name without its last dot ("." for the root), and its type. In labels, zeros, dots, blanks and
 * backslashes are written as \DDD (RFC 1035, 5.1), other bytes as they are. Returns the size of the name in the packet,
 * or 0 if the question is truncated, or has a pointer or a label of another kind.
 */
size_t dns_question__parse(const u8 *question, size_t length, char name[DNS_NAME_SPACE], __u16 *type);

/* "AAAA"; "TYPE4711" for an unknown type (RFC 3597). */
const char *dns_type_name(__u16 type, char text[DNS_WORD_SPACE]);

/* The response code of a header's flags: "NXDOMAIN"; "RCODE13" for an unknown one. */
const char *dns_result_name(__u16 flags, char text[DNS_WORD_SPACE]);

#endif /* TALLY_NET_DNS_NAMES_H */
