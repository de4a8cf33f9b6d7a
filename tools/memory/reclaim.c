// SPDX-License-Identifier: BSD-2-Clause
/* reclaim: stalls for lack of free memory. The measurement is bpf/memory/reclaim.bpf.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "types/kernel_btf.h"
#include "host/features.h"
#include "host/task_state.h"
#include "memory/stalls.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/lines.h"
#include "run/ring.h"
#include "run/snoop.h"
#include "sym/kallsyms.h"
#include "tools.h"

#include "reclaim.skel.h"

SKELETON(reclaim);

/* A key has an element for each CPU on which it is seen, and more if its times vary widely. */
#define USUAL_KEYS 1024          /* and the number of their elements: */
#define ELEMENTS (4 * USUAL_KEYS)

#define SOURCE                                                                                     \
	"tp_btf/mm_vmscan_*_reclaim_begin and _end, mm_compaction_begin and _end, "                \
	"mm_vmscan_kswapd_wake and _sleep, mark_victim"
#define SOURCE_WITH_HIGH                                                                           \
	SOURCE "; high: fentry and fexit mem_cgroup_handle_over_high, "               \
	       "fentry schedule_timeout_killable, psi_memstall_leave"

#define NO_VICTIMS "this kernel does not report the OOM killer's victim (oom:mark_victim with the task: 6.8)"
#define NO_HIGH "sleeps above memory.high are not measured: this kernel lacks fentry or CONFIG_PSI"

static const char *const field_names[] = { "kind", "time", "pages", "for_comm", "for_pid" };

