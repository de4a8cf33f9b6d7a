// SPDX-License-Identifier: BSD-2-Clause
/* netdrop: packets that the kernel dropped. The measurement is bpf/net/netdrop.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cli/task_key.h"
#include "types/kernel_btf.h"
#include "net/drop.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/net/netdrop.h"
#include "netdrop.skel.h"

SKELETON(netdrop);

struct netdrop {
	struct stack_options options;
	bool with_stacks;
	struct drop_reasons reasons;
	struct netdrop_bpf *bpf;
	struct stacks stacks;   /* for -g */
	struct symbols *symbols;        /* for tables */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const char *const part_names[] = { "reason", "location", "protocol", "port", "device" };

static const struct own_parts parts = {
	.name = part_names, .n = ARRAY_SIZE(part_names), .text = "reason, location, protocol, port, device",
};

_Static_assert(BY_REASON == BY_OWN(0) && BY_DEVICE == BY_OWN(4), "parts in the order of their names");

static int check_stacks(struct netdrop *n, struct cli *cli)
{
	if (cli->by || cli->by_text) {
		diag_error("-g cannot be combined with --by");
		return -EINVAL;
	}
	n->options.no_user = true;      /* most packets do not belong to the current task */
	n->stacks.at_tracepoints = true;
	return stack_options__check(&n->options, &n->stacks, cli, 0);
}

static int check_table(struct netdrop *n, struct cli *cli)
{
	char bad[64];

	if (stack_options__check_none(&n->options, cli))
		return -EINVAL;
	if ((cli->by_text && task_key__parse(cli->by_text, &parts, &cli->by, bad, sizeof(bad))) ||
	    cli->by & ((1U << BY_PARTS) - 1)) {
		diag_error("--by: keys of a packet are %s; the current task at a drop is mostly unrelated", parts.text);
		return -EINVAL;
	}
	return 0;
}

static int check(void *context, struct cli *cli)
{
	struct netdrop *n = context;

	return n->with_stacks ? check_stacks(n, cli) : check_table(n, cli);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct drop_element *e = element;
	const struct drop_key *k = &e->key;
	struct netdrop *n = t->own;
	u32 by = t->cli->by;
	char text[DROP_TEXT_SPACE], device[sizeof(k->device) + 1] = "";
	int err = 0;

	if (by & BY_REASON)
		err = report_row__add_text(row, "reason",
					   n->reasons.n ? drop_reason_name(&n->reasons, k->reason, text) :
							  NULL);
	if (!err && by & BY_LOCATION)
		err = report_row__add_text(row, "location",
					   drop_location_name(n->symbols, k->location, text));
	if (!err && by & BY_PROTOCOL)
		err = report_row__add_text(row, "protocol",
					   drop_protocol_name(k->ethertype, k->protocol, text));
	if (!err && by & BY_PORT)
		err = report_row__add_number(row, "port", k->port, k->port ? FIELD_ID : FIELD_NONE);
	memcpy(device, k->device, sizeof(k->device));
	if (!err && by & BY_DEVICE)
		err = report_row__add_text(row, "device", *device ? device : NULL);
	return err;
}

static const struct column columns[] = {
	COUNTER("drops", SUM(struct drop_sums, drops), FIELD_NUMBER),
	COUNTER("bytes", SUM(struct drop_sums, bytes), FIELD_NUMBER),
	{},
};

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct drop_key), .value_size = sizeof(struct drop_sums),
		.writer_at = offsetof(struct drop_key, writer), .nsums = sizeof(struct drop_sums) / sizeof(u64),
	},
	.task_at = SUM_NO_TASK,
	.events = SUM(struct drop_sums, drops), .add_key = add_key,
};

static int report_table(struct netdrop *n, struct measurement *m, struct report *r)
{
	int err = 0;

	if (!n->symbols && m->cli->by & BY_LOCATION)
		err = symbols__new(&n->symbols);
	return err ?: sum_table__report(m, NULL, r);
}

