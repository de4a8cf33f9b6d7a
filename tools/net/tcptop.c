// SPDX-License-Identifier: BSD-2-Clause
/* tcptop: TCP bytes by process and connection. The measurement is bpf/net/tcptop.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "agg/sum_set.h"
#include "base/array.h"
#include "cli/task_key.h"
#include "host/syscalls.h"
#include "net/tcp.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/ring.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/net/tcptop.h"
#include "tcptop.skel.h"

SKELETON(tcptop);

/* Default limit of concurrent connections, and of keys per interval. */
#define USUAL_MAX_KEYS 262144

/* The state of a connection: how many of its bytes have been counted. */
struct past {
	u64 serial, socket;
	u64 sent, received;
	bool ended;             /* its last record has been taken */
	bool seen;              /* seen in the last pass over all connections */
	bool missing;           /* the connection had left the map before its last record arrived */
};

struct tcptop_key {
	struct task_key task;
	struct tcp_flow flow;
};

/* The value of a key in an interval. */
struct tcptop_sums {
	u64 sent, received, connections;
	u64 name_stamp;
	char name[SUM_NAME_LEN];
};

struct tcptop_element {
	struct tcptop_key key;
	struct tcptop_sums sums;
};

struct tcptop {
	struct tcp_ports ports;
	const struct cli *cli;
	struct tcptop_bpf *bpf;
	struct ring *ring;
	struct past *past;              /* by serial and socket */
	size_t npast;
	struct sum_set sums;            /* sums of this interval; a key may have several elements */
	u64 dropped;                    /* records that were not counted for lack of memory */
	bool settled;                   /* the counters have been read for the last time */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	struct tcptop *t = context;

	if (cli->by & BY_CPU || cli->scope.cpus) {
		diag_error("a connection belongs to no CPU: its packets are handled on any CPU");
		return -EINVAL;
	}
	if (!cli->by)
		cli->by = BY_PID | BY_FLOW;
	if (!cli->asked_keys)
		cli->max_keys = USUAL_MAX_KEYS;
	t->cli = cli;
	return 0;
}

/*
 * --- sums of an interval -----------------------------------------------------------------------
 */

static void reduce_key(void *context, void *key)
{
	const struct tcptop *t = context;
	struct tcp_flow *f = &((struct tcptop_key *)key)->flow;
	u32 by = t->cli->by;

	if (!(by & BY_LOCAL))
		memset(f->local, 0, sizeof(f->local));
	if (!(by & BY_REMOTE))
		memset(f->remote, 0, sizeof(f->remote));
	if (!(by & (BY_LOCAL | BY_REMOTE)))
		f->family = 0;
	if (!(by & BY_LPORT))
		f->lport = 0;
	if (!(by & BY_RPORT))
		f->rport = 0;
}

/* Returns false if there is no room for one more element. */
static bool has_room(struct tcptop *t)
{
	size_t most = 2 * (size_t)t->cli->max_keys, room = t->sums.room < most ? t->sums.room : most;
	bool grew;

	if (t->sums.n < room)
		return true;
	sum_set__regroup(&t->sums, reduce_key, t);
	if (t->sums.n < room / 2)
		return true;
	grew = room < most && !array__reserve(&t->sums.element, &t->sums.room, room ? 2 * room : 256,
					      sizeof(struct tcptop_element));
	return (grew || t->sums.n < room) && t->sums.n < t->cli->max_keys;
}

static void add(struct tcptop *t, const struct tcptop_record *r, u64 sent, u64 received)
{
	struct tcptop_element *e;

	if (!sent && !received)
		return;
	if (!has_room(t)) {
		t->dropped++;
		return;
	}
	e = (struct tcptop_element *)t->sums.element + t->sums.n++;
	*e = (struct tcptop_element){
		.key = { .task = r->owner.task, .flow = r->flow },
		.sums = { .sent = sent, .received = received, .connections = 1, .name_stamp = r->serial },
	};
	memcpy(e->sums.name, r->owner.name, sizeof(e->sums.name));
}

static const struct sum_table_spec table;

static void forget_sums(struct tcptop *t)
{
	sum_set__free(&t->sums);
	t->sums.layout = &table.layout;
	t->dropped = 0;
}

/*
 * --- connections -------------------------------------------------------------------------------
 */

/*
 * Returns the increase. The value is the difference of two counters that are not read at the same
 * time, so it can be too high, and the next one lower. In this case, the increase is 0 until the
 * value exceeds the previous one.
 */
static u64 advance(u64 *from, u64 to)
{
	u64 came = to > *from ? to - *from : 0;

	*from += came;
	return came;
}

static void count(struct tcptop *t, struct past *p, const struct tcptop_record *r)
{
	u64 sent = advance(&p->sent, r->sent), received = advance(&p->received, r->received);

	add(t, r, sent, received);
}

static int compare(u64 a_serial, u64 a_socket, u64 b_serial, u64 b_socket)
{
	if (a_serial != b_serial)
		return a_serial < b_serial ? -1 : 1;
	return (a_socket > b_socket) - (a_socket < b_socket);
}