struct reclaim {
	bool by_line;           /* --min */
	u64 min_ns;
	bool tells_victims;
	bool misses_high;       /* tasks may sleep above memory.high, and no program sees it */
	struct reclaim_bpf *bpf;
	struct lines lines;
	struct stalls stalls;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static const struct column columns[] = {
	ADDED_BY_TOOL("count", ROLE_COUNTER),
	ADDED_BY_TOOL("total", ROLE_COUNTER),
	ADDED_BY_TOOL("avg", ROLE_MEAN),
	ADDED_BY_TOOL("p99", ROLE_GAUGE),
	ADDED_BY_TOOL("max", ROLE_MAXIMUM),
	ADDED_BY_TOOL("pages", ROLE_COUNTER),
	ADDED_BY_TOOL("unfinished", ROLE_GAUGE),
	{},
};

/* The kinds are too different to be summed, so each has its own row. */
static int check(void *context, struct cli *cli)
{
	struct reclaim *c = context;
	int err;

	if (cli->template_text && !c->by_line) {
		diag_error("--template formats lines: it needs --min");
		return -EINVAL;
	}
	if (c->by_line && cli->by) {
		diag_error("--min prints one line per stall and cannot be combined with --by");
		return -EINVAL;
	}
	cli->by = (cli->by & ~BY_RECLAIM_KIND ?: BY_PID) | BY_RECLAIM_KIND;
	err = lines__init(&c->lines, cli, field_names, ARRAY_SIZE(field_names));
	c->lines.rare = true;
	if (!err && c->by_line)
		err = lines__check(cli);
	return err;
}

/*
 * --- lines -------------------------------------------------------------------------------------
 */

static int show(void *context, const void *record, size_t size)
{
	const struct reclaim_record *r = record;
	struct reclaim *c = context;
	char comm[sizeof(r->comm) + 1] = "", other[sizeof(r->other_comm) + 1] = "";
	bool oom = r->kind == RECLAIM_OOM;
	const struct stream_field fields[ARRAY_SIZE(field_names)] = {
		snoop_word("kind", reclaim_kind_name(r->kind)),
		oom ? snoop_none("time") : snoop_time("time", r->ns),
		r->kind < RECLAIM_COMPACT ? snoop_number("pages", r->pages) : snoop_none("pages"),
		{ .field = { .name = "for_comm", .text = oom ? other : NULL,
			     .kind = oom ? FIELD_NUMBER : FIELD_NONE } },
		oom ? snoop_id("for_pid", r->other_pid) : snoop_none("for_pid"),
	};
	struct stream_line line = {
		.time_ns = r->time_ns, .comm = comm, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.field = fields, .n = ARRAY_SIZE(fields),
	};

	(void)size;
	memcpy(comm, r->comm, sizeof(r->comm));
	memcpy(other, r->other_comm, sizeof(r->other_comm));
	return lines__write(&c->lines, &line);
}

static int watch(struct measurement *m)
{
	struct reclaim *c = m->own;

	return lines__drain(&c->lines);
}

static const char *caveat_of(const struct reclaim *c)
{
	if (c->misses_high)
		return c->tells_victims ? NO_HIGH : NO_HIGH "; " NO_VICTIMS;
	return c->tells_victims ? NULL : NO_VICTIMS;
}

static int report(struct measurement *m, struct report *r)
{
	struct reclaim *c = m->own;

	r->value = "memory-pressure stalls";
	r->metric = "stall";
	r->caveat = caveat_of(c);
	if (c->by_line)
		lines__none_so_long(&c->lines, r, "stall", c->min_ns);
	return c->by_line ? lines__report(&c->lines, r) :
			    stalls__report(&c->stalls, m, r, m->cli->order);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* Kernels without cgroups, compaction or NUMA do not have all of these tracepoints. */
static int leave_out_absent(struct bpf_object *obj)
{
	static const char hook[] = "tp_btf/";
	struct bpf_program *prog;
	char name[96];
	int err = 0;

	bpf_object__for_each_program(prog, obj) {
		const char *section = bpf_program__section_name(prog);

		if (strncmp(section, hook, strlen(hook)))
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", section + strlen(hook));
		if (kernel_btf_arguments(name) != -ENOENT)
			continue;
		diag_detail("this kernel has no tracepoint %s", section + strlen(hook));
		err = err ?: bpf_program__set_autoload(prog, false);
	}
	return err;
}

static bool tells_victims(void)
{
	return kernel_btf_arguments("btf_trace_mark_victim") >= 3;
}

/* The name is that of an inline function in newer kernels (6.18). */
static const char *over_high_function(void)
{
	static const char *const names[] = { "__mem_cgroup_handle_over_high", "mem_cgroup_handle_over_high" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (kernel_btf_has_function(names[i]))
			return names[i];
	return NULL;
}

/*
 * Before 5.12 (commit e21aa341785c), and stable kernels that have it, too, the kernel frees the code around a function
 * while tasks sleep in the function.
 */
static bool may_sleep_within(const struct host *host)
{
	u64 address;

	return host->version >= KERNEL_VERSION(5, 12, 0) || kernel_symbol("__bpf_tramp_enter", &address) != -ENOENT;
}

static bool sees_high(const char *function, const struct host *host)
{
	return function && kernel_btf_has_function("schedule_timeout_killable") &&
	       kernel_btf_has_function("psi_memstall_leave") && may_sleep_within(host) &&
	       feature__probe("fentry") == FEATURE_OK;
}

static int watch_high(struct reclaim *c, struct measurement *m)
{
	struct bpf_program *const around[] = { c->bpf->progs.over_high_begins, c->bpf->progs.over_high_ends };
	struct bpf_program *const within[] = { c->bpf->progs.high_sleep_begins, c->bpf->progs.high_sleep_ends };
	const char *function = over_high_function();
	bool sees = sees_high(function, &m->run->host);
	int err = 0;
	size_t i;

	/* Without CONFIG_MEMCG there is neither. */
	c->misses_high = !sees && (function || kernel_btf_has_member("task_struct", "memcg_nr_pages_over_high"));
	for (i = 0; i < ARRAY_SIZE(around) && !err; i++) {
		bpf_program__set_autoload(around[i], sees);
		bpf_program__set_autoload(within[i], sees);
		if (sees)
			err = bpf_program__set_attach_target(around[i], 0, function);
	}
	if (sees)
		m->source = SOURCE_WITH_HIGH;
	return err;
}

static int choose_programs(struct reclaim *c, struct measurement *m)
{
	int err;

	c->tells_victims = tells_victims();
	err = bpf_program__set_autoload(c->bpf->progs.on_victim, c->tells_victims);
	if (!err)
		err = watch_high(c, m);
	return err ?: leave_out_absent(c->bpf->obj);
}

static int prepare_lines(struct reclaim *c, struct measurement *m)
{
	struct reclaim_bpf *bpf = c->bpf;

	bpf->rodata->lines = true;
	bpf->rodata->min_ns = c->min_ns;
	return lines__prepare(&c->lines, m, bpf->obj);
}

/*
 * This tool is used when memory is short, so all elements are allocated at the start. Therefore
 * there are fewer than in other tools, unless --max-keys says otherwise.
 */
static int take_room_now(struct bpf_map *map, const struct cli *cli)
{
	return map__preallocate(map, cli->asked_keys ? bpf_map__max_entries(map) : ELEMENTS);
}

static int prepare_sums(struct reclaim *c, struct measurement *m)
{
	struct reclaim_bpf *bpf = c->bpf;
	int err;

	err = measure__prepare(&c->stalls.measure, m, bpf->obj, "stalls",
			       sizeof(struct reclaim_key));
	if (!err)
		err = map__set_room(bpf->maps.pages, &m->run->host,
				    (u64)m->run->host.cpus_online * m->cli->max_keys);
	if (!err)
		err = take_room_now(bpf->maps.keyed_stalls, m->cli);
	if (!err)
		err = take_room_now(bpf->maps.pages, m->cli);
	return err ?: ring__prepare_bytes(bpf->obj, 4096);
}

static int open_skeleton(struct measurement *m)
{
	struct reclaim_bpf *bpf = m->bpf;
	struct reclaim *tool = m->own;
	int err;

	tool->bpf = bpf;
	err = task_state__prepare(bpf->obj, "reclaim_states", &m->run->host);
	if (!err)
		err = choose_programs(tool, m);
	return err ?: tool->by_line ? prepare_lines(tool, m) : prepare_sums(tool, m);
}

/*
 * If the CPU is a key or in the scope, current stalls are left out: an iterator runs on any CPU, so
 * it does not know the CPU of a stall.
 */
static void prepare_running(struct reclaim *c, const struct measurement *m)
{
	if (m->cli->scope.cpus || m->cli->by & BY_CPU)
		return;
	c->stalls.running = bpf_program__attach_iter(c->bpf->progs.show_running, NULL);
	if (!c->stalls.running)
		diag_detail("no task iterator: stalls are counted only when they end");
}

static int attach(struct measurement *m)
{
	struct reclaim *tool = m->own;
	int err;

	if (tool->by_line) {
		err = lines__begin(&tool->lines, m, sizeof(struct reclaim_record), show, tool);
		m->watch = watch;
		return err ?: measurement__attach(m);
	}
	err = measure__begin(&tool->stalls.measure, m, "stalls");
	tool->stalls.pages_fd = bpf_map__fd(tool->bpf->maps.pages);
	prepare_running(tool, m);
	return err ?: measurement__attach_programs(m);
}

static void release(void *own)
{
	struct reclaim *c = own;

	stalls__free(&c->stalls);
	lines__free(&c->lines);
}

static const struct option_row rows[] = {
	{ "min", 0, "TIME", ROW_TIME, "One line per stall of at least this long, and per victim", 1,
	  FIELD(struct reclaim, min_ns), ALSO(struct reclaim, by_line) },
	{},
};

static const struct tool_spec spec = {
	.name = "reclaim",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_TIMES | CLI_LINES | CLI_ORDER,
		.usual_keys = USUAL_KEYS,
		.doc = "Memory pressure: reclaim, compaction, sleeps above memory.high, kswapd, OOM kills.",
		.rows = rows,
		.own_parts = &reclaim_own_parts, .columns = columns, .order = "total",
	},
	.own_size = sizeof(struct reclaim), .skeleton = &reclaim_skeleton,
	.check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = SOURCE, .free = release,
};

TOOL_MEASURING(reclaim, spec, AREA_MEMORY,
	       "memory-pressure stalls: reclaim, compaction, OOM kills");
