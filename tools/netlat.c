// SPDX-License-Identifier: BSD-2-Clause
/* netlat: how long packets are on their way out. The measurement is bpf/netlat.bpf.c. */
#include <errno.h>
#include <string.h>

#include "cli/task_key.h"
#include "out/diag.h"
#include "run/course.h"
#include "run/measure.h"
#include "run/tabulate.h"
#include "tools.h"

#include "bpf/netlat.h"
#include "netlat.skel.h"

#define KEY_TABLE 0x1000

struct netlat {
	bool table;
	struct netlat_bpf *bpf;
	struct measure measure;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct netlat *n = state->input;

	(void)arg;
	if (key != KEY_TABLE)
		return ARGP_ERR_UNKNOWN;
	n->table = true;
	return 0;
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	static const char *const stages[NETLAT_STAGES] = {
		[NETLAT_QDISC] = "qdisc", [NETLAT_DEVICE] = "device",
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

_Static_assert(BY_STAGE == BY_OWN(0) && BY_DEVICE == BY_OWN(1), "parts in the order of their names");

/* The two stages are never added up: a packet goes through one after the other. */
static int check(void *context, struct cli *cli)
{
	(void)context;
	if (cli->by & ((1U << BY_PARTS) - 1) & ~BY_CPU) {
		diag_error("--by: a packet is no task's; keys are %s, cpu", parts.text);
		return -EINVAL;
	}
	cli->by |= BY_STAGE;
	return 0;
}

static int report(struct run *run, struct report *r)
{
	static const struct tabulation table = {};
	struct netlat *n = run->context;

	r->value = "time of packets on their way out";
	r->unit = UNIT_NS;
	r->source = "tp_btf/net_dev_queue, net_dev_start_xmit, netif_receive_skb, consume_skb, kfree_skb";
	if (n->table && !run->cli->heat)
		return measure__tabulate(&n->measure, run, r, &table);
	return measure__report(&n->measure, run, r);
}

static int open_skeleton(struct course *c, struct run *run)
{
	struct netlat_bpf *bpf = netlat_bpf__open();
	struct netlat *n = c->context;

	if (!bpf)
		return -errno;
	n->bpf = bpf;
	COURSE_SKELETON(c, bpf);
	return measure__prepare(&n->measure, run, bpf->obj, "times", sizeof(struct netlat_key),
				&bpf->rodata->scope, &bpf->rodata->by);
}

static int attach(struct course *c, struct run *run)
{
	struct netlat *n = c->context;
	int err = measure__begin(&n->measure, run, "times");

	return err ?: netlat_bpf__attach(n->bpf);
}

static int netlat(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "table", KEY_TABLE, NULL, 0, "A table, a row for each key, not histograms", 5 },
		{},
	};
	static const struct argp own = { .options = options, .parser = parse_own };
	struct netlat n = {};
	const struct cli_spec spec = {
		.groups = CLI_TIME | CLI_KEYS | CLI_TOP | CLI_GROUPS | CLI_OUTPUT | CLI_RUN |
			  CLI_TIMES,
		.doc = "How long packets wait in the queue of a device (qdisc), and in the device.",
		.own = &own,
		.own_input = &n,
		.own_parts = &parts,
	};
	struct course course = {
		.tool = "netlat", .context = &n, .source = "tp_btf/net_dev_queue, net_dev_start_xmit",
		.check = check, .open = open_skeleton, .attach = attach, .report = report,
	};
	int code = course__main(&course, &spec, argc, argv);

	measure__free(&n.measure);
	netlat_bpf__destroy(n.bpf);
	return code;
}

TOOL(netlat, AREA_NETWORK, "how long packets wait in front of a device, and in it");
