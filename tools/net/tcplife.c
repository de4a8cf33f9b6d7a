// SPDX-License-Identifier: BSD-2-Clause
/* tcplife: TCP sessions as they end. The measurement is bpf/net/tcplife.bpf.c. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

#include "agg/elements.h"
#include "host/errno_name.h"
#include "net/tcp.h"
#include "run/snoop.h"
#include "tools.h"

#include "bpf/net/tcplife.h"
#include "tcplife.skel.h"

SKELETON(tcplife);

static const char *const field_names[] = {
	"role", "local", "remote", "received", "sent", "acked", "retransmits", "rtt", "min_rtt",
	"duration", "begun", "error",
};

static const struct snoop_call calls[] = {
	{ "accept", TCPLIFE_ACCEPT }, { "accept4", TCPLIFE_ACCEPT },
};

struct tcplife {
	struct snoop snoop;     /* first member: show() casts its context to this type */
	struct tcp_ports ports;
	struct tcplife_bpf *bpf;
	char note[128];
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static const char *role_name(const struct tcplife_record *r)
{
	switch (r->role) {
	case TCPLIFE_CONNECT:
		return "connect";
	case TCPLIFE_ACCEPTED:
		return "accept";
	default:
		return NULL;
	}
}

/*
 * The kernel counts sequence numbers, including one each for SYN and FIN, but we report bytes. bytes_sent minus
 * bytes_retrans includes neither. A FIN is acknowledged after all bytes.
 */
static u64 bytes_sent(const struct tcplife_record *r)
{
	return r->sent - r->resent;
}

static u64 bytes_acked(const struct tcplife_record *r)
{
	u64 acked = r->acked - (r->role == TCPLIFE_CONNECT && r->acked);

	return acked < bytes_sent(r) ? acked : bytes_sent(r);
}

static u64 bytes_received(const struct tcplife_record *r)
{
	return tcp_payload_received(r->received, r->got_fin);
}

static struct stream_field rtt(const char *name, u32 us)
{
	return us && us != UINT32_MAX ? snoop_time(name, us * 1000ULL) : snoop_none(name);
}

static struct stream_field retransmits(u32 n)
{
	struct stream_field f = snoop_number("retransmits", n);

	return n ? f : snoop_spare(f);
}

static int show(void *context, const void *record, size_t size)
{
	const struct tcplife_record *r = record;
	struct tcplife *t = context;
	char comm[sizeof(r->owner.comm) + 1] = "", local[IP_END_SPACE], remote[IP_END_SPACE];
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_word("role", role_name(r)),
		snoop_word("local", tcp_flow__local(&r->flow, local)),
		snoop_word("remote", tcp_flow__remote(&r->flow, remote)),
		snoop_size("received", bytes_received(r)),
		snoop_size("sent", bytes_sent(r)),
		snoop_spare(snoop_size("acked", bytes_acked(r))),
		retransmits(r->retransmits),
		rtt("rtt", r->srtt_us),
		snoop_spare(rtt("min_rtt", r->min_rtt_us)),
		r->start_ns ? snoop_time("duration", r->time_ns - r->start_ns) :
			      snoop_none("duration"),
		snoop_word("begun", r->start_ns ? NULL : "before"),
		snoop_word("error", r->error ? errno_name(r->error) ?: "?" : NULL),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = r->owner.pid ? comm : "-", .pid = r->owner.pid,
		.tid = r->owner.tid, .cpu = r->cpu, .field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->owner.comm, sizeof(r->owner.comm));
	return lines__write(&t->snoop.lines, &line);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Counts the sessions in scope that have not ended. */
static size_t count_open(const struct tcplife *t)
{
	struct elements e = {
		.key_size = sizeof(u64), .value_size = sizeof(struct tcplife_session),
	};
	size_t i, n = 0;

	if (!elements__read(&e, bpf_map__fd(t->bpf->maps.sessions)))
		for (i = 0; i < e.n; i++) {
			const struct tcplife_session *s = elements__value(&e, i);

			n += s->established && s->wanted;
		}
	elements__free(&e);
	return n;
}

static void settle(struct snoop *snoop)
{
	struct tcplife *t = (struct tcplife *)snoop;

	snprintf(t->note, sizeof(t->note), "%zu sessions still open%s", count_open(t),
		 t->ports.nlocal || t->ports.nremote ? ", including other ports" : "");
	snoop->caveat = t->note;
}

static int open_skeleton(struct snoop *s)
{
	struct tcplife *t = (struct tcplife *)s;
	struct tcplife_bpf *bpf = s->m->bpf;

	t->bpf = bpf;
	bpf->rodata->picks_tasks = cli__picks_tasks(s->lines.cli);
	memcpy(&bpf->rodata->ports, &t->ports, sizeof(t->ports));
	return 0;
}

static void init(void *own)
{
	struct tcplife *t = own;

	*t = (struct tcplife){
		.snoop = {
			.value = "TCP sessions that ended",
			.source = "tp_btf/inet_sock_set_state; accept, accept4 at tp_btf/sys_exit",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.rare = true,
			.call = calls, .ncalls = ARRAY_SIZE(calls),
			.least = sizeof(struct tcplife_record),
			.show = show,
			.open = open_skeleton,
			.settle = settle,
		},
	};
}

static void release(void *own)
{
	struct tcplife *t = own;

	lines__free(&t->snoop.lines);
}

static const struct option_row rows[] = {
	INCLUDE(struct tcplife, ports, tcp_port_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "tcplife",
	.cli = {
		.groups = SNOOP_GROUPS,
		.doc = "Each TCP session as it ends: the process, the peer, bytes and duration.",
		.rows = rows,
	},
	.own_size = sizeof(struct tcplife), .skeleton = &tcplife_skeleton,
	SNOOP_HOOKS,
	.init = init, .free = release,
};

TOOL_MEASURING(tcplife, spec, AREA_NETWORK,
	       "each TCP session as it ends: process, peer, bytes, duration");
