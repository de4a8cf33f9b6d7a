// SPDX-License-Identifier: BSD-2-Clause
/* biopattern: sequential or random. The measurement is bpf/biopattern.bpf.c. */
#include <errno.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "block/requests.h"
#include "run/explain.h"
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
		{ .name = "requests", .number = n, .kind = FIELD_NUMBER },
		{ .name = "sequential", .number = s->sequential, .kind = FIELD_NUMBER },
		{ .name = "random", .number = s->random, .kind = FIELD_NUMBER },
		{ .name = "random_percent", .real = 100.0 * s->random / n, .kind = FIELD_REAL,
		  .decimals = 1 },
		{ .name = "sequential_bytes", .number = s->sequential_bytes, .kind = FIELD_NUMBER },
		{ .name = "random_bytes", .number = s->random_bytes, .kind = FIELD_NUMBER },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(figures) && !err; i++)
		err = report_row__add_field(row, &figures[i]);
	return err;
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
	if (!err)
		return report__add_row(r, &row);
	report_row__free(&row);
	return err;
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
	struct loss_counters losses;
	int err;

	r->value = "order of requests";
	r->source = requests__source(&b->requests);
	r->table = true;
	r->has_events = true;
	err = loss__read(&losses, bpf_map__fd(b->bpf->maps.losses), b->bpf->obj);
	if (!err)
		err = elements__read(&now, bpf_map__fd(b->bpf->maps.patterns));
	if (!err)
		err = fill_rows(b, r, &now);
	if (err) {
		elements__free(&now);
		return err;
	}
	r->counters = loss__difference(&losses, &b->losses_before);
	b->losses_before = losses;
	elements__free(&b->before);
	b->before = now;
	report__sort_rows(r, "requests", 2, run->cli->top);
	return 0;
}

/*
 * --- the course --------------------------------------------------------------------------------
 */

static int configure(struct biopattern *b, struct run *run)
{
	struct biopattern_bpf *bpf = b->bpf;
	int err;

	memcpy((void *)&bpf->rodata->scope, &run->scope, sizeof(run->scope));
	err = scope__prepare(bpf->obj, &run->scope, &run->cli->scope);
	return err ?: requests__prepare(&b->requests, bpf->obj, &run->host,
					&bpf->rodata->request_config);
}

static int attach(struct biopattern *b, struct run *run)
{
	struct biopattern_bpf *bpf = b->bpf;
	int err = biopattern_bpf__load(bpf);

	if (!err) {
		run__describe_memory(run, bpf->obj);
		err = scope__fill(bpf->obj, &run->cli->scope);
	}
	if (!err)
		err = biopattern_bpf__attach(bpf);
	if (err)
		return requests__complain(err);
	requests__begin(&b->requests, &bpf->bss->request_run, &bpf->bss->armed);
	return 0;
}

static int measure(struct biopattern *b, struct run *run)
{
	int err;

	b->bpf = biopattern_bpf__open();
	if (!b->bpf)
		return -errno;
	err = configure(b, run);
	if (!err && run->cli->explain) {
		err = run__explain(run, b->bpf->obj, requests__source(&b->requests));
	} else if (!err) {
		err = attach(b, run);
		if (!err)
			err = run__loop(run);
	}
	elements__free(&b->before);
	biopattern_bpf__destroy(b->bpf);
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
	struct run run;
	struct cli cli;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	err = run__init(&run, "biopattern", &cli);
	run.report = report;
	run.context = &b;
	if (!err)
		err = measure(&b, &run);
	run__release(&run);
	cli__free(&cli);
	return run__exit_code(&run, err);
}

TOOL(biopattern, AREA_DISKS, "whether disks are used in order or at random");
