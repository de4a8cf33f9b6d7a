// SPDX-License-Identifier: BSD-2-Clause
/* dnssnoop: DNS queries and their replies. The programs of bpf/net/dnssnoop.bpf.c show both; queries.c joins them. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/clock.h"
#include "host/interrupt.h"
#include "net/dns_names.h"
#include "net/dns_queries.h"
#include "net/dns_sums.h"
#include "report/diag.h"
#include "run/ring.h"
#include "run/snoop.h"
#include "tools.h"

#include "bpf/net/dnssnoop.h"
#include "dnssnoop.skel.h"

SKELETON(dnssnoop);

#define USUAL_PORT 53
#define USUAL_PATIENCE_NS (5 * NSEC_PER_SEC) /* of resolv.conf(5) */

static const char *const field_names[] = { "name", "type", "server", "latency", "result", "answers", "tries" };

struct dnssnoop {
	struct snoop snoop; /* first member: show() casts its context to this type */
	bool only_failed, summed;
	u64 min_ns, patience_ns;
	u32 port;
	struct dns_queries queries;
	struct dns_totals totals; /* --count */
	u64 lost;		  /* queries without room, in earlier reports */
	u64 read_ns;		  /* time of the latest record */
	char note[128];
};

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static bool has_failed(const struct dns_outcome *o)
{
	return !o->is_answered || (o->flags & DNS_RESULT_MASK);
}

static const char *result_of(const struct dns_outcome *o, char text[DNS_WORD_SPACE])
{
	if (!o->is_answered)
		return "no reply";
	if (o->flags & DNS_TRUNCATED && !has_failed(o))
		return "truncated";
	return dns_result_name(o->flags, text);
}

static int write_line(struct dnssnoop *d, const struct dns_outcome *o)
{
	const struct dns_record *r = &o->query->record;
	char name[DNS_NAME_SPACE], type[DNS_WORD_SPACE], result[DNS_WORD_SPACE], server[IP_END_SPACE];
	char comm[sizeof(r->comm) + 1] = "";
	__u16 number = 0;
	size_t has_name = dns_question__parse(o->query->question, r->length, name, &number);
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_word("name", has_name ? name : NULL),
		snoop_word("type", has_name ? dns_type_name(number, type) : NULL),
		snoop_word("server", ip_end(r->flow.family, r->flow.server, r->flow.server_port, server)),
		snoop_time("latency", o->took_ns),
		snoop_word("result", result_of(o, result)),
		o->is_answered ? snoop_number("answers", o->answers) : snoop_none("answers"),
		snoop_spare(snoop_number("tries", o->tries)),
	};
	struct stream_line line = {
		.time_ns = o->time_ns,
		.comm = r->pid ? comm : "-",
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
		.field = fields,
		.n = ARRAY_SIZE(fields),
	};

	memcpy(comm, r->comm, sizeof(r->comm));
	return lines__write(&d->snoop.lines, &line);
}

static int show_outcome(void *context, const struct dns_outcome *o)
{
	struct dnssnoop *d = context;

	if ((d->only_failed && !has_failed(o)) || o->took_ns < d->min_ns) {
		d->snoop.filtered++;
		return 0;
	}
	return d->summed ? dns_totals__add(&d->totals, o) : write_line(d, o);
}

static int show(void *context, const void *record, size_t size)
{
	const struct dns_record *r = record;
	struct dnssnoop *d = context;

	d->read_ns = r->time_ns;
	if (r->is_reply)
		return dns_queries__reply(&d->queries, r);
	return size < sizeof(struct dns_query) ? 0 : dns_queries__query(&d->queries, record);
}

/*
 * --- the table ---------------------------------------------------------------------------------
 */

#define OF(member) SUM(struct dns_sums, member)

