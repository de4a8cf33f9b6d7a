// SPDX-License-Identifier: BSD-2-Clause
/* cachestat: hits and misses of the page cache. The measurement is bpf/files/cachestat.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/order.h"
#include "host/kernel_btf.h"
#include "host/syscalls.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "run/named_files.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/files/cachestat.h"
#include "cachestat.skel.h"

SKELETON(cachestat);

#define KEY_ORDER 0x1000

struct cachestat {
	const char *order;              /* name of a column; NULL: by key */
	struct cachestat_bpf *bpf;
	struct named_files files;
	struct sum_table table;
};

static const char *const orders[] = {
	"misses", "hits", "pages", "read_ahead", "dirtied", "written", "other",
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct cachestat *s = state->input;

	if (key != KEY_ORDER)
		return ARGP_ERR_UNKNOWN;
	return order__parse(&s->order, orders, ARRAY_SIZE(orders), arg);
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

/* A map element. */
struct cached {
	struct cachestat_key key;
	struct cachestat_sums sums;
};

static int add_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct cached *e = element;
	int err = t->cli->by & BY_CACHED_FILE ? report_row__add_file(row, &e->key.id) : 0;

	return err ?: task_key__add_fields(row, &e->key.task, e->sums.name, t->cli->by, &t->names);
}

/* A page may be requested in one interval, and its miss counted in the next. */
static u64 hits(const u64 *sum)
{
	u64 asked = sum[CACHESTAT_READ] + sum[CACHESTAT_FAULT];

	return asked > sum[CACHESTAT_MISS] ? asked - sum[CACHESTAT_MISS] : 0;
}

/*
 * Pages added so far by a call in progress count as read ahead; they become misses when the call
 * requests them.
 */
static u64 read_ahead(const u64 *sum)
{
	u64 others = sum[CACHESTAT_MISS] + sum[CACHESTAT_UNASKED];

	return sum[CACHESTAT_ADDED] > others ? sum[CACHESTAT_ADDED] - others : 0;
}

static int add_figures(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct cachestat *s = t->own;
	const struct cached *e = element;
	const u64 *sum = e->sums.sum;
	u64 hit = hits(sum), miss = sum[CACHESTAT_MISS];
	const struct field figures[] = {
		{ .name = "hits", .number = hit, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "misses", .number = miss, .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "hit_percent", .kind = hit + miss ? FIELD_REAL : FIELD_NONE, .decimals = 2,
		  .role = ROLE_PERCENT, .of = "hits", .per = "hits+misses",
		  .real = hit + miss ? 100.0 * hit / (hit + miss) : 0 },
		{ .name = "read_ahead", .number = read_ahead(sum), .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER },
		{ .name = "dirtied", .number = sum[CACHESTAT_DIRTIED], .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER },
		{ .name = "written", .number = sum[CACHESTAT_WRITTEN], .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER },
		{ .name = "other", .number = sum[CACHESTAT_OTHER] + sum[CACHESTAT_UNASKED],
		  .kind = FIELD_NUMBER, .role = ROLE_COUNTER },
		{ .name = "pages", .number = sum[CACHESTAT_READ] + sum[CACHESTAT_FAULT],
		  .kind = FIELD_NUMBER, .role = ROLE_COUNTER, .machine = true },
		{ .name = "faults", .number = sum[CACHESTAT_FAULT], .kind = FIELD_NUMBER,
		  .role = ROLE_COUNTER, .machine = true },
	};
	int err = report_row__add_fields(row, figures, ARRAY_SIZE(figures));

	if (!err && t->cli->by & BY_CACHED_FILE)
		err = report_row__add_path(row, &s->files, &e->key.id);
	return err;
}

static u64 events(const void *element)
{
	const struct cached *e = element;

	return e->sums.sum[CACHESTAT_READ] + e->sums.sum[CACHESTAT_FAULT];
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct cachestat_key), .value_size = sizeof(struct cachestat_sums),
		.writer_at = offsetof(struct cachestat_key, writer), .nsums = CACHESTAT_COUNTS, .named = true,
	},
	.task_at = offsetof(struct cachestat_key, task),
	.add_key = add_key, .add_figures = add_figures, .events = events,
};

static int report(struct measurement *m, struct report *r)
{
	struct cachestat *s = m->own;

	r->value = "pages that reads and page faults asked the page cache for";
	r->nothing = "nobody in scope has read from the page cache";
	return sum_table__report(&s->table, &table, m, s->files.ring, s->order, r);
}

