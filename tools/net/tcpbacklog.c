// SPDX-License-Identifier: BSD-2-Clause
/* tcpbacklog: waits in accept queues. The measurement is bpf/net/tcpbacklog.bpf.c. */
#include <bpf/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "base/array.h"
#include "host/syscalls.h"
#include "net/socket_look.h"
#include "net/tcp.h"
#include "report/column.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/net/tcpbacklog.h"
#include "tcpbacklog.skel.h"

SKELETON(tcpbacklog);

/* Connections of one queue that are added at the start. */
#define QUEUE_MOST 65536

/* Connections in all queues at once. */
#define CONNECTIONS_MOST 65536

struct tcpbacklog {
	struct tcp_ports ports;
	bool picks_tasks;
	struct tcpbacklog_bpf *bpf;
	const struct writer *writer;
	u64 unseen; /* in earlier reports */
	char note[256];
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

	e.key.flow = w->flow;
	return e;
}

/* The result of a look. */
struct backlog_found {
	const struct tcpbacklog *of;
	struct backlog_element *element;
	size_t n, earlier;
};

static int take(void *context, const void *element, size_t at, u64 now)
{
	struct backlog_found *found = context;
	const struct backlog_waiting *w = element;

	(void)at;
	found->earlier += w->is_earlier;
	return ARRAY_APPEND(found->element, found->n, element_of(found->of, w, now));
}

static void describe(struct tcpbacklog *t, const struct backlog_found *found)
{
	const u64 unseen = t->bpf->bss->unseen;
	const struct {
		u64 n;
		const char *text;
	} parts[] = {
		{ t->picks_tasks ? found->n : 0, "connections of any task not accepted so far" },
		{ found->earlier, "waiting since before the run: max is at least that long" },
		{ unseen - t->unseen, "accepted by io_uring or the kernel, not timed" },
	};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].n)
			n += snprintf(t->note + n, sizeof(t->note) - n, "%s%llu %s", n ? "; " : "", parts[i].n,
				      parts[i].text);
	if (t->bpf->bss->too_many)
		n += snprintf(t->note + n, sizeof(t->note) - n, "%snot all connections from before the run are known",
			      n ? "; " : "");
	t->note[n] = 0;
	t->unseen = unseen;
}

/* A connection belongs to no task until it is accepted. */
static int add_those_that_wait(void *own, struct sum_set *set)
{
	struct tcpbacklog *t = own;
	struct backlog_found found = { .of = t };
	const struct socket_look_spec look = {
		.map = t->bpf->maps.waiting,
		.program = t->bpf->progs.look_at_sockets,
		.look = &t->bpf->bss->look,
		.take = take,
		.context = &found,
	};
	int err;

	t->bpf->bss->is_last = t->writer->is_last;
	err = socket_look__all(&look);
	if (!err && found.n && !t->picks_tasks)
		err = sum_set__insert(set, found.element, found.n);
	describe(t, &found);
	free(found.element);
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
	t->writer = m->writer;
	t->picks_tasks = cli__picks_tasks(m->cli);
	bpf->rodata->picks_tasks = t->picks_tasks;
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	return map__preallocate(bpf->maps.waiting, CONNECTIONS_MOST) ?: sum_table__prepare(m);
}

/* Adds the connections from before the run. A queue that changes meanwhile must not lead around in circles. */
static int walk_queue(struct tcpbacklog *t, u64 listener)
{
	struct backlog_walk *walk = &t->bpf->bss->walk;
	u32 steps = QUEUE_MOST / BACKLOG_STEP;
	int err;

	*walk = (struct backlog_walk){ .listener = listener };
	do
		err = bpf_prog_test_run_opts(bpf_program__fd(t->bpf->progs.walk_queue), NULL);
	while (!err && walk->request && --steps);
	if (!steps)
		t->bpf->bss->too_many = 1;
	return err;
}

static int attach(struct measurement *m)
{
	struct elements all = { .key_size = sizeof(u64), .value_size = sizeof(u8) };
	struct tcpbacklog *t = m->own;
	int err = measurement__attach(m);
	u64 listener;
	size_t i;

	if (!err)
		err = elements__read(&all, bpf_map__fd(t->bpf->maps.listeners));
	for (i = 0; i < all.n && !err; i++) {
		memcpy(&listener, elements__key(&all, i), sizeof(listener));
		err = walk_queue(t, listener);
	}
	elements__free(&all);
	return err;
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
	.check = check, .open = open_skeleton, .attach = attach, .report = report,
};

TOOL_MEASURING(tcpbacklog, spec, AREA_NETWORK, "accept queues: how full, how long connections wait for accept");