static const struct column columns[] = {
	COUNTER("queries", OF(queries), FIELD_NUMBER),
	COUNTER("no_reply", OF(no_reply), FIELD_NUMBER),
	COUNTER("nxdomain", OF(nxdomain), FIELD_NUMBER),
	COUNTER("servfail", OF(servfail), FIELD_NUMBER),
	COUNTER("other_errors", OF(other_errors), FIELD_NUMBER, .rare = true),
	COUNTER("truncated", OF(truncated), FIELD_NUMBER, .rare = true),
	COUNTER("tries", OF(tries), FIELD_NUMBER, .spare = true),
	COUNTER("total", OF(ns), FIELD_DURATION),
	MEAN("avg", "total", "queries", FIELD_DURATION),
	MAXIMUM("max", struct dns_sums, longest, FIELD_DURATION),
	{},
};

static const char *const part_names[] = { "name", "type", "server", "result" };
static const struct own_parts parts = {
	.name = part_names,
	.n = ARRAY_SIZE(part_names),
	.text = "name, type, server, result",
};

static int add_name(struct report_row *row, const struct dns_key *key)
{
	__u8 question[sizeof(key->name) + 4];
	char name[DNS_NAME_SPACE];
	__u16 type;

	memcpy(question, key->name, sizeof(key->name));
	memset(question + key->length, 0, 4);
	return report_row__add_text(
		row, "name", dns_question__parse(question, key->length + 4, name, &type) && key->length ? name : "?");
}

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct dns_element *e = element;
	char text[DNS_WORD_SPACE], server[IP_END_SPACE];
	u32 by = t->cli->by;
	int err = 0;

	if (by & BY_DNS_NAME)
		err = add_name(row, &e->key);
	if (!err && by & BY_DNS_TYPE)
		err = report_row__add_text(row, "type", e->key.has_type ? dns_type_name(e->key.type, text) : "?");
	if (!err && by & BY_DNS_SERVER)
		err = report_row__add_text(row, "server",
					   ip_end(e->key.family, e->key.server, e->key.server_port, server) ?: "?");
	if (!err && by & BY_DNS_RESULT)
		err = report_row__add_text(row, "result",
					   e->key.result ? dns_result_name(e->key.result - 1, text) : "no reply");
	return err ?: task_key__add_fields(row, &e->key.task, e->sums.name, by, &t->names);
}

/* Queries are given up only once no earlier reply is left in the ring. */
static int drain(struct dnssnoop *d)
{
	u64 now = monotonic_ns();
	int err = lines__drain(&d->snoop.lines);

	if (!err)
		err = dns_queries__expire(&d->queries, ring__is_drained(d->snoop.lines.ring) ? now : d->read_ns);
	return err;
}

static int read_interval(struct measurement *m, struct sum_set *set, struct loss_counters *losses)
{
	struct dnssnoop *d = m->own;
	struct dnssnoop_bpf *bpf = m->bpf;
	int err = drain(d);

	if (!err && m->writer->is_last)
		err = dns_queries__settle(&d->queries);
	if (!err)
		err = loss__since(losses, &m->table.losses_before, bpf_map__fd(bpf->maps.losses), m->obj);
	losses->filtered += d->snoop.filtered;
	d->snoop.filtered = 0;
	set->layout = &m->spec->table->layout;
	return err ?: dns_totals__take(&d->totals, set);
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct dns_key), .value_size = sizeof(struct dns_sums),
		.writer_at = SUM_NO_WRITER, .nsums = offsetof(struct dns_sums, longest) / sizeof(u64), .nmaxima = 1,
		.named = true,
	},
	.task_at = offsetof(struct dns_key, task), .events = OF(queries),
	.read = read_interval, .add_key = add_key,
};

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int watch(struct measurement *m)
{
	return drain(m->own);
}

static int attach(struct measurement *m)
{
	int err = snoop__attach(m);

	m->watch = watch;
	return err;
}

static void describe(struct dnssnoop *d)
{
	size_t n = d->queries.n;

	snprintf(d->note, sizeof(d->note), n ? "only UDP port %u; without a reply so far: %zu" : "only UDP port %u",
		 d->port, n);
}

static int report_lines(struct measurement *m, struct report *r)
{
	struct dnssnoop *d = m->own;
	int err = drain(d);

	if (!err && m->writer->is_last)
		err = dns_queries__settle(&d->queries);
	describe(d);
	d->snoop.caveat = d->note;
	return err ?: snoop__report(m, r);
}

