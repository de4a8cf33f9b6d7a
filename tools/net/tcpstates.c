// SPDX-License-Identifier: BSD-2-Clause
/* tcpstates: time of TCP sockets in each state. The measurement is bpf/net/tcpstates.bpf.c. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "host/syscalls.h"
#include "net/socket_look.h"
#include "net/tcp.h"
#include "report/column.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/net/tcpstates.h"
#include "tcpstates.skel.h"

SKELETON(tcpstates);

/* Sockets at once. */
#define SOCKETS_MOST 131072

struct tcpstates {
	struct tcp_ports ports;
	struct tcpstates_bpf *bpf;
	u32 by;
	char note[160];
};

#define OF(member) SUM(struct tcpstates_sums, member)

static const struct column columns[] = {
	PRESENT("now", OF(now), FIELD_NUMBER, .help = "sockets in the state at the end"),
	COUNTER("left", OF(left), FIELD_NUMBER, .help = "sockets that changed to another state"),
	COUNTER("total", OF(ns), FIELD_DURATION),
	MEAN("avg", "total", "left", FIELD_DURATION),
	MAXIMUM("max", struct tcpstates_sums, longest, FIELD_DURATION),
	{},
};

static const char *const part_names[] = { "local", "remote", "lport", "rport", "state" };

static const struct own_parts parts = {
	.name = part_names,
	.n = ARRAY_SIZE(part_names),
	.text = "local, remote, lport, rport, state",
};

_Static_assert(BY_STATE == BY_OWN(4), "parts in the order of their names");

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct tcpstates_element *e = element;
	u32 by = t->cli->by;
	int err = by & BY_STATE ? report_row__add_text(row, "state", tcp_state_name(e->key.state)) : 0;

	err = err ?: tcp_flow__add_parts(NULL, &e->key.flow, by, row);
	return err ?: task_key__add_fields(row, &e->key.task, e->sums.name, by, &t->names);
}

/*
 * --- sockets that are in a state now -----------------------------------------------------------
 */

struct tcpstates_found {
	const struct tcpstates *of;
	struct tcpstates_element *element;
	size_t n, earlier;
};

static struct tcpstates_element element_of(const struct tcpstates *t, const struct tcpstates_socket *s,
					   const struct tcp_flow *flow, u64 now)
{
	struct tcpstates_element e = {
		.key = { .task = s->task, .flow = *flow, .state = t->by & BY_STATE ? s->state : 0 },
		.sums = {
			.now = 1,
			.longest = { { t->bpf->data->interval, now > s->since_ns ? now - s->since_ns : 0 } },
			.name_stamp = s->since_ns,
		},
	};

	memcpy(e.sums.name, s->comm, sizeof(e.sums.name));
	return e;
}

static int take(void *context, const void *element, size_t at, u64 now)
{
	struct tcpstates_found *found = context;
	const struct tcpstates_socket *s = element;
	const struct tcp_flow *flow = &found->of->bpf->bss->look_flow[at];

	found->earlier += s->is_earlier;
	return ARRAY_APPEND(found->element, found->n, element_of(found->of, s, flow, now));
}

static int add_present(void *own, struct sum_set *set)
{
	struct tcpstates *t = own;
	struct tcpstates_found found = { .of = t };
	const struct socket_look_spec look = {
		.map = t->bpf->maps.sockets,
		.program = t->bpf->progs.look_at_sockets,
		.look = &t->bpf->bss->look,
		.take = take,
		.context = &found,
	};
	int err = socket_look__all(&look);

	if (!err && found.n)
		err = sum_set__insert(set, found.element, found.n);
	snprintf(t->note, sizeof(t->note),
		 "%zu sockets in their state since before the run: max is at least that long%s", found.earlier,
		 t->bpf->bss->too_many ? "; not all are known" : "");
	if (!found.earlier)
		*t->note = 0;
	free(found.element);
	return err;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct tcpstates_key), .value_size = sizeof(struct tcpstates_sums),
		.writer_at = offsetof(struct tcpstates_key, writer),
		.nsums = offsetof(struct tcpstates_sums, longest) / sizeof(u64), .nmaxima = 1,
		.named = true, .measured = OF(left) | OF(now),
	},
	.task_at = offsetof(struct tcpstates_key, task), .of_cpus = true,
	.events = OF(left), .add_key = add_key, .adjust = add_present,
};

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *own, struct cli *cli)
{
	(void)own;
	if (!cli->by)
		cli->by = BY_STATE;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	u8(*calls)[SYSCALL_NUMBERS];
	struct tcpstates_bpf *bpf = m->bpf;
	struct tcpstates *t = m->own;

	t->bpf = bpf;
	t->by = m->cli->by;
	calls = bpf->rodata->calls;
	syscall_mark(calls, "accept", TCPSTATES_ACCEPT);
	syscall_mark(calls, "accept4", TCPSTATES_ACCEPT);
	bpf->rodata->picks_tasks = cli__picks_tasks(m->cli);
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	return map__preallocate(bpf->maps.sockets, SOCKETS_MOST) ?: sum_table__prepare(m);
}

static int report(struct measurement *m, struct report *r)
{
	struct tcpstates *t = m->own;
	int err;

	r->nothing = "no TCP socket changed its state";
	err = sum_table__report(m, NULL, r);
	r->caveat = *t->note ? t->note : NULL;
	return err;
}

static const struct option_row rows[] = {
	INCLUDE(struct tcpstates, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcpstates",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "How long TCP sockets stay in each state, and how many are in it now.",
		.rows = rows,
		.own_parts = &parts,
		.columns = columns, .order = "now",
	},
	.own_size = sizeof(struct tcpstates), .skeleton = &tcpstates_skeleton, .table = &table,
	.value = "time of TCP sockets in each state",
	.source = "tp_btf/inet_sock_set_state; accept, accept4 at tp_btf/sys_exit",
	.check = check, .open = open_skeleton, .report = report,
};

TOOL_MEASURING(tcpstates, spec, AREA_NETWORK, "TCP states: how long sockets stay in each, how many are in it now");