static int report_stacks(struct netdrop *n, struct measurement *m, struct report *r)
{
	const struct stack_options *o = &n->options;
	int err = stacks__report(&n->stacks, m, r, o->table ? 0 : m->cli->top);

	if (err)
		return err;
	r->stacks->unit = "drops";
	return o->table ? stacks__tabulate(r, o->leaf, m->cli->top, false) : 0;
}

static int report(struct measurement *m, struct report *r)
{
	struct netdrop *n = m->own;

	r->value = "packets dropped";
	r->source = n->reasons.n ? "tp_btf/kfree_skb" : "tp_btf/kfree_skb, without reasons";
	if (!n->reasons.n)
		r->caveat = "this kernel gives no reasons (Linux 5.17 does), and also frees some delivered packets "
			    "this way";
	return n->with_stacks ? report_stacks(n, m, r) : report_table(n, m, r);
}

static int watch(struct measurement *m)
{
	struct netdrop *n = m->own;

	return stacks__watch(&n->stacks);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int prepare_stacks(struct netdrop *n, struct measurement *m)
{
	struct netdrop_bpf *bpf = n->bpf;

	stack_options__take(&n->options, &n->stacks);
	bpf->rodata->with_stacks = true;
	bpf->rodata->nreasons = n->reasons.n;
	if (n->reasons.n)
		n->stacks.event = (const char *const *)n->reasons.name;
	return stacks__prepare(&n->stacks, m, bpf->obj, "counts", m->cli->asked_keys);
}

static int prepare_table(struct netdrop *n, struct measurement *m)
{
	struct cli *cli = m->cli;
	int err;

	if (!cli->by)
		cli->by = (n->reasons.n ? BY_REASON : 0) | BY_LOCATION | BY_PROTOCOL;
	n->bpf->rodata->by = cli->by;
	err = stacks__leave_out(n->bpf->obj);
	return err ?: sum_table__prepare(m);
}

static int open_skeleton(struct measurement *m)
{
	struct netdrop *n = m->own;
	struct netdrop_bpf *bpf;
	int err = drop_reasons__read(&n->reasons);

	if (err)
		return err;
	bpf = m->bpf;
	n->bpf = bpf;
	bpf->rodata->have_reason = kernel_btf_arguments("btf_trace_kfree_skb") >= 4;
	bpf->rodata->consumed = n->reasons.consumed;
	return n->with_stacks ? prepare_stacks(n, m) : prepare_table(n, m);
}

static int attach(struct measurement *m)
{
	struct netdrop *n = m->own;
	int err;

	if (!n->with_stacks)
		return measurement__attach(m);
	m->watch = watch;
	err = stacks__begin(&n->stacks, m);
	return err ?: measurement__attach_programs(m);
}

static void free_all(struct netdrop *n)
{
	symbols__free(n->symbols);
	stacks__free(&n->stacks);
	drop_reasons__free(&n->reasons);
}

static void init(void *own)
{
	struct netdrop *n = own;

	*n = (struct netdrop){ .options = STACK_OPTIONS };
}

static void release(void *own)
{
	struct netdrop *n = own;

	free_all(n);
}

static const struct option_row rows[] = {
	{ NULL, 'g', NULL, ROW_FLAG, "By stack: the packet's path in the kernel", 1,
	  FIELD(struct netdrop, with_stacks) },
	INCLUDE(struct netdrop, options, stack_option_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "netdrop",
	.cli = {
		.groups = CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_ORDER,
		.usual_stacks = STACKS_ON_DEMAND,
		.doc = "Packets dropped by the kernel: why, where, and what they were (--by reason, location, "
		       "protocol, port, device); with -g by stack.",
		.rows = rows,
		.own_keys = true,
		.own_parts = &parts,
		.keys = "reason, location, protocol, port, device",
		.keys_of_no_task = true,
		.columns = columns, .order = "drops",
	},
	.own_size = sizeof(struct netdrop), .skeleton = &netdrop_skeleton, .table = &table,
	.init = init, .source = "tp_btf/kfree_skb", .check = check, .open = open_skeleton,
	.attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(netdrop, spec, AREA_NETWORK,
	       "packets dropped by the kernel: why, where, what they were");
