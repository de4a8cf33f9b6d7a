// SPDX-License-Identifier: BSD-2-Clause
/* netlat: latency of outgoing and incoming packets. The measurement is bpf/net/netlat.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "agg/loss.h"
#include "agg/sum_set.h"
#include "cli/task_key.h"
#include "host/features.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/map_room.h"
#include "run/measure.h"
#include "sym/kallsyms.h"
#include "tools.h"

#include "bpf/net/netlat.h"
#include "netlat.skel.h"

SKELETON(netlat);

#define SOURCE "tp_btf/net_dev_queue, net_dev_start_xmit, netif_rx, netif_receive_skb, " \
	       "napi_gro_*_entry, skb_copy_datagram_iovec, consume_skb, kfree_skb"
#define NAPI_SOURCE "tp_btf/napi_poll"
#define DEQUEUE "__skb_try_recv_from_queue"

static const struct sum_layout polls_layout = {
	.key_size = sizeof(struct netlat_poll_key), .value_size = sizeof(struct netlat_poll_sums),
	.writer_at = offsetof(struct netlat_poll_key, writer), .nsums = sizeof(struct netlat_poll_sums) / sizeof(u64),
};

struct netlat {
	bool napi;
	bool sees_datagrams;    /* UDP reads are traced */
	struct netlat_bpf *bpf;
	/* Used with --napi: */
	struct sum_set polls_before;
	struct loss_counters losses_before;
};

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	static const char *const stages[NETLAT_STAGES] = {
		[NETLAT_QDISC] = "qdisc", [NETLAT_DEVICE] = "device",
		[NETLAT_BACKLOG] = "backlog", [NETLAT_SOCKET] = "socket",
	};
	const struct netlat_parts *p = own;
	char device[sizeof(p->device) + 1] = "";
	int err = 0;

	(void)context;
	memcpy(device, p->device, sizeof(p->device));
	if (by & BY_DEVICE)
		err = report_row__add_text(row, "device", device);
	if (!err && by & BY_STAGE)
		err = report_row__add_text(row, "stage",
					   p->stage < NETLAT_STAGES ? stages[p->stage] : "?");
	return err;
}

static const char *const part_names[] = { "stage", "device" };

static const struct own_parts parts = {
	.name = part_names, .n = ARRAY_SIZE(part_names), .text = "stage, device", .add = add_parts,
};

_Static_assert(BY_STAGE == BY_OWN(0) && BY_DEVICE == BY_OWN(1),
	       "parts in the order of their names");

static int check_napi(struct cli *cli)
{
	if (cli->form || cli->heat || cli->sort >= 0 || cli->by & BY_STAGE) {
		diag_error("--napi cannot be combined with --table, --hist, --heat, --sort or --by stage");
		return -EINVAL;
	}
	if (!cli->by)
		cli->by = BY_DEVICE;
	return 0;
}

/* Rows of stages are never added up, because each packet passes through several stages. */
static int check(void *context, struct cli *cli)
{
	const struct netlat *n = context;

	if (cli->by & ((1U << BY_PARTS) - 1) & ~BY_CPU) {
		diag_error("--by: a packet belongs to no task; keys are %s, cpu", parts.text);
		return -EINVAL;
	}
	if (n->napi)
		return check_napi(cli);
	cli->by |= BY_STAGE;
	return 0;
}

/*
 * --- polls -------------------------------------------------------------------------------------
 */

static int add_polls(struct report *r, const struct netlat_poll_element *e, u32 by, size_t *nkeys)
{
	u64 polls = e->sums.polls;
	/* A snapshot taken during a poll may count its packets one interval later. */
	const struct field per_poll = {
		.name = "per_poll", .kind = polls ? FIELD_REAL : FIELD_NONE, .decimals = 1,
		.real = polls ? (double)e->sums.packets / polls : 0,
		.role = ROLE_MEAN, .of = "packets", .per = "polls",
	};
	char device[sizeof(e->key.device) + 1] = "";
	struct report_row row = {};
	int err = 0;

	memcpy(device, e->key.device, sizeof(e->key.device));
	if (by & BY_DEVICE)
		err = report_row__add_text(&row, "device", *device ? device : "(backlog)");
	if (!err && by & BY_CPU)
		err = report_row__add_number(&row, "cpu", e->key.cpu, FIELD_ID);
	*nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = report_row__add_sum(&row, "polls", polls, FIELD_NUMBER);
	if (!err)
		err = report_row__add_sum(&row, "packets", e->sums.packets, FIELD_NUMBER);
	if (!err)
		err = report_row__add_field(&row, &per_poll);
	if (!err)
		err = report_row__add_sum(&row, "full", e->sums.full, FIELD_NUMBER);
	return report__end_row(r, &row, err);
}

