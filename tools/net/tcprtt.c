// SPDX-License-Identifier: BSD-2-Clause
/* tcprtt: TCP round-trip times. The measurement is bpf/net/tcprtt.bpf.c. */
#include <string.h>

#include "net/tcp.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "run/tabulate.h"
#include "tools.h"

#include "bpf/net/tcprtt.h"
#include "tcprtt.skel.h"

SKELETON(tcprtt);

struct tcprtt {
	struct tcp_ports ports;
	bool minimum;
};

static int check(void *context, struct cli *cli)
{
	(void)context;
	return tcp_keys__check(cli, BY_CPU);
}

static int report(struct measurement *m, struct report *r)
{
	static const struct tabulation table = {};
	struct tcprtt *t = m->own;
	const struct cli *cli = m->cli;

	r->metric = t->minimum ? "minimum_rtt" : "rtt";
	r->value = t->minimum ? "smallest round-trip time" : "smoothed round-trip time";
	r->unit = UNIT_NS;
	r->source = "tp_btf/tcp_probe: each segment received on an established connection";
	if (cli->by)
		return measure__tabulate(&m->measure, m, r, &table);
	return measure__report(&m->measure, m, r);
}

static int open_skeleton(struct measurement *m)
{
	struct tcprtt_bpf *bpf = m->bpf;
	struct tcprtt *t = m->own;

	bpf->rodata->minimum = t->minimum;
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	return 0;
}

static const struct option_row rows[] = {
	{ "minimum", 0, NULL, ROW_FLAG, "The smallest recent round trip: the path without its queues", 1,
	  FIELD(struct tcprtt, minimum) },
	INCLUDE(struct tcprtt, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcprtt",
	.cli = {
		.groups = CLI_TIME | CLI_KEYS | CLI_TOP | CLI_GROUPS | CLI_FORM | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_TIMES,
		.doc = "Round-trip times of TCP, as connections measure them.",
		.rows = rows,
		.own_parts = &tcp_own_parts,
		.keys = "local, remote, lport, rport, cpu",
		.keys_of_no_task = true,
	},
	.own_size = sizeof(struct tcprtt), .skeleton = &tcprtt_skeleton,
	.hist = { "rtts", sizeof(struct tcprtt_key) },
	.source = "tp_btf/tcp_probe", .check = check, .open = open_skeleton, .report = report,
};

TOOL_MEASURING(tcprtt, spec, AREA_NETWORK, "round-trip times of TCP connections");
