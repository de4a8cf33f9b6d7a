// SPDX-License-Identifier: BSD-2-Clause
/* tcpretrans: TCP retransmissions. The measurement is bpf/net/tcpretrans.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "host/errno_name.h"
#include "types/kernel_btf.h"
#include "net/tcp.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/lines.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/net/tcpretrans.h"
#include "tcpretrans.skel.h"

SKELETON(tcpretrans);

static const char *const field_names[] = {
	"why", "local", "remote", "state", "segments", "bytes", "error",
};

static const char *const why_names[RETRANS_WHYS] = {
	[RETRANS_OTHER] = "other", [RETRANS_SYN] = "syn", [RETRANS_SYNACK] = "synack",
	[RETRANS_TIMEOUT] = "timeout", [RETRANS_RECOVERY] = "recovery", [RETRANS_PROBE] = "probe",
};

struct tcpretrans {
	struct tcp_ports ports;
	bool summed;
	struct tcpretrans_bpf *bpf;
	struct lines lines;
	struct stream_template template;        /* the default template, which has no task */
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	static const char text[] =
		"{time} {why} {local} > {remote} {state} segments={segments} bytes={bytes}";
	struct tcpretrans *t = context;
	struct complaint c = {};
	int err = tcp_keys__check(cli, 0);

	if (err)
		return err;
	t->summed |= cli->by || cli->live;
	if (t->summed && cli->template_text) {
		diag_error("--template formats lines and cannot be combined with --count, --by or --live");
		return -EINVAL;
	}
	if (!cli->by)
		cli->by = BY_FLOW;
	err = lines__init(&t->lines, cli, field_names, ARRAY_SIZE(field_names));
	t->lines.rare = true;
	t->lines.idle = t->summed;
	return err ?: stream_template__parse(&t->template, text, field_names,
					     ARRAY_SIZE(field_names), &c);
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static struct stream_field word(const char *name, const char *text)
{
	return (struct stream_field){
		.field = { .name = name, .text = (char *)text, .word = true,
			   .kind = text ? FIELD_NUMBER : FIELD_NONE },
	};
}

static struct stream_field number(const char *name, u64 n)
{
	return (struct stream_field){ .field = { .name = name, .number = n } };
}

static const char *why_name(u8 why)
{
	return why < RETRANS_WHYS ? why_names[why] : "?";
}

static int show(void *context, const void *record, size_t size)
{
	const struct retrans_record *r = record;
	char local[IP_END_SPACE], remote[IP_END_SPACE];
	struct tcpretrans *t = context;
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		word("why", why_name(r->why)),
		word("local", tcp_flow__local(&r->flow, local)),
		word("remote", tcp_flow__remote(&r->flow, remote)),
		word("state", tcp_state_name(r->state)),
		number("segments", r->segments),
		number("bytes", r->bytes),
		word("error", r->error ? errno_name(-r->error) ?: "?" : NULL),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = "-", .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	if (t->lines.cli->template_text)
		return lines__write(&t->lines, &line);
	return lines__write_as(&t->lines, &t->template, &line);
}

static int watch(struct measurement *m)
{
	struct tcpretrans *t = m->own;

	return lines__drain(&t->lines);
}

/*
 * --- the table ---------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct retrans_sums, member)
#define WHY(title, which) COUNTER(title, OF(why[which]), FIELD_NUMBER)

static const struct column columns[] = {
	COUNTER("retransmits", OF(retransmits), FIELD_NUMBER),
	COUNTER("segments", OF(segments), FIELD_NUMBER),
	COUNTER("bytes", OF(bytes), FIELD_NUMBER),
	WHY("syn", RETRANS_SYN),
	WHY("synack", RETRANS_SYNACK),
	WHY("timeout", RETRANS_TIMEOUT),
	WHY("recovery", RETRANS_RECOVERY),
	WHY("probe", RETRANS_PROBE),
	WHY("other", RETRANS_OTHER),
	{},
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct retrans_element *e = element;

	return tcp_flow__add_parts(NULL, &e->key.flow, t->cli->by, row);
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct retrans_key), .value_size = sizeof(struct retrans_sums),
		.writer_at = offsetof(struct retrans_key, writer), .nsums = sizeof(struct retrans_sums) / sizeof(u64),
	},
	.task_at = SUM_NO_TASK,
	.events = OF(retransmits), .add_key = add_key,
};

static int report(struct measurement *m, struct report *r)
{
	struct tcpretrans *t = m->own;

	return t->summed ? sum_table__report(m, NULL, r) : lines__report(&t->lines, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct tcpretrans_bpf *bpf = m->bpf;
	struct tcpretrans *t = m->own;
	int err = 0;

	t->bpf = bpf;
	bpf->rodata->summed = t->summed;
	bpf->rodata->have_error = kernel_btf_arguments("btf_trace_tcp_retransmit_skb") >= 4;
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	if (t->summed)
		err = sum_table__prepare(m);
	return err ?: lines__prepare(&t->lines, m, bpf->obj);
}

static int attach(struct measurement *m)
{
	struct tcpretrans *t = m->own;
	int err = lines__begin(&t->lines, m, sizeof(struct retrans_record), show, t);

	m->watch = watch;
	return err ?: measurement__attach(m);
}

static void release(void *own)
{
	struct tcpretrans *t = own;

	lines__free(&t->lines);
	stream_template__free(&t->template);
}

static const struct option_row rows[] = {
	{ "count", 0, NULL, ROW_FLAG, "A table by connection (or --by) instead of lines", HELP_GROUPING,
	  FIELD(struct tcpretrans, summed) },
	INCLUDE(struct tcpretrans, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcpretrans",
	.cli = {
		.groups = CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_LINES |
			  CLI_ORDER,
		.doc = "Each TCP retransmission: its connection and cause; or counts.",
		.rows = rows,
		.own_parts = &tcp_own_parts,
		.keys = "local, remote, lport, rport",
		.keys_of_no_task = true,
		.columns = columns, .order = "retransmits",
	},
	.own_size = sizeof(struct tcpretrans), .skeleton = &tcpretrans_skeleton, .table = &table,
	.value = "TCP retransmissions", .source = "tp_btf/tcp_retransmit_skb, tcp_retransmit_synack", .check = check,
	.open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(tcpretrans, spec, AREA_NETWORK,
	       "each TCP retransmission and its cause, or counts by connection");
