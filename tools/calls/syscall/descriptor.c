// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/descriptor.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/address.h"
#include "files/name.h"
#include "report/escape.h"
#include "calls/syscall/names.h"
#include "calls/syscall/text.h"

/*
 * --- files -------------------------------------------------------------------------------------
 */

/* A bracket ends the name, so brackets within it are escaped. */
static void put_path(FILE *f, const char *path)
{
	char *text = escape_string(path), *p;

	for (p = text; p && *p; p++)
		if (*p == '<' || *p == '>')
			fprintf(f, "\\x%02x", *p);
		else
			fputc(*p, f);
	free(text);
}

/* The names of namespaces and pidfds are known only to their file systems. */
static bool is_nameless(const struct file_name *n)
{
	return n->flags & FILE_NAME_PLAIN && S_ISREG(n->mode) &&
	       (!*n->names || !strcmp(n->names, "/"));
}

static void put_file(FILE *f, const struct file_name *name, size_t size)
{
	struct file_name n;
	char *path;

	memcpy(&n, name, size);
	n.flags &= ~FILE_NAME_DELETED;
	path = file_name__path(&n, size);
	fputc('<', f);
	if (path && !is_nameless(&n))
		put_path(f, path);
	else
		fprintf(f, "inode:[%llu]", n.inode);
	fputc('>', f);
	if (name->flags & FILE_NAME_DELETED)
		fputs("(deleted)", f);
	free(path);
}

/*
 * --- sockets -----------------------------------------------------------------------------------
 */

static const char *protocol_name(const struct trace_socket *s)
{
	if (s->type == SOCK_RAW)
		return "RAW";
	switch (s->protocol) {
	case IPPROTO_TCP:
		return "TCP";
	case IPPROTO_UDP:
		return "UDP";
	case IPPROTO_UDPLITE:
		return "UDPLITE";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "PING";
	case IPPROTO_SCTP:
		return "SCTP";
	case IPPROTO_DCCP:
		return "DCCP";
	case IPPROTO_MPTCP:
		return "MPTCP";
	default:
		return "INET";
	}
}

static void put_end(FILE *f, const struct socket_address *a)
{
	char text[IP_END_SPACE];

	fputs(ip_end(a->family, a->ip, a->port, text) ?: "?", f);
}

/* Both ends, if there is a remote one; the inode if neither end has a port. */
static void put_inet(FILE *f, const struct trace_socket *s, u64 inode)
{
	fprintf(f, "%s%s:[", protocol_name(s), s->local.family == AF_INET6 ? "v6" : "");
	if (!s->local.port && !s->remote.port)
		fprintf(f, "%llu", inode);
	else
		put_end(f, &s->local);
	if (s->remote.port) {
		fputs("->", f);
		put_end(f, &s->remote);
	}
	fputc(']', f);
}

/* A name that begins with a NUL is abstract: unix(7). */
static void put_unix_name(FILE *f, const struct socket_address *a)
{
	size_t n = a->length < sizeof(a->path) ? a->length : sizeof(a->path);

	if (!n)
		return;
	fputs(*a->path ? "," : ",@", f);
	if (*a->path)
		quoted__put(f, a->path, strnlen(a->path, n));
	else
		quoted__put(f, a->path + 1, n - 1);
}

static void put_unix(FILE *f, const struct trace_socket *s, u64 inode)
{
	static const char *const types[] = {
		[SOCK_STREAM] = "-STREAM",
		[SOCK_DGRAM] = "-DGRAM",
		[SOCK_SEQPACKET] = "-SEQPACKET",
	};
	const char *type = s->type < ARRAY_SIZE(types) ? types[s->type] : NULL;

	fprintf(f, "UNIX%s:[%llu", type ?: "", inode);
	if (s->peer)
		fprintf(f, "->%llu", s->peer);
	put_unix_name(f, &s->local);
	fputc(']', f);
}

/* "NETLINK:[123]" for AF_NETLINK; "socket:[123]" for unknown families. */
static void put_other(FILE *f, u32 family, u64 inode)
{
	const struct value_name *v = socket_families.name;

	while (v->name && v->value != family)
		v++;
	fprintf(f, "%s:[%llu]", v->name ? v->name + strlen("AF_") : "socket", inode);
}

static void put_socket(FILE *f, const struct file_name *n, size_t size)
{
	struct trace_socket s = {};

	if (size >= offsetof(struct file_name, names) + sizeof(s))
		memcpy(&s, n->names, sizeof(s));
	fputc('<', f);
	if (s.local.family == AF_INET || s.local.family == AF_INET6)
		put_inet(f, &s, n->inode);
	else if (s.local.family == AF_UNIX)
		put_unix(f, &s, n->inode);
	else
		put_other(f, s.local.family, n->inode);
	fputc('>', f);
}

void descriptor__put(FILE *f, const struct trace_chunk *c)
{
	const struct file_name *n;

	if (!c)
		return;
	n = (const void *)c->data;
	if (c->bytes < offsetof(struct file_name, names) || c->bytes > sizeof(*n))
		fputs("<...>", f);
	else if (S_ISSOCK(n->mode))
		put_socket(f, n, c->bytes);
	else
		put_file(f, n, c->bytes);
}