static int watch(struct measurement *m)
{
	struct cachestat *s = m->own;

	return named_files__drain(&s->files);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static bool has_tracepoint(const char *name)
{
	return kernel_btf_arguments(name) > 0;
}

static int choose_programs(struct cachestat_bpf *bpf)
{
	bool folios = has_tracepoint("btf_trace_writeback_dirty_folio");
	int err = host__check_types();

	if (!err)
		err = bpf_program__set_autoload(folios ? bpf->progs.on_dirtied_page : bpf->progs.on_dirtied, false);
	if (err)
		return err;
	if (has_tracepoint("btf_trace_mm_filemap_get_pages"))
		return 0;
	diag_error("this kernel does not tell which pages are asked for: it has no tracepoint "
		   "filemap:mm_filemap_get_pages (Linux 6.12)");
	diag_hint("`tally stat -e filemap:mm_filemap_add_to_page_cache` counts pages that were read or "
		  "written for the first time");
	return -EOPNOTSUPP;
}

static void mark_calls(struct cachestat_bpf *bpf)
{
	static const struct {
		const char *name;
		enum cachestat_call mark;
	} marks[] = {
		{ "read", CACHESTAT_CALL_READ }, { "readv", CACHESTAT_CALL_READ },
		{ "pread64", CACHESTAT_CALL_PREAD }, { "preadv", CACHESTAT_CALL_PREAD },
		{ "preadv2", CACHESTAT_CALL_PREAD }, { "sendfile", CACHESTAT_CALL_SENDFILE },
		{ "splice", CACHESTAT_CALL_SPLICE }, { "copy_file_range", CACHESTAT_CALL_SPLICE },
		{ "write", CACHESTAT_CALL_WRITE }, { "pwrite64", CACHESTAT_CALL_WRITE },
		{ "writev", CACHESTAT_CALL_WRITE }, { "pwritev", CACHESTAT_CALL_WRITE },
		{ "pwritev2", CACHESTAT_CALL_WRITE }, { "truncate", CACHESTAT_CALL_WRITE },
		{ "ftruncate", CACHESTAT_CALL_WRITE }, { "fallocate", CACHESTAT_CALL_WRITE },
		{ "readahead", CACHESTAT_CALL_ADVICE }, { "fadvise64", CACHESTAT_CALL_ADVICE },
		{ "madvise", CACHESTAT_CALL_ADVICE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		syscall_mark(bpf->rodata->calls, marks[i].name, marks[i].mark);
}

static int open_skeleton(struct measurement *m)
{
	struct cachestat_bpf *bpf = m->bpf;
	struct cachestat *s = m->own;
	int err;

	s->bpf = bpf;
	mark_calls(bpf);
	err = map__set_room_for_keys(bpf->maps.sums, &m->run->host, m->cli->max_keys);
	if (!err)
		err = named_files__prepare(m, bpf->obj);
	if (!err)
		err = task_state__prepare(bpf->obj, "cache_states", &m->run->host);
	return err ?: choose_programs(bpf);
}

static int attach(struct measurement *m)
{
	struct cachestat *s = m->own;
	int err = named_files__open(&s->files, m);

	m->watch = watch;
	return err ?: measurement__attach(m);
}

static void init(void *own)
{
	struct cachestat *s = own;

	*s = (struct cachestat){ .order = "misses" };
}

static void release(void *own)
{
	struct cachestat *s = own;

	named_files__free(&s->files);
	sum_table__free(&s->table);
}

static const struct argp_option option_list[] = {
	{ "sort", KEY_ORDER, "COL", 0,
	  "Order by misses (default), hits, pages, read_ahead, dirtied, written, other or key", HELP_GROUPING },
	{},
};

ORDER_VALUES(option_list, KEY_ORDER, orders);
static const struct argp own_argp = { .options = option_list, .parser = parse_own };
static const char *const key_names[] = { "file" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "file",
};

static const struct tool_spec spec = {
	.name = "cachestat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND,
		.doc = "Hits and misses of the page cache: pages that reads and page faults ask for, "
		       "what was read ahead, what became dirty.",
		.own = &own_argp,
		.own_parts = &parts,
	},
	.own_size = sizeof(struct cachestat), .skeleton = &cachestat_skeleton,
	.source = "tp_btf/mm_filemap_get_pages, mm_filemap_map_pages, mm_filemap_fault, "
		  "mm_filemap_add_to_page_cache",
	.caveat = "memory that is mapped counts when it faults, not at each access",
	.init = init, .open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(cachestat, spec, AREA_FILES,
	       "page cache: hits, misses, read-ahead, dirtied pages, by task or file");
