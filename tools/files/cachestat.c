// SPDX-License-Identifier: BSD-2-Clause
/* cachestat: hits and misses of the page cache. The measurement is bpf/files/cachestat.bpf.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "types/kernel_btf.h"
#include "host/syscalls.h"
#include "host/task_state.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/named_files.h"
#include "run/sum_table.h"
#include "tools.h"

#include "bpf/files/cachestat.h"
#include "cachestat.skel.h"

SKELETON(cachestat);

#define KEY_ORDER 0x1000

struct cachestat {
	const char *order;              /* name of a column; NULL: sort by key */
	struct cachestat_bpf *bpf;
	struct named_files files;
	struct sum_table table;
};

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

#define COUNT(of) SUM(struct cachestat_sums, sum[of])
#define ASKED (COUNT(CACHESTAT_READ) | COUNT(CACHESTAT_FAULT))

static const struct column columns[] = {
	/* A page may be requested in one interval, and its miss counted in the next. */
	COUNTER("hits", ASKED, FIELD_NUMBER, .minus = COUNT(CACHESTAT_MISS)),
	COUNTER("misses", COUNT(CACHESTAT_MISS), FIELD_NUMBER),
	PERCENT("hit_percent", "hits", "hits+misses", 2),
	/* Includes pages of a call in progress, which become misses when the call requests them. */
	COUNTER("read_ahead", COUNT(CACHESTAT_ADDED), FIELD_NUMBER,
		.minus = COUNT(CACHESTAT_MISS) | COUNT(CACHESTAT_UNASKED)),
	COUNTER("dirtied", COUNT(CACHESTAT_DIRTIED), FIELD_NUMBER),
	COUNTER("written", COUNT(CACHESTAT_WRITTEN), FIELD_NUMBER),
	COUNTER("other", COUNT(CACHESTAT_OTHER) | COUNT(CACHESTAT_UNASKED), FIELD_NUMBER),
	COUNTER("pages", ASKED, FIELD_NUMBER, .machine = true),
	COUNTER("faults", COUNT(CACHESTAT_FAULT), FIELD_NUMBER, .machine = true),
	{},
};

static int add_path(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct cachestat *s = t->own;
	const struct cached *e = element;

	return t->cli->by & BY_CACHED_FILE ? report_row__add_path(row, &s->files, &e->key.id) : 0;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct cachestat_key), .value_size = sizeof(struct cachestat_sums),
		.writer_at = offsetof(struct cachestat_key, writer), .nsums = CACHESTAT_COUNTS, .named = true,
	},
	.task_at = offsetof(struct cachestat_key, task),
	.events = ASKED, .add_key = add_key, .add_more = add_path,
};

static int report(struct measurement *m, struct report *r)
{
	struct cachestat *s = m->own;

	return sum_table__report(m, s->files.ring, r);
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
	diag_error("this kernel does not report page cache lookups: it has no tracepoint "
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
	err = sum_table__prepare(m);
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

static void release(void *own)
{
	struct cachestat *s = own;

	named_files__free(&s->files);
}

static const char *const key_names[] = { "file" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names), .text = "file",
};

static const struct tool_spec spec = {
	.name = "cachestat",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.doc = "Hits and misses of the page cache: lookups by reads and page faults, read-ahead, dirtied "
		       "pages.",
		.own_parts = &parts, .columns = columns, .order = "misses",
	},
	.own_size = sizeof(struct cachestat), .skeleton = &cachestat_skeleton, .table = &table,
	.value = "pages looked up in the page cache by reads and page faults",
	.nothing = "no reads from the page cache in scope",
	.source = "tp_btf/mm_filemap_get_pages, mm_filemap_map_pages, mm_filemap_fault, "
		  "mm_filemap_add_to_page_cache",
	.caveat = "mapped memory counts at page faults, not at each access",
	.open = open_skeleton, .attach = attach, .report = report, .free = release,
};

TOOL_MEASURING(cachestat, spec, AREA_FILES,
	       "page cache: hits, misses, read-ahead, dirtied pages, by task or file");
