// SPDX-License-Identifier: BSD-2-Clause
#include "net/dns_names.h"

#include <stdio.h>

#define LABEL_MOST 63

/* Returns the bytes written for a byte of a label. */
static size_t put_byte(char *to, u8 byte)
{
	if (!byte || byte == '.' || byte == ' ' || byte == '\\')
		return snprintf(to, 5, "\\%03u", byte);
	*to = byte;
	return 1;
}

size_t dns_question__parse(const u8 *question, size_t length, char name[DNS_NAME_SPACE], __u16 *type)
{
	size_t at = 0, n = 0, end;

	while (at < length && question[at]) {
		end = at + 1 + question[at];
		/* 255 bytes with the zero at the end. */
		if (question[at] > LABEL_MOST || end >= length || end > 254)
			return 0;
		if (n)
			name[n++] = '.';
		for (at++; at < end; at++)
			n += put_byte(name + n, question[at]);
	}
	if (at + 3 > length)
		return 0;
	if (!n)
		name[n++] = '.';
	name[n] = 0;
	*type = question[at + 1] << 8 | question[at + 2];
	return at + 1;
}

/* https://www.iana.org/assignments/dns-parameters */
static const char *const types[] = {
	[1] = "A",	     [2] = "NS",     [5] = "CNAME",	  [6] = "SOA",	  [12] = "PTR",	  [13] = "HINFO",
	[15] = "MX",	     [16] = "TXT",   [28] = "AAAA",	  [29] = "LOC",	  [33] = "SRV",	  [35] = "NAPTR",
	[37] = "CERT",	     [39] = "DNAME", [43] = "DS",	  [44] = "SSHFP", [46] = "RRSIG", [47] = "NSEC",
	[48] = "DNSKEY",     [50] = "NSEC3", [51] = "NSEC3PARAM", [52] = "TLSA",  [59] = "CDS",	  [60] = "CDNSKEY",
	[61] = "OPENPGPKEY", [64] = "SVCB",  [65] = "HTTPS",	  [99] = "SPF",	  [249] = "TKEY", [250] = "TSIG",
	[251] = "IXFR",	     [252] = "AXFR", [255] = "ANY",	  [256] = "URI",  [257] = "CAA",
};

static const char *const results[] = {
	"NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",  "REFUSED",
	"YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE",
};

static const char *name_of(const char *const *names, size_t n, __u16 number, const char *prefix,
			   char text[DNS_WORD_SPACE])
{
	if (number < n && names[number])
		return names[number];
	snprintf(text, DNS_WORD_SPACE, "%s%u", prefix, number);
	return text;
}

const char *dns_type_name(__u16 type, char text[DNS_WORD_SPACE])
{
	return name_of(types, ARRAY_SIZE(types), type, "TYPE", text);
}

const char *dns_result_name(__u16 flags, char text[DNS_WORD_SPACE])
{
	return name_of(results, ARRAY_SIZE(results), flags & 0xf, "RCODE", text);
}
