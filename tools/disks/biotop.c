// SPDX-License-Identifier: BSD-2-Clause
/* biotop: disk usage by task. The measurement is bpf/disks/biotop.bpf.c. */
#include <errno.h>

#include "agg/loss.h"
#include "disks/requests.h"
#include "disks/sums.h"
#include "cli/key_view.h"
#include "cli/order.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "tools.h"

#include "biotop.skel.h"

SKELETON(biotop);

#define KEY_SORT 0x1000

struct biotop {
	const char *order;      /* a column; NULL: by key */
	struct requests requests;
	struct biotop_bpf *bpf;
	struct request_sums_set before;
	struct loss_counters losses_before;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const char *const orders[] = {
	"requests", "bytes", "time", "avg", "queue", "device", "max", "errors", "requeued",
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct biotop *b = state->input;

	if (key == KEY_SORT)
		return order__parse(&b->order, orders, ARRAY_SIZE(orders), arg);
	return requests__parse(&b->requests, key, arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/*
 * Reads the change since the last call, which the caller frees. The snapshot becomes the next
 * "before".
 */
static int read_interval(struct biotop *b, struct request_sums_set *set,
			 struct loss_counters *losses)
{
	u64 interval = b->bpf->data->interval;
	struct request_sums_set now = {};
	bool anew;
	int err;

	b->bpf->data->interval = interval + 1;
	err = loss__since(losses, &b->losses_before, bpf_map__fd(b->bpf->maps.losses),
			  b->bpf->obj);
	if (!err)
		err = request_sums__read(set, bpf_map__fd(b->bpf->maps.sums), interval,
					 &b->bpf->bss->writer_generation, &anew);
	if (err)
		return err;
	err = anew ? 0 : request_sums__copy(&now, set);
	if (err) {
		request_sums__free(set);
		return err;
	}
	request_sums__subtract(set, &b->before);
	request_sums__free(&b->before);
	b->before = now;
	return 0;
}

static int add_figures(struct report_row *row, const struct request_sums *s)
{
	u64 time_ns = s->queue_ns + s->device_ns;
	const struct field figures[] = {
		{ .name = "requests", .number = s->requests, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "bytes", .number = s->bytes, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "time", .number = time_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "avg", .number = time_ns / s->requests, .kind = FIELD_TIME,
		  .role = ROLE_MEAN, .of = "time", .per = "requests" },
		{ .name = "queue", .number = s->queue_ns / s->requests, .kind = FIELD_TIME, .role = ROLE_GAUGE },
		{ .name = "device", .number = s->device_ns / s->requests, .kind = FIELD_TIME, .role = ROLE_GAUGE },
		{ .name = "max", .number = s->slowest_ns, .kind = FIELD_TIME, .role = ROLE_MAXIMUM },
		{ .name = "errors", .number = s->errors, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "requeued", .number = s->requeues, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_row(struct report *r, const struct request_sums *s, u32 by,
		   struct task_key_names *names, size_t *nkeys)
{
	struct report_row row = {};
	int err;

	err = task_key__add_fields(&row, &s->key.task, s->name, by, names);
	if (!err)
		err = request_own_parts.add(NULL, &s->key.parts, by, &row);
	*nkeys = row.ncells;
	report_row__end_key(&row);
	if (!err)
		err = add_figures(&row, s);
	return report__end_row(r, &row, err);
}

static int report(struct measurement *m, struct report *r)
{
	static const struct request_sums none = { .requests = 1 };
	struct task_key_names names = { .cgroups = m->cgroups };
	const struct cli *cli = m->cli;
	struct key_view view = { cli->by, &names, offsetof(struct biotop_key, task) };
	struct biotop *b = m->own;
	struct request_sums_set set;
	size_t i, nkeys = 0;
	int err;

	r->value = "requests";
	r->metric = "request";
	r->table = true;
	r->has_events = true;
	err = requests__describe(&b->requests, r);
	if (!err)
		err = read_interval(b, &set, &r->counters);
	if (err)
		return err;
	if (key_view__merges(&view))
		request_sums__regroup(&set, key_view__change, &view);
	for (i = 0; i < set.n && !err; i++) {
		err = add_row(r, &set.sums[i], cli->by, &names, &nkeys);
		r->events += set.sums[i].requests;
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, &none, cli->by, &names, &nkeys));
	task_key_names__free(&names);
	request_sums__free(&set);
	report__sort_rows(r, b->order, nkeys, table_rows(cli));
	return err;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int check(void *context, struct cli *cli)
{
	(void)context;
	if (!cli->by)
		cli->by = BY_PID | BY_DISK | BY_OP;
	return 0;
}

static int open_skeleton(struct measurement *m)
{
	struct biotop_bpf *bpf = m->bpf;
	struct biotop *b = m->own;
	int err;

	b->bpf = bpf;
	err = map__set_room_for_writers(bpf->maps.sums, &m->run->host, m->cli->max_keys);
	return err ?: requests__prepare(&b->requests, m);
}

static int attach(struct measurement *m)
{
	struct biotop *b = m->own;
	int err = measurement__attach(m);

	requests__begin(&b->requests, &b->bpf->bss->request_run);
	return err;
}

static void init(void *own)
{
	struct biotop *b = own;

	*b = (struct biotop){ .requests = REQUESTS, .order = "bytes" };
}

static void release(void *own)
{
	struct biotop *b = own;

	request_sums__free(&b->before);
}

static const struct argp_option option_list[] = {
	{ "sort", KEY_SORT, "COL", 0,
	  "Order by bytes (default), requests, time, avg, queue, device, max, errors, "
	  "requeued or key", HELP_GROUPING },
	REQUESTS_OPTIONS,
	{},
};

REQUESTS_VALUES(option_list);
ORDER_VALUES(option_list, KEY_SORT, orders);
static const struct argp own_argp = { .options = option_list, .parser = parse_own };

static const struct tool_spec spec = {
	.name = "biotop",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_TIMES,
		.doc = "Who uses the disks: requests, bytes and times, by process, disk and "
		       "operation (--by), the first 20 (--top).",
		.own = &own_argp,
		.own_parts = &request_own_parts,
	},
	.own_size = sizeof(struct biotop), .skeleton = &biotop_skeleton,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.free = release,
};

TOOL_MEASURING(biotop, spec, AREA_DISKS, "who uses the disks, and what they get");