static int compare_records(const void *a, const void *b)
{
	const struct tcptop_record *x = a, *y = b;

	return compare(x->serial, x->socket, y->serial, y->socket);
}

static int compare_past(const void *record, const void *past)
{
	const struct tcptop_record *r = record;
	const struct past *p = past;

	return compare(r->serial, r->socket, p->serial, p->socket);
}

/* Takes the last record of a connection that has ended. */
static int take_end(void *context, const void *record, size_t size)
{
	const struct tcptop_record *r = record;
	struct past unknown = {}, *p;
	struct tcptop *t = context;

	(void)size;
	p = t->npast ? bsearch(r, t->past, t->npast, sizeof(*p), compare_past) : NULL;
	if (p && p->ended)
		return 0;
	count(t, p ?: &unknown, r);
	if (p)
		p->ended = true;
	return 0;
}

/* Reads the counters of n sockets, and appends the records to `records`, which contains *have of them. */
static int look_at_some(struct tcptop *t, const u64 *sockets, size_t n,
			struct tcptop_record *records, size_t *have)
{
	struct tcptop_look *look = &t->bpf->bss->look;
	size_t i;
	int err;

	look->n = n;
	memcpy(look->socket, sockets, n * sizeof(*sockets));
	err = bpf_prog_test_run_opts(bpf_program__fd(t->bpf->progs.look_at_connections), NULL);
	for (i = 0; i < n && !err; i++)
		if (look->record[i].socket)
			records[(*have)++] = look->record[i];
	return err;
}

/* Reads the counters of all connections. Returns sorted records, which the caller frees. */
static int read_connections(struct tcptop *t, struct tcptop_record **records, size_t *n)
{
	struct elements all = { .key_size = sizeof(u64),
				.value_size = sizeof(struct tcptop_connection) };
	int err = elements__read(&all, bpf_map__fd(t->bpf->maps.connections));
	struct tcptop_record *r = err ? NULL : calloc(all.n ?: 1, sizeof(*r));
	size_t i, some, have = 0;

	if (!err && !r)
		err = -ENOMEM;
	for (i = 0; i < all.n && !err; i += some) {
		some = all.n - i < TCPTOP_LOOK ? all.n - i : TCPTOP_LOOK;
		err = look_at_some(t, elements__key(&all, i), some, r, &have);
	}
	elements__free(&all);
	if (err) {
		free(r);
		return err;
	}
	qsort(r, have, sizeof(*r), compare_records);
	*records = r;
	*n = have;
	return 0;
}

/* Merges the new records into t->past. Both are sorted. */
static int merge(struct tcptop *t, const struct tcptop_record *r, size_t n)
{
	struct past *now = calloc(t->npast + n + 1, sizeof(*now)), *p = now;
	size_t i, k = 0;
	int order;

	if (!now)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		for (order = -1; k < t->npast; k++) {
			order = compare_past(&r[i], &t->past[k]);
			if (order <= 0)
				break;
			*p++ = t->past[k];
			p[-1].seen = false;
			order = -1;
		}
		if (order)
			*p = (struct past){ .serial = r[i].serial, .socket = r[i].socket };
		else
			*p = t->past[k++];
		p->seen = true;
		count(t, p++, &r[i]);
	}
	for (; k < t->npast; k++) {
		*p++ = t->past[k];
		p[-1].seen = false;
	}
	free(t->past);
	t->past = now;
	t->npast = p - now;
	return 0;
}

static bool is_there(const struct tcptop *t, const struct past *p)
{
	struct tcptop_connection c;

	return !bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.connections), &p->socket, &c) &&
	       c.serial == p->serial;
}

/*
 * Forgets connections that have ended. If the last record may still be on its way, the connection
 * is kept until the next call.
 */
static void forget_ended(struct tcptop *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->npast; i++) {
		struct past p = t->past[i];
		bool gone = !p.ended && !p.seen && !is_there(t, &p);

		if (p.ended || (gone && p.missing))
			continue;
		p.missing = gone;
		t->past[n++] = p;
	}
	t->npast = n;
}

/* Finds out which process holds which connection. */
static int walk_files(struct tcptop *t)
{
	int err;

	t->bpf->bss->walk++;
	t->bpf->bss->strays = 0;
	err = tasks__visit(t->bpf->progs.walk_files);
	if (!err && t->bpf->bss->strays)
		err = tasks__visit(t->bpf->progs.adopt_connections);
	return err;
}

/*
 * Reads all counters. The last records of connections that end during this pass are in the ring, or arrive there before
 * the next pass.
 */
static int look(struct tcptop *t)
{
	struct tcptop_record *records = NULL;
	size_t n = 0;
	int err = read_connections(t, &records, &n);

	if (!err)
		err = merge(t, records, n);
	free(records);
	if (!err)
		err = ring__drain(t->ring);
	forget_ended(t);
	return err;
}

