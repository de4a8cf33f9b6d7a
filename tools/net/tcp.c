// SPDX-License-Identifier: BSD-2-Clause
#include "net/tcp.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "report/diag.h"

const char *tcp_flow__local(const struct tcp_flow *f, char text[IP_END_SPACE])
{
	return ip_end(f->family, f->local, f->lport, text);
}

const char *tcp_flow__remote(const struct tcp_flow *f, char text[IP_END_SPACE])
{
	return ip_end(f->family, f->remote, f->rport, text);
}

const char *tcp_state_name(u32 state)
{
	/* include/net/tcp_states.h */
	static const char *const names[] = {
		NULL, "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "time-wait",
		"closed", "close-wait", "last-ack", "listening", "closing", "syn-recv",
	};

	return state && state < ARRAY_SIZE(names) ? names[state] : "?";
}

/* --- keys -------------------------------------------------------------------------------------- */

static int add_address(struct report_row *row, const char *name, __u16 family, const __u8 ip[16])
{
	char text[INET6_ADDRSTRLEN];

	return report_row__add_text(row, name, ip_address(family, ip, text) ?: "?");
}

int tcp_flow__add_parts(void *context, const void *flow, __u32 by, struct report_row *row)
{
	const struct tcp_flow *f = flow;
	int err = 0;

	(void)context;
	if (by & BY_LOCAL)
		err = add_address(row, "local", f->family, f->local);
	if (!err && by & BY_LPORT)
		err = report_row__add_number(row, "lport", f->lport, FIELD_ID);
	if (!err && by & BY_REMOTE)
		err = add_address(row, "remote", f->family, f->remote);
	if (!err && by & BY_RPORT)
		err = report_row__add_number(row, "rport", f->rport, FIELD_ID);
	return err;
}

static const char *const part_names[] = { "local", "remote", "lport", "rport" };

const struct own_parts tcp_own_parts = {
	.name = part_names,
	.n = ARRAY_SIZE(part_names),
	.text = "local, remote, lport, rport",
	.add = tcp_flow__add_parts,
};

_Static_assert(BY_LOCAL == BY_OWN(0) && BY_RPORT == BY_OWN(3), "parts in the order of their names");

int tcp_keys__check(const struct cli *cli, __u32 may)
{
	if (!(cli->by & ((1U << BY_PARTS) - 1) & ~may))
		return 0;
	diag_error("a connection belongs to no task: the current task at a packet is mostly unrelated");
	diag_hint("keys are %s%s", tcp_own_parts.text, may & BY_CPU ? ", cpu" : "");
	return -EINVAL;
}

/* --- options ----------------------------------------------------------------------------------- */

/* FIELD() of the row is the number of ports. They are either the local or the remote ones. */
static int parse_ports(void *own, const struct option_row *row, char *arg)
{
	struct tcp_ports *p = own;
	bool local = row->offset == offsetof(struct tcp_ports, nlocal);
	__u32 *n = local ? &p->nlocal : &p->nremote;
	__u16 *port = local ? p->local : p->remote;
	size_t count, i;
	u32 *list;

	if (parse_id_list(arg, 1, UINT16_MAX, &list, &count)) {
		diag_error("--%s: '%s' is not a list of ports like 80,443", row->name, arg);
		return -EINVAL;
	}
	if (*n + count > TCP_PORTS_MOST) {
		diag_error("--%s: at most %d ports", row->name, TCP_PORTS_MOST);
		free(list);
		return -EINVAL;
	}
	for (i = 0; i < count; i++)
		port[(*n)++] = list[i];
	free(list);
	return 0;
}

const struct option_row tcp_port_rows[] = {
	HEADING("Connections:", 1),
	{ "lport", 0, "PORT,..", ROW_OWN, "Only connections with one of these local ports", 1,
	  .parse_row = parse_ports, FIELD(struct tcp_ports, nlocal), .adds = true },
	{ "rport", 0, "PORT,..", ROW_OWN, "Only connections with one of these remote ports", 1,
	  .parse_row = parse_ports, FIELD(struct tcp_ports, nremote), .adds = true },
	{},
};
