// SPDX-License-Identifier: BSD-2-Clause
/* biopattern: sequential or random. The measurement is bpf/biopattern.bpf.c. */
#include <errno.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "block/requests.h"
#include "run/course.h"
#include "tools.h"

#include "bpf/biopattern.h"
#include "biopattern.skel.h"

struct biopattern {
	struct requests requests;
	struct biopattern_bpf *bpf;
	struct elements before;
	struct loss_counters losses_before;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct biopattern *b = state->input;

	return requests__parse(&b->requests, key, arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* What an element had in an earlier snapshot: there are few. */
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
		{ .name = "requests", .number = n, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "sequential", .number = s->sequential, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "random", .number = s->random, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "random_percent", .real = 100.0 * s->random / n, .kind = FIELD_REAL,
		  .decimals = 1 },
		{ .name = "sequential_bytes", .number = s->sequential_bytes, .kind = FIELD_NUMBER, .adds_up = true },
		{ .name = "random_bytes", .number = s->random_bytes, .kind = FIELD_NUMBER, .adds_up = true },
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
	return err;
}

static int report(struct run *run, struct report *r)
{
	struct biopattern *b = run->context;
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
	report__sort_rows(r, "requests", 2, run->cli->top);
	return 0;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int open_skeleton(struct course *c, struct run *run)
{
	struct biopattern_bpf *bpf = biopattern_bpf__open();
	struct biopattern *b = c->context;
	int err;

	if (!bpf)
		return -errno;
	b->bpf = bpf;
	COURSE_SKELETON(c, bpf);
	b->requests.from_issue = true;
	err = run__set_scope(run, bpf->obj, &bpf->rodata->scope);
	return err ?: requests__prepare(&b->requests, c, run, &bpf->rodata->request_config);
}

static int attach(struct course *c, struct run *run)
{
	struct biopattern *b = c->context;
	int err = course__attach(c, run);

	requests__begin(&b->requests, &b->bpf->bss->request_run);
	return err;
}

static int biopattern(int argc, char **argv)
{
	static const struct argp_option options[] = { REQUESTS_OPTIONS, {} };
	static const struct argp own = { .options = options, .parser = parse_own };
	struct biopattern b = { .requests = REQUESTS };
	const struct cli_spec spec = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_RUN | CLI_COMMAND,
		.doc = "Whether disks are read and written in order or all over the place.",
		.own = &own,
		.own_input = &b,
	};
	struct course course = {
		.tool = "biopattern", .context = &b, .open = open_skeleton, .attach = attach,
		.report = report,
	};
	int code = course__main(&course, &spec, argc, argv);

	elements__free(&b.before);
	biopattern_bpf__destroy(b.bpf);
	return code;
}

TOOL(biopattern, AREA_DISKS, "whether disks are used in order or at random");
