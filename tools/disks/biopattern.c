// SPDX-License-Identifier: BSD-2-Clause
/* biopattern: sequential or random access. The measurement is bpf/disks/biopattern.bpf.c. */
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "disks/requests.h"
#include "run/measurement.h"
#include "tools.h"

#include "bpf/disks/biopattern.h"
#include "biopattern.skel.h"

SKELETON(biopattern);

struct biopattern {
	struct requests requests;
	struct biopattern_bpf *bpf;
	struct elements before;
	struct loss_counters losses_before;
};

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* The sums of a key in an earlier snapshot. Searches linearly, since there are few keys. */
static struct biopattern_sums before(const struct elements *e, const struct biopattern_key *key)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (!memcmp(elements__key(e, i), key, sizeof(*key)))
			return *(const struct biopattern_sums *)elements__value(e, i);
	return (struct biopattern_sums){};
}

static int add_figures(struct report_row *row, const struct biopattern_sums *s)
{
	u64 n = s->sequential + s->random;
	const struct field figures[] = {
		{ .name = "requests", .number = n, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "sequential", .number = s->sequential, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "random", .number = s->random, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "random_percent", .real = 100.0 * s->random / n, .kind = FIELD_REAL,
		  .decimals = 1, .role = ROLE_PERCENT, .of = "random", .per = "requests" },
		{ .name = "sequential_bytes", .number = s->sequential_bytes, .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER },
		{ .name = "random_bytes", .number = s->random_bytes, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_row(struct report *r, const struct biopattern_key *key,
		   const struct biopattern_sums *s)
{
	char disk[DISK_NAME_SPACE], op[REQUEST_TEXT_SPACE];
	struct report_row row = {};
	int err;

	err = report_row__add_text(&row, "disk", disk__name(key->disk, disk));
	if (!err)
		err = report_row__add_text(&row, "op", request_op_name(key->op, op));
	if (!err)
		err = add_figures(&row, s);
	return report__end_row(r, &row, err);
}

static int fill_rows(struct biopattern *b, struct report *r, const struct elements *now)
{
	static const struct biopattern_key no_key;
	static const struct biopattern_sums none;
	size_t i;
	int err = 0;

	for (i = 0; i < now->n && !err; i++) {
		const struct biopattern_key *key = elements__key(now, i);
		struct biopattern_sums s = *(const struct biopattern_sums *)elements__value(now, i);
		struct biopattern_sums then = before(&b->before, key);

		s.sequential -= then.sequential;
		s.random -= then.random;
		s.sequential_bytes -= then.sequential_bytes;
		s.random_bytes -= then.random_bytes;
		r->events += s.sequential + s.random;
		if (s.sequential + s.random)
			err = add_row(r, key, &s);
	}
	if (!err && !r->nrows)
		err = report__keep_columns(r, add_row(r, &no_key, &none));
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct biopattern *b = m->own;
	struct elements now = {
		.key_size = sizeof(struct biopattern_key),
		.value_size = sizeof(struct biopattern_sums),
	};
	int err;

	r->value = "order of requests";
	r->source = requests__source(&b->requests);
	r->table = true;
	r->has_events = true;
	err = loss__since(&r->counters, &b->losses_before, bpf_map__fd(b->bpf->maps.losses),
			  b->bpf->obj);
	if (!err)
		err = elements__read(&now, bpf_map__fd(b->bpf->maps.patterns));
	if (!err)
		err = fill_rows(b, r, &now);
	if (err) {
		elements__free(&now);
		return err;
	}
	elements__free(&b->before);
	b->before = now;
	report__sort_rows(r, "requests", 2, m->cli->top);
	return 0;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct biopattern_bpf *bpf = m->bpf;
	struct biopattern *b = m->own;

	b->bpf = bpf;
	b->requests.from_issue = true;
	return requests__prepare(&b->requests, m);
}

static int attach(struct measurement *m)
{
	struct biopattern *b = m->own;
	int err = measurement__attach(m);

	requests__begin(&b->requests, &b->bpf->bss->request_run);
	return err;
}

static void init(void *own)
{
	struct biopattern *b = own;

	*b = (struct biopattern){ .requests = REQUESTS };
}

static void release(void *own)
{
	struct biopattern *b = own;

	elements__free(&b->before);
}

static const struct option_row rows[] = {
	INCLUDE(struct biopattern, requests, request_rows),
	{},
};

static const struct tool_spec spec = {
	.name = "biopattern",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.doc = "Whether disks are read and written sequentially or at random.",
		.rows = rows,
	},
	.own_size = sizeof(struct biopattern), .skeleton = &biopattern_skeleton,
	.init = init, .open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(biopattern, spec, AREA_DISKS, "whether disk access is sequential or random");
