// SPDX-License-Identifier: BSD-2-Clause
/* connsnoop: each connect and accept. The measurement is bpf/net/connsnoop.bpf.c. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/address.h"
#include "host/errno_name.h"
#include "stack/snoop_callers.h"
#include "tools.h"

#include "bpf/net/connsnoop.h"
#include "connsnoop.skel.h"

SKELETON(connsnoop);

static const char *const field_names[] = {
	"fd", "error", "latency", "protocol", "local", "remote",
};

static const struct snoop_call calls[] = {
	{ "connect", CONN_CONNECT }, { "accept", CONN_ACCEPT }, { "accept4", CONN_ACCEPT },
};

struct connsnoop {
	struct snoop snoop;     /* first member: show() casts its context to this type */
	bool only_failed, by_state;
	struct callers callers;
	struct connsnoop_bpf *bpf;
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

#define ADDRESS_SPACE (SOCKET_PATH_MOST + IP_END_SPACE)

/* A path, or a name of the abstract namespace, in which NULs are shown as @. */
static void format_path(char text[ADDRESS_SPACE], const struct socket_address *a)
{
	size_t n = a->length <= SOCKET_PATH_MOST ? a->length : 0, i;

	if (n && a->path[0])
		n = strnlen(a->path, n);
	for (i = 0; i < n; i++)
		text[i] = a->path[i] ?: '@';
	text[n] = 0;
}

/* "127.0.0.1:80", "[::1]:80", a path; no value if the address is unknown. */
static struct stream_field address(const char *name, char text[ADDRESS_SPACE],
				   const struct socket_address *a)
{
	struct stream_field f = snoop_word(name, text);

	if (a->family == AF_UNIX) {
		format_path(text, a);
		f.field.word = false;
		return *text ? f : snoop_none(name);
	}
	return ip_end(a->family, a->ip, a->port, text) ? f : snoop_none(name);
}

/* A socket that is not bound has port 0, which a caller may also pass as the port of a remote address. */
static struct stream_field local_address(char text[ADDRESS_SPACE], const struct socket_address *a)
{
	return a->family == AF_UNIX || a->port ? address("local", text, a) : snoop_none("local");
}

static const char *protocol_name(const struct conn_record *r)
{
	int family = r->local.family;

	if (family == AF_UNIX)
		return r->type == SOCK_STREAM ? "unix" : "unix-message";
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	switch (r->protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_MPTCP & 0xffff:
		return "mptcp";
	default:
		return "other";
	}
}

static struct stream_field error_field(const struct conn_record *r)
{
	if (r->result == CONN_CLOSED && r->call == CONN_CONNECT)
		return snoop_word("error", "closed");
	return snoop_word("error", r->result < 0 ? errno_name(-r->result) ?: "?" : NULL);
}

static int show(void *context, const void *record, size_t size)
{
	const struct conn_record *r = record;
	struct connsnoop *c = context;
	bool accepts = r->call == CONN_ACCEPT;
	int fd = accepts && r->result >= 0 ? r->result : r->fd;
	char comm[sizeof(r->comm) + 1] = "", local[ADDRESS_SPACE], remote[ADDRESS_SPACE];
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_spare(fd < 0 && c->by_state ? snoop_none("fd") : snoop_number("fd", fd)),
		error_field(r),
		r->latency_ns ? snoop_time("latency", r->latency_ns) : snoop_none("latency"),
		snoop_spare(snoop_word("protocol", protocol_name(r))),
		snoop_spare(local_address(local, &r->local)),
		address("remote", remote, &r->remote),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.event = accepts ? "accept" : "connect",
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->comm, sizeof(r->comm));
	return snoop_callers__find(&c->snoop, &r->stack, &line) ?: lines__write(&c->snoop.lines, &line);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct snoop *s)
{
	struct connsnoop *c = (struct connsnoop *)s;
	struct connsnoop_bpf *bpf = s->m->bpf;

	c->bpf = bpf;
	bpf->rodata->only_failed = c->only_failed;
	if (!c->by_state)
		return 0;
	bpf->rodata->by_state = true;
	s->m->source = s->source = "tp_btf/inet_sock_set_state";
	s->value = "TCP connects";
	s->caveat = "not seen: accepts, other protocols, connects that fail before their first packet";
	return bpf_program__set_autoload(bpf->progs.on_enter, false) ?:
	       bpf_program__set_autoload(bpf->progs.on_exit, false);
}

static void init(void *own)
{
	struct connsnoop *c = own;

	*c = (struct connsnoop){
		.snoop = {
			.value = "connections",
			.source = "connect, accept, accept4 at tp_btf/sys_exit; "
				  "tp_btf/inet_sock_set_state",
			.caveat = "not seen: io_uring connections, and messages with an address (sendto)",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.has_event = true,
			.call = calls, .ncalls = ARRAY_SIZE(calls),
			.state = "conn_starts",
			.least = sizeof(struct conn_record),
			.show = show,
			.open = open_skeleton,
			.callers = &c->callers,
		},
	};
}

static void release(void *own)
{
	struct connsnoop *c = own;

	lines__free(&c->snoop.lines);
	callers__free(&c->callers);
}

static const struct option_row rows[] = {
	{ "failed", 0, NULL, ROW_FLAG, "Only failures", 0, FIELD(struct connsnoop, only_failed) },
	{ "tcp", 0, NULL, ROW_FLAG, "Only TCP connects, without a hook at every system call", 0,
	  FIELD(struct connsnoop, by_state) },
	INCLUDE(struct connsnoop, callers, caller_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "connsnoop",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each connection made or accepted, and each failure.",
		.rows = rows,
	},
	.own_size = sizeof(struct connsnoop), .skeleton = &connsnoop_skeleton,
	SNOOP_CALLERS_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(connsnoop, spec, AREA_PROCESSES,
	       "each connection made or accepted, and each failure");