static int report_polls(struct netlat *n, const struct cli *cli, struct report *r)
{
	static const struct netlat_poll_element none;
	struct sum_set set = {};
	size_t i, nkeys = 0;
	int err = loss__since(&r->counters, &n->losses_before, bpf_map__fd(n->bpf->maps.losses),
			      n->bpf->obj);

	r->value = "polls of network devices";
	r->source = NAPI_SOURCE;
	r->table = true;
	r->has_events = true;
	if (!err)
		err = sum_set__since(&set, &n->polls_before, &(struct sum_source){
			.layout = &polls_layout, .map_fd = bpf_map__fd(n->bpf->maps.polls),
			.generation = &n->bpf->bss->writer_generation,
		});
	for (i = 0; i < set.n && !err; i++) {
		const struct netlat_poll_element *e = sum_set__at(&set, i);

		r->events += e->sums.polls;
		err = add_polls(r, e, cli->by, &nkeys);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_polls(r, &none, cli->by, &nkeys));
	sum_set__free(&set);
	report__sort_rows(r, "packets", nkeys, cli->top);
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int report(struct measurement *m, struct report *r)
{
	struct netlat *n = m->own;

	if (n->napi)
		return report_polls(n, m->cli, r);
	r->value = "packet latency";
	r->metric = "wait";
	r->unit = UNIT_NS;
	r->source = n->sees_datagrams ? SOURCE ", kretprobe/" DEQUEUE : SOURCE;
	if (!n->sees_datagrams)
		r->caveat = "without a kprobe on " DEQUEUE " most reads of UDP datagrams are not seen";
	return measure__report(&m->measure, m, r);
}

/* Loads either on_poll() alone or all the others. */
static int choose_programs(struct netlat *n)
{
	struct bpf_program *prog;
	u64 address;
	int err = 0;

	n->sees_datagrams = feature__probe("kprobe") == FEATURE_OK &&
			    kernel_symbol(DEQUEUE, &address) != -ENOENT;
	bpf_object__for_each_program(prog, n->bpf->obj)
		if (!err && n->napi != (prog == n->bpf->progs.on_poll))
			err = bpf_program__set_autoload(prog, false);
	if (!err && !n->sees_datagrams)
		err = bpf_program__set_autoload(n->bpf->progs.on_dequeue, false);
	return err;
}

static int prepare_polls(struct netlat *n, struct measurement *m)
{
	struct netlat_bpf *bpf = n->bpf;
	int err = bpf_map__set_autocreate(bpf->maps.packets, false);

	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.arrivals, false);
	return err ?: map__set_room_for_keys(bpf->maps.polls, &m->run->host, m->cli->max_keys);
}

/* Number of packets in flight, unless the limit of keys is higher. */
static int prepare_packets(struct netlat *n, struct measurement *m)
{
	struct bpf_map *packets = n->bpf->maps.packets;
	int err = 0;

	if (m->cli->max_keys > bpf_map__max_entries(packets))
		err = bpf_map__set_max_entries(packets, m->cli->max_keys);
	return err ?: measure__prepare(&m->measure, m, n->bpf->obj, "times", sizeof(struct netlat_key));
}

static int open_skeleton(struct measurement *m)
{
	struct netlat *n = m->own;
	int err;

	n->bpf = m->bpf;
	err = choose_programs(n);
	if (err)
		return err;
	if (n->napi) {
		m->source = NAPI_SOURCE;
		return prepare_polls(n, m);
	}
	return prepare_packets(n, m);
}

static int attach(struct measurement *m)
{
	struct netlat *n = m->own;
	int err = n->napi ? 0 : measure__begin(&m->measure, m, "times");

	return err ?: measurement__attach_programs(m);
}

static void release(void *own)
{
	struct netlat *n = own;

	sum_set__free(&n->polls_before);
}

static const struct option_row rows[] = {
	{ "napi", 0, NULL, ROW_FLAG, "Count packets per poll of a device (NAPI) instead", 1,
	  FIELD(struct netlat, napi) },
	{},
};

static const struct tool_spec spec = {
	.name = "netlat",
	.cli = {
		.groups = CLI_TIME | CLI_KEYS | CLI_TOP | CLI_GROUPS | CLI_FORM | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_TIMES,
		.doc = "Packet latency: outgoing, in the device's queue (qdisc) and in the device; incoming, until "
		       "the protocols take them, and until they are read.",
		.rows = rows,
		.own_parts = &parts,
		.keys = "stage, device, cpu",
		.keys_of_no_task = true,
	},
	.own_size = sizeof(struct netlat), .skeleton = &netlat_skeleton,
	.source = SOURCE, .check = check, .open = open_skeleton, .attach = attach,
	.report = report, .free = release,
};

TOOL_MEASURING(netlat, spec, AREA_NETWORK,
	       "how long packets wait for devices and readers");