static int report(struct measurement *m, struct report *r)
{
	struct dnssnoop *d = m->own;
	u64 lost;
	int err;

	if (d->summed) {
		r->value = d->snoop.value;
		r->source = d->snoop.source;
		err = sum_table__report(m, NULL, r);
		describe(d);
		r->caveat = d->note;
	} else {
		err = report_lines(m, r);
	}
	lost = d->queries.lost + d->totals.lost;
	r->counters.lost[LOSS_MAP_FULL] += lost - d->lost;
	d->lost = lost;
	return err;
}

static int open_skeleton(struct snoop *s)
{
	struct dnssnoop *d = (struct dnssnoop *)s;
	struct dnssnoop_bpf *bpf = s->m->bpf;
	bool knows_interrupts;

	bpf->rodata->server_port = d->port;
	bpf->rodata->picks_tasks = cli__picks_tasks(s->lines.cli);
	return interrupt__prepare(s->m->obj, &knows_interrupts);
}

static int check(void *own, struct cli *cli)
{
	struct dnssnoop *d = own;
	int err;

	d->summed |= cli->by || cli->live;
	if (d->summed && cli->template_text) {
		diag_error("--template formats lines and cannot be combined with --count, --by or --live");
		return -EINVAL;
	}
	if (!cli->by)
		cli->by = BY_DNS_NAME | BY_DNS_SERVER;
	d->queries.patience_ns = d->patience_ns;
	d->totals.by = cli->by;
	d->totals.most = cli->max_keys;
	err = snoop__check(own, cli);
	d->snoop.lines.idle = d->summed;
	return err;
}

static void init(void *own)
{
	struct dnssnoop *d = own;

	*d = (struct dnssnoop){
		.snoop = {
			.value = "DNS queries",
			.source = "tp_btf/net_dev_queue, netif_receive_skb",
			.field = field_names, .nfields = ARRAY_SIZE(field_names),
			.least = sizeof(struct dns_record),
			.show = show,
			.open = open_skeleton,
		},
		.patience_ns = USUAL_PATIENCE_NS, .port = USUAL_PORT,
		.queries = { .show = show_outcome, .context = d },
	};
}

static void release(void *own)
{
	struct dnssnoop *d = own;

	dns_queries__free(&d->queries);
	dns_totals__free(&d->totals);
	lines__free(&d->snoop.lines);
}

static const struct option_row rows[] = {
	{ "count", 0, NULL, ROW_FLAG, "A table by name and server (or --by) instead of lines", HELP_GROUPING,
	  FIELD(struct dnssnoop, summed) },
	{ "failed", 0, NULL, ROW_FLAG, "Only failures and queries without a reply", 0,
	  FIELD(struct dnssnoop, only_failed) },
	{ "min", 0, "TIME", ROW_TIME, "Only queries that took at least this long", 0, FIELD(struct dnssnoop, min_ns) },
	{ "timeout", 0, "TIME", ROW_TIME, "Report a query without a reply after this time (default: 5s)", 0,
	  FIELD(struct dnssnoop, patience_ns) },
	{ "port", 0, "PORT", ROW_COUNT, "The servers' port (default: 53)", 0, FIELD(struct dnssnoop, port), .least = 1,
	  .most = 65535 },
	{},
};

static const struct tool_spec spec = {
	.name = "dnssnoop",
	.cli = {
		.groups = SNOOP_GROUPS | CLI_KEYS | CLI_TOP | CLI_LIVE | CLI_RUN | CLI_ORDER,
		.doc = "Each DNS query: its name, server, latency and result; or sums.",
		.rows = rows,
		.own_parts = &parts, .columns = columns, .order = "queries",
	},
	.own_size = sizeof(struct dnssnoop), .skeleton = &dnssnoop_skeleton, .table = &table,
	.check = check, .open = snoop__open, .attach = attach, .report = report,
	.init = init, .free = release,
};

TOOL_MEASURING(dnssnoop, spec, AREA_NETWORK, "each DNS query: name, server, latency, result, or no reply");
