// SPDX-License-Identifier: BSD-2-Clause
/* tcpbacklog: waits in accept queues. The measurement is bpf/net/tcpbacklog.bpf.c. */
#include <bpf/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/array.h"
#include "base/clock.h"
#include "host/syscalls.h"
#include "net/tcp.h"
#include "report/column.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/net/tcpbacklog.h"
#include "tcpbacklog.skel.h"

SKELETON(tcpbacklog);

struct tcpbacklog {
	struct tcp_ports ports;
	u32 by;
	bool picks_tasks;
	struct tcpbacklog_bpf *bpf;
	char note[96];
};

#define OF(member) SUM(struct backlog_sums, member)

static const struct column columns[] = {
	COUNTER("accepted", OF(accepted), FIELD_NUMBER),
	COUNTER("closed", OF(closed), FIELD_NUMBER, .help = "closed before they were accepted"),
	PRESENT("waiting", OF(waiting), FIELD_NUMBER, .help = "not accepted yet"),
	COUNTER("wait", OF(ns), FIELD_DURATION),
	MEAN("avg", "wait", "accepted", FIELD_DURATION),
	MAXIMUM("max", struct backlog_sums, wait, FIELD_DURATION),
	MAXIMUM("max_queue", struct backlog_sums, queue, FIELD_NUMBER),
	MAXIMUM("backlog", struct backlog_sums, backlog, FIELD_NUMBER),
	{},
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct backlog_element *e = element;
	int err = tcp_flow__add_parts(NULL, &e->key.flow, t->cli->by, row);

	return err ?: task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);
}

/*
 * --- connections that still wait ---------------------------------------------------------------
 */

static bool is_in(const __u16 *list, u32 n, __u16 port)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (list[i] == port)
			return true;
	return !n;
}

static void reduce(struct tcp_flow *to, const struct tcp_flow *f, u32 by)
{
	if (by & BY_LOCAL)
		memcpy(to->local, f->local, sizeof(to->local));
	if (by & BY_REMOTE)
		memcpy(to->remote, f->remote, sizeof(to->remote));
	if (by & (BY_LOCAL | BY_REMOTE))
		to->family = f->family;
	if (by & BY_LPORT)
		to->lport = f->lport;
	if (by & BY_RPORT)
		to->rport = f->rport;
}

static struct backlog_element element_of(const struct tcpbacklog *t, const struct backlog_waiting *w, u64 now)
{
	u64 interval = t->bpf->data->interval;
	struct backlog_element e = {
		.sums = {
			.waiting = 1,
			.wait = { { interval, now > w->since_ns ? now - w->since_ns : 0 } },
			.queue = { { interval, w->queue } },
			.backlog = { { interval, w->backlog } },
		},
	};

	reduce(&e.key.flow, &w->flow, t->by);
	return e;
}

/* A connection belongs to no task until it is accepted. */
static int add_those_that_wait(void *own, struct sum_set *set)
{
	struct elements e = { .key_size = sizeof(u64), .value_size = sizeof(struct backlog_waiting) };
	struct backlog_element *added = NULL;
	struct tcpbacklog *t = own;
	int err = elements__read(&e, bpf_map__fd(t->bpf->maps.waiting));
	u64 now = monotonic_ns();
	size_t i, n = 0;

	for (i = 0; i < e.n && !err; i++) {
		const struct backlog_waiting *w = elements__value(&e, i);

		if (!w->flow.family || !is_in(t->ports.local, t->ports.nlocal, w->flow.lport) ||
		    !is_in(t->ports.remote, t->ports.nremote, w->flow.rport))
			continue;
		err = ARRAY_APPEND(added, n, element_of(t, w, now));
	}
	if (!err && n && !t->picks_tasks)
		err = sum_set__insert(set, added, n);
	free(added);
	elements__free(&e);
	snprintf(t->note, sizeof(t->note), "%zu connections of any task not accepted so far", n);
	if (!t->picks_tasks || !n)
		*t->note = 0;
	return err;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct backlog_key), .value_size = sizeof(struct backlog_sums),
		.writer_at = offsetof(struct backlog_key, writer),
		.nsums = offsetof(struct backlog_sums, wait) / sizeof(u64), .nmaxima = 3,
		.named = true, .measured = OF(accepted) | OF(closed) | OF(waiting),
	},
	.task_at = offsetof(struct backlog_key, task), .of_cpus = true,
	.events = OF(accepted) | OF(closed), .add_key = add_key, .adjust = add_those_that_wait,
};

static int check(void *own, struct cli *cli)
{
	(void)own;
	if (!cli->by)
		cli->by = BY_LOCAL | BY_LPORT;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	u8(*calls)[SYSCALL_NUMBERS];
	struct tcpbacklog_bpf *bpf = m->bpf;
	struct tcpbacklog *t = m->own;

	t->bpf = bpf;
	calls = bpf->rodata->calls;
	syscall_mark(calls, "accept", TCPBACKLOG_ACCEPT);
	syscall_mark(calls, "accept4", TCPBACKLOG_ACCEPT);
	t->by = m->cli->by;
	t->picks_tasks = cli__picks_tasks(m->cli);
	bpf->rodata->picks_tasks = t->picks_tasks;
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	return sum_table__prepare(m);
}

static int report(struct measurement *m, struct report *r)
{
	struct tcpbacklog *t = m->own;
	int err;

	r->nothing = "no new connection was accepted";
	err = sum_table__report(m, NULL, r);
	r->caveat = *t->note ? t->note : NULL;
	return err;
}

static const struct option_row rows[] = {
	INCLUDE(struct tcpbacklog, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcpbacklog",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "How long new TCP connections wait for accept(2), and how full the queues of listeners are.",
		.rows = rows,
		.own_parts = &tcp_own_parts,
		.columns = columns, .order = "wait",
	},
	.own_size = sizeof(struct tcpbacklog), .skeleton = &tcpbacklog_skeleton, .table = &table,
	.value = "waits of TCP connections for accept",
	.source = "tp_btf/inet_sock_set_state; accept, accept4 at tp_btf/sys_exit",
	.check = check, .open = open_skeleton, .report = report,
};

TOOL_MEASURING(tcpbacklog, spec, AREA_NETWORK, "accept queues: how full, how long connections wait for accept");
