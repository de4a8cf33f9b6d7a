// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/text.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "report/escape.h"
#include "calls/syscall/names.h"

const struct trace_chunk *trace_chunk__next(const struct trace_record *r, size_t size, size_t *at)
{
	size_t end = size - offsetof(struct trace_record, data);
	const struct trace_chunk *c = (const void *)(r->data + *at);

	if (end > r->used)
		end = r->used;
	if (*at + sizeof(*c) > end)
		return NULL;
	*at += sizeof(*c) + ((c->bytes + 7) & ~7U);
	return *at <= end ? c : NULL;
}

const struct trace_chunk *trace_chunk__find(const struct trace_record *r, size_t size, u32 id)
{
	const struct trace_chunk *c;
	size_t at = 0;

	while ((c = trace_chunk__next(r, size, &at)))
		if (c->id == id)
			break;
	return c;
}

const struct trace_chunk *trace_chunk__find_element(const struct trace_record *r, size_t size,
						    u32 id, u32 element)
{
	const struct trace_chunk *c;
	size_t at = 0;

	while ((c = trace_chunk__next(r, size, &at)))
		if (c->id == id && c->element == element)
			break;
	return c;
}

/* Puts the next character of escaped text, in C's short form if there is one. Returns its end. */
static const char *put_character(FILE *f, const char *p)
{
	static const struct {
		char hex[5], c[3];
	} as_c[] = {
		{ "\\x09", "\\t" }, { "\\x0a", "\\n" }, { "\\x0b", "\\v" }, { "\\x0c", "\\f" },
		{ "\\x0d", "\\r" }, { "\\x5c", "\\\\" },
	};
	size_t i;

	if (*p == '"') {
		fputs("\\\"", f);
		return p + 1;
	}
	for (i = 0; *p == '\\' && i < ARRAY_SIZE(as_c); i++) {
		if (strncmp(p, as_c[i].hex, 4))
			continue;
		fputs(as_c[i].c, f);
		return p + 4;
	}
	fputc(*p, f);
	return p + 1;
}

void quoted__put(FILE *f, const void *data, size_t n)
{
	char text[ESCAPE_SPACE(64)];
	const char *from = data, *p;
	size_t part;

	fputc('"', f);
	/* Escapes the data in pieces that do not split characters. */
	for (; n; from += part, n -= part) {
		part = n < 64 ? n : 64;
		while (part < n && part > 60 && ((u8)from[part] & 0xc0) == 0x80)
			part--;
		escape(text, from, part);
		for (p = text; *p;)
			p = put_character(f, p);
	}
	fputc('"', f);
}

void quoted_chunk__put(FILE *f, const struct trace_chunk *c)
{
	quoted__put(f, c->data, c->bytes);
	if (c->flags & TRACE_CHUNK_CUT)
		fputs("...", f);
}

void pointer__put(FILE *f, u64 value)
{
	if (value)
		fprintf(f, "%#llx", value);
	else
		fputs("NULL", f);
}

void unread__put(FILE *f, u64 value, const struct trace_chunk *c)
{
	pointer__put(f, value);
	if (c && c->flags & TRACE_CHUNK_FAULT)
		fputs("(fault)", f);
}

static void put_unix(FILE *f, const struct sockaddr_un *a, size_t n)
{
	const char *path = a->sun_path;
	size_t len = n - offsetof(struct sockaddr_un, sun_path);

	if (len > sizeof(a->sun_path))
		len = sizeof(a->sun_path);
	fputs(", sun_path=", f);
	/* A name that begins with a NUL is abstract, and its full length counts: unix(7). */
	if (len && !*path) {
		fputc('@', f);
		quoted__put(f, path + 1, len - 1);
	} else {
		quoted__put(f, path, strnlen(path, len));
	}
}

/* include/net/ipv6.h: SIN6_LEN_RFC2133, which excludes the scope */
#define SIN6_LEAST offsetof(struct sockaddr_in6, sin6_scope_id)

static void put_inet6_rest(FILE *f, const struct sockaddr_in6 *a)
{
	if (a->sin6_flowinfo)
		fprintf(f, ", sin6_flowinfo=htonl(%u)", ntohl(a->sin6_flowinfo));
	if (a->sin6_scope_id)
		fprintf(f, ", sin6_scope_id=%u", a->sin6_scope_id);
}

#define PACKET_LEAST offsetof(struct sockaddr_ll, sll_addr)

static void put_packet(FILE *f, const struct sockaddr_ll *a, size_t n)
{
	size_t i;

	fputs(", sll_protocol=htons(", f);
	value_names__put(f, &ethernet_protocols, ntohs(a->sll_protocol));
	fprintf(f, "), sll_ifindex=%d, sll_hatype=%u, sll_pkttype=", a->sll_ifindex, a->sll_hatype);
	value_names__put(f, &packet_types, a->sll_pkttype);
	fprintf(f, ", sll_halen=%u", a->sll_halen);
	for (i = 0; i < a->sll_halen && i < sizeof(a->sll_addr) && PACKET_LEAST + i < n; i++)
		fprintf(f, "%s%02x", i ? ":" : ", sll_addr=", a->sll_addr[i]);
}

bool sockaddr__put(FILE *f, const void *data, size_t n)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_nl nl;
		struct sockaddr_ll ll;
		struct sockaddr_vm vm;
	} a = {};
	char text[INET6_ADDRSTRLEN];

	if (n < sizeof(a.any.ss_family))
		return false;
	if (n > sizeof(a))
		n = sizeof(a);
	memcpy(&a, data, n);
	fputs("{sa_family=", f);
	value_names__put(f, &socket_families, a.any.ss_family);
	if (a.any.ss_family == AF_INET && n >= sizeof(a.in)) {
		inet_ntop(AF_INET, &a.in.sin_addr, text, sizeof(text));
		fprintf(f, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(a.in.sin_port),
			text);
	} else if (a.any.ss_family == AF_INET6 && n >= SIN6_LEAST) {
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof(text));
		fprintf(f, ", sin6_port=htons(%u), sin6_addr=\"%s\"", ntohs(a.in6.sin6_port), text);
		put_inet6_rest(f, &a.in6);
	} else if (a.any.ss_family == AF_NETLINK && n >= sizeof(a.nl)) {
		fprintf(f, ", nl_pid=%u, nl_groups=%#x", a.nl.nl_pid, a.nl.nl_groups);
	} else if (a.any.ss_family == AF_UNIX && n > sizeof(a.any.ss_family)) {
		put_unix(f, &a.un, n);
	} else if (a.any.ss_family == AF_PACKET && n >= PACKET_LEAST) {
		put_packet(f, &a.ll, n);
	} else if (a.any.ss_family == AF_VSOCK && n >= sizeof(a.vm)) {
		fprintf(f, ", svm_cid=%#x, svm_port=%#x", a.vm.svm_cid, a.vm.svm_port);
	} else if (n > sizeof(a.any.ss_family)) {
		fputs(", sa_data=", f);
		quoted__put(f, (const char *)&a + sizeof(a.any.ss_family),
			    n - sizeof(a.any.ss_family));
	}
	fputc('}', f);
	return true;
}
