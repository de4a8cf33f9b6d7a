// SPDX-License-Identifier: BSD-2-Clause
/* dcstat: hits and misses of the directory cache. The measurement is bpf/files/dcstat.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cli/order.h"
#include "host/features.h"
#include "host/probing.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/files/dcstat.h"
#include "dcstat.skel.h"

SKELETON(dcstat);

#define KEY_ORDER 0x1000

struct dcstat {
	const char *order;              /* name of a column; NULL: by key */
	struct dcstat_bpf *bpf;
	struct sum_table table;
};

static const char *const orders[] = { "misses", "lookups", "hits", "negative" };

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct dcstat *s = state->input;

	if (key != KEY_ORDER)
		return ARGP_ERR_UNKNOWN;
	return order__parse(&s->order, orders, ARRAY_SIZE(orders), arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* A map element. */
struct looked_up {
	struct dcstat_key key;
	struct dcstat_sums sums;
};

static u64 lookups(const u64 *sum)
{
	return sum[DCSTAT_HIT] + sum[DCSTAT_NEGATIVE] + sum[DCSTAT_MISS];
}

static u64 events(const void *element)
{
	const struct looked_up *e = element;

	return lookups(e->sums.sum);
}

static int add_figures(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct looked_up *e = element;
	const u64 *sum = e->sums.sum;
	u64 all = lookups(sum);
	const struct field figures[] = {
		{ .name = "lookups", .number = all, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "hits", .number = sum[DCSTAT_HIT], .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "negative", .number = sum[DCSTAT_NEGATIVE], .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER },
		{ .name = "misses", .number = sum[DCSTAT_MISS], .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "hit_percent", .kind = all ? FIELD_REAL : FIELD_NONE, .decimals = 2,
		  .role = ROLE_PERCENT, .of = "hits+negative", .per = "lookups",
		  .real = all ? 100.0 * (all - sum[DCSTAT_MISS]) / all : 0 },
	};

	(void)t;
	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct looked_up *e = element;
	char text[DCSTAT_NAME_LEN + 1] = "";
	int err = 0;

	memcpy(text, e->key.file, DCSTAT_NAME_LEN);
	if (t->cli->by & BY_LOOKUP_NAME)
		err = report_row__add_text(row, "name", text);
	return err ?: task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct dcstat_key), .value_size = sizeof(struct dcstat_sums),
		.writer_at = offsetof(struct dcstat_key, writer), .nsums = DCSTAT_COUNTS, .named = true,
	},
	.task_at = offsetof(struct dcstat_key, task),
	.add_key = add_key, .add_figures = add_figures, .events = events,
};

static int report(struct measurement *m, struct report *r)
{
	struct dcstat *s = m->own;

	r->value = "names of paths that were looked up";
	r->nothing = "nobody in scope has looked up a name";
	return sum_table__report(&s->table, &table, m, NULL, s->order, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct dcstat *s = m->own;

	s->bpf = m->bpf;
	if (host__check_types())
		return -EOPNOTSUPP;
	/* It may only be switched off: then measurement__attach() says so. */
	if (feature__probe("fentry") == FEATURE_MISSING && !ftrace_is_off()) {
		diag_error("this kernel attaches no programs to its functions (fentry), and no tracepoint "
			   "tells of names that are looked up");
		diag_hint("`tally trace -e %%file` shows the calls");
		return -EOPNOTSUPP;
	}
	if (libbpf_find_vmlinux_btf_id("lookup_fast", BPF_TRACE_FEXIT) < 0) {
		diag_error("this kernel has no function lookup_fast() that a program can be attached to: its "
			   "compiler has made it a part of others");
		return -EOPNOTSUPP;
	}
	return map__set_room_for_keys(s->bpf->maps.sums, &m->run->host, m->cli->max_keys);
}

static void init(void *own)
{
	struct dcstat *s = own;

	*s = (struct dcstat){ .order = "misses" };
}

static void release(void *own)
{
	struct dcstat *s = own;

	sum_table__free(&s->table);
}

static const struct argp_option option_list[] = {
	{ "sort", KEY_ORDER, "COL", 0, "Order by misses (default), lookups, hits, negative or key", HELP_GROUPING },
	{},
};

ORDER_VALUES(option_list, KEY_ORDER, orders);
static const struct argp own_argp = { .options = option_list, .parser = parse_own };
static const char *const key_names[] = { "name" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "name",
};

static const struct tool_spec spec = {
	.name = "dcstat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Hits and misses of the directory cache: each name of a path that is looked up.",
		.own = &own_argp,
		.own_parts = &parts,
	},
	.own_size = sizeof(struct dcstat), .skeleton = &dcstat_skeleton,
	.source = "fexit lookup_fast",
	.caveat = "not seen: the last name of a call that makes or deletes it, `.` and `..`",
	.init = init, .open = open_skeleton, .report = report, .free = release,
};

TOOL_MEASURING(dcstat, spec, AREA_FILES,
	       "directory cache: hits, misses, names that are not there, by task or name");