/* Updates the owners, which only task keys and scopes need, and reads all counters. */
static int settle(struct tcptop *t)
{
	int err = 0;

	if (t->cli->by & ((1U << BY_PARTS) - 1) || t->bpf->rodata->picks_tasks)
		err = walk_files(t);
	return err ?: look(t);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct tcptop_sums, member)

static const struct column columns[] = {
	COUNTER("received", OF(received), FIELD_SIZE),
	COUNTER("sent", OF(sent), FIELD_SIZE),
	PRESENT("connections", OF(connections), FIELD_NUMBER),
	COUNTER("bytes", OF(received) | OF(sent), FIELD_SIZE, .machine = true),
	{},
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct tcptop_element *e = element;
	struct task_key task = e->key.task;
	const char *name = e->sums.name[0] ? e->sums.name : "-";
	u32 by = t->cli->by;
	int err;

	if (by & BY_COMM && !task.comm[0])
		task.comm[0] = '-';
	err = task_key__add_fields(row, &task, name, by, &t->names);
	return err ?: tcp_flow__add_parts(NULL, &e->key.flow, by, row);
}

static int read_interval(struct measurement *m, struct sum_set *set, struct loss_counters *losses)
{
	struct tcptop *t = m->own;
	int err = t->settled ? 0 : settle(t);

	if (!err)
		err = loss__since(losses, &m->table.losses_before, bpf_map__fd(t->bpf->maps.losses), t->bpf->obj);
	losses->lost[LOSS_MAP_FULL] += t->dropped;
	sum_set__regroup(&t->sums, reduce_key, t);
	*set = t->sums;
	t->sums = (struct sum_set){};
	forget_sums(t);
	return err;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct tcptop_key), .value_size = sizeof(struct tcptop_sums),
		.writer_at = SUM_NO_WRITER, .nsums = 3, .named = true,
	},
	.task_at = offsetof(struct tcptop_key, task), .events = OF(connections),
	.read = read_interval, .add_key = add_key,
};

static int report(struct measurement *m, struct report *r)
{
	r->nothing = "no connection in scope has sent or received anything";
	return sum_table__report(m, NULL, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int watch(struct measurement *m)
{
	struct tcptop *t = m->own;

	return ring__drain(t->ring);
}

static int open_skeleton(struct measurement *m)
{
	struct tcptop_bpf *bpf = m->bpf;
	struct tcptop *t = m->own;
	int err;

	t->bpf = bpf;
	bpf->rodata->picks_tasks = cli__picks_tasks(m->cli);
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	syscall_mark(bpf->rodata->calls, "accept", TCPTOP_ACCEPT);
	syscall_mark(bpf->rodata->calls, "accept4", TCPTOP_ACCEPT);
	err = map__set_room(bpf->maps.connections, &m->run->host, m->cli->max_keys);
	if (!err)
		err = map__set_room(bpf->maps.unkept, &m->run->host, bpf_map__max_entries(bpf->maps.unkept));
	return err ?: ring__prepare_bytes(bpf->obj, ring__bytes_of_rare(&m->run->host));
}

static int attach(struct measurement *m)
{
	struct tcptop *t = m->own;
	int err = ring__open(&t->ring, t->bpf->maps.records, sizeof(struct tcptop_record), m->writer,
			     take_end, t);

	if (err)
		return err;
	m->watch_fd = ring__fd(t->ring);
	m->watch = watch;
	forget_sums(t);
	err = measurement__attach(m);
	return err ?: walk_files(t);
}

/* Reads and discards the bytes that connections transferred before. */
static int arm(struct measurement *m)
{
	struct tcptop *t = m->own;
	int err = look(t);

	forget_sums(t);
	*m->armed = 1;
	return err;
}

/* Reads the counters now: the kernel updates them whether the gate is open or not. */
static void disarm(struct measurement *m)
{
	struct tcptop *t = m->own;

	t->settled = !settle(t);
}

static void release(void *own)
{
	struct tcptop *t = own;

	ring__close(t->ring);
	sum_set__free(&t->sums);
	free(t->past);
}

static const struct option_row rows[] = {
	INCLUDE(struct tcptop, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcptop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "Bytes sent and received by TCP, by process and connection.",
		.rows = rows,
		.own_parts = &tcp_own_parts,
		.keys = "pid, tid, comm, cgroup, container, unit, pidns, uid, local, remote, lport, rport",
		.usual_keys = USUAL_MAX_KEYS, .columns = columns, .order = "bytes",
	},
	.own_size = sizeof(struct tcptop), .skeleton = &tcptop_skeleton, .table = &table,
	.value = "TCP bytes",
	.source = "the counters of each TCP socket, read at the end of each interval and of the connection",
	.caveat = "payload without retransmissions, of the process that holds the connection",
	.check = check, .open = open_skeleton, .attach = attach, .arm = arm,
	.disarm = disarm, .report = report, .free = release,
};

TOOL_MEASURING(tcptop, spec, AREA_NETWORK,
	       "bytes sent and received by TCP, by process and connection");
