// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/text.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "report/escape.h"
#include "calls/syscall/names.h"

/* The chunk at that place, which is moved behind it. NULL: there are no more. */
static const struct trace_chunk *next_chunk(const struct trace_record *r, size_t size, size_t *at)
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

	while ((c = next_chunk(r, size, &at)))
		if (c->id == id)
			break;
	return c;
}

const struct trace_chunk *trace_chunk__find_element(const struct trace_record *r, size_t size,
						    u32 id, u32 element)
{
	const struct trace_chunk *c;
	size_t at = 0;

	while ((c = next_chunk(r, size, &at)))
		if (c->id == id && c->element == element)
			break;
	return c;
}

/* Puts the next character of escaped text, as C writes it where it has a short way. Returns its end. */
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
	/* In parts: whole characters, as far as a part can hold. */
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
	/* A name that begins with a NUL is abstract, and all of it counts: unix(7). */
	if (len && !*path) {
		fputc('@', f);
		quoted__put(f, path + 1, len - 1);
	} else {
		quoted__put(f, path, strnlen(path, len));
	}
}

bool sockaddr__put(FILE *f, const void *data, size_t n)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_nl nl;
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
	} else if (a.any.ss_family == AF_INET6 && n >= sizeof(a.in6)) {
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof(text));
		fprintf(f, ", sin6_port=htons(%u), sin6_addr=\"%s\"", ntohs(a.in6.sin6_port), text);
	} else if (a.any.ss_family == AF_NETLINK && n >= sizeof(a.nl)) {
		fprintf(f, ", nl_pid=%u, nl_groups=%#x", a.nl.nl_pid, a.nl.nl_groups);
	} else if (a.any.ss_family == AF_UNIX && n > sizeof(a.any.ss_family)) {
		put_unix(f, &a.un, n);
	}
	fputc('}', f);
	return true;
}
