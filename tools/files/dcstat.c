// SPDX-License-Identifier: BSD-2-Clause
/* dcstat: hits and misses of the directory cache. The measurement is bpf/files/dcstat.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "host/features.h"
#include "host/probing.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "report/column.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/files/dcstat.h"
#include "dcstat.skel.h"

SKELETON(dcstat);

/* A map element. */
struct looked_up {
	struct dcstat_key key;
	struct dcstat_sums sums;
};

#define COUNT(of) SUM(struct dcstat_sums, sum[of])
#define LOOKUPS (COUNT(DCSTAT_HIT) | COUNT(DCSTAT_NEGATIVE) | COUNT(DCSTAT_MISS))

static const struct column columns[] = {
	COUNTER("lookups", LOOKUPS, FIELD_NUMBER),
	COUNTER("hits", COUNT(DCSTAT_HIT), FIELD_NUMBER),
	COUNTER("negative", COUNT(DCSTAT_NEGATIVE), FIELD_NUMBER),
	COUNTER("misses", COUNT(DCSTAT_MISS), FIELD_NUMBER),
	PERCENT("hit_percent", "hits+negative", "lookups", 2),
	{},
};

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
	.events = LOOKUPS, .add_key = add_key,
};

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	if (host__check_types())
		return -EOPNOTSUPP;
	/* fentry may just be switched off. In this case, measurement__attach() reports it. */
	if (feature__probe("fentry") == FEATURE_MISSING && !ftrace_is_off()) {
		diag_error("this kernel has no fentry, and no tracepoint reports names that are looked up");
		diag_hint("`tally trace -e %%file` shows the calls");
		return -EOPNOTSUPP;
	}
	if (libbpf_find_vmlinux_btf_id("lookup_fast", BPF_TRACE_FEXIT) < 0) {
		diag_error("this kernel has no lookup_fast() to attach to: the compiler has inlined it");
		return -EOPNOTSUPP;
	}
	return sum_table__prepare(m);
}

static const char *const key_names[] = { "name" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "name",
};

static const struct tool_spec spec = {
	.name = "dcstat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "Hits and misses of the directory cache, one lookup per name in a path.",
		.own_parts = &parts, .columns = columns, .order = "misses",
	},
	.skeleton = &dcstat_skeleton, .table = &table,
	.value = "names in paths that were looked up",
	.nothing = "no lookups of names in scope",
	.source = "fexit lookup_fast",
	.caveat = "not seen: the last name of a call that creates or deletes it, `.` and `..`",
	.open = open_skeleton,
};

TOOL_MEASURING(dcstat, spec, AREA_FILES,
	       "directory cache: hits, misses, nonexistent names, by task or name");
