// SPDX-License-Identifier: BSD-2-Clause
/* funcgraph: call tree and times of functions. The measurement is bpf/events/funcgraph.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "cli/order.h"
#include "event/user_binary.h"
#include "events/funcgraph/paths.h"
#include "probe/calls.h"
#include "probe/plan.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/explain.h"
#include "run/load.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/events/funcgraph.h"
#include "funcgraph.skel.h"

SKELETON(funcgraph);

#define MOST_TYPED 64
#define MOST_TASKS 2048         /* on kernels without task storage: 5 MiB */

enum {
	KEY_SORT = 0x1000,
	KEY_MAX_DEPTH,
	KEY_MAX_PATHS,
	KEY_FORMAT,
};

struct funcgraph {
	struct probe_request request;
	const char *typed[MOST_TYPED];
	const char *binary;             /* -x */
	bool interval_begun;
	bool is_flat;                   /* --sort: no tree */
	const char *order;
	u64 max_depth, max_paths;       /* 0: not given */
	int format;                     /* -1: not given */
	struct probe_plan plan;
	struct funcgraph_bpf *bpf;
	struct report_frame *frame;     /* one for each function */
	char **module;                  /* one for each function */
	struct {
		struct events events;
		struct event_sites sites;
		struct attachments attachments;
		u32 *slot;
	} end;                          /* sites at the ends of goroutines */
	struct paths paths;
	struct loss_counters losses_before;
	char source[512], nothing[640];
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

/* Before the interval begins, every word that is not a number is a function. */
static bool takes(void *input, char *arg)
{
	struct funcgraph *s = input;

	s->interval_begun |= begins_number(arg);
	if (s->interval_begun || s->request.ntyped == MOST_TYPED)
		return false;
	s->typed[s->request.ntyped++] = arg;
	return true;
}

static const char *const orders[] = { "tree", "total", "self", "calls", "avg", "max" };

static int parse_order(void *own, char *arg)
{
	struct funcgraph *s = own;
	int err = order__parse(&s->order, orders, ARRAY_SIZE(orders), arg);

	s->is_flat = !s->order || strcmp(s->order, "tree");
	return err;
}

#define FORMAT_NAMES "tree, text, folded, flame, svg, pprof, speedscope, json, csv, html, openmetrics, prometheus"

static int parse_format(void *own, char *name)
{
	struct funcgraph *s = own;

	s->format = report_stack_format(name);
	if (s->format >= 0)
		return 0;
	diag_error("--format: '%s' is not one of " FORMAT_NAMES, name);
	return -EINVAL;
}

static int check(void *own, struct cli *cli)
{
	struct funcgraph *s = own;
	struct probe_request *r = &s->request;

	cli->scope.command_joins_at_exec = true;
	if (!r->ntyped) {
		diag_error("no function given");
		diag_hint("as in: funcgraph -x ./prog 'main,parse_*' -p PID; `list --functions -x ./prog` shows its "
			  "functions");
		return -EINVAL;
	}
	if (s->format >= 0 && !format_is_metrics(s->format) && cli->listen.n) {
		diag_error("--listen serves OpenMetrics text and cannot be combined with other formats");
		return -EINVAL;
	}
	if (s->format >= 0)
		cli__set_format(cli, s->format);
	if (stack_format__check(cli))
		return -EINVAL;
	r->typed = s->typed;
	r->latency = r->bare = true;
	r->what = PROBE_COUNT;
	r->is_scoped = cli__picks_tasks(cli);
	r->context = event_context__of(s->binary, cli->scope.pids, cli->scope.npids, cli->command);
	return 0;
}

/*
 * --- functions ---------------------------------------------------------------------------------
 */

/* The part of "libc.so.6:malloc" or "vfs_read" that names the function. */
static const char *own_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon[1] != ':' ? colon + 1 : name;
}

static int name_functions(struct funcgraph *s)
{
	const struct event_sites *sites = &s->plan.side[PROBE_BEGIN].sites;
	size_t i;

	s->frame = calloc(sites->n ?: 1, sizeof(*s->frame));
	s->module = calloc(sites->n ?: 1, sizeof(*s->module));
	if (!s->frame || !s->module)
		return -ENOMEM;
	for (i = 0; i < sites->n; i++) {
		const struct event_site *site = &sites->site[i];
		const char *name = own_name(site->name);

		s->frame[i].name = name;
		s->frame[i].kind = FRAME_USER;
		if (site->event->type == EVENT_KERNEL_FUNCTION) {
			s->frame[i].kind = FRAME_KERNEL;
			s->frame[i].module = site->module ?: "[kernel]";
		} else if (name > site->name) {
			s->module[i] = strndup(site->name, name - 1 - site->name);
			if (!s->module[i])
				return -ENOMEM;
			s->frame[i].module = s->module[i];
		}
	}
	return 0;
}

static int check_functions(const struct funcgraph *s)
{
	const struct probe_plan *p = &s->plan;
	size_t i;

	for (i = 0; i < p->ndefinitions; i++)
		if (p->definition[i].n) {
			diag_error("'%s': expected only the name of a function", s->typed[i]);
			diag_hint("separate several functions by commas, or give each as an argument");
			return -EINVAL;
		}
	if (p->side[PROBE_BEGIN].sites.n <= CALL_FUNCTION)
		return 0;
	diag_error("%zu functions: more than %d cannot be told apart", p->side[PROBE_BEGIN].sites.n,
		   CALL_FUNCTION);
	return -E2BIG;
}

/*
 * --- the ends of goroutines --------------------------------------------------------------------
 */

static struct attach_programs end_programs(const struct funcgraph *s)
{
	return (struct attach_programs){
		.probe = s->bpf->progs.on_goroutine_end, .probes = s->bpf->progs.on_goroutine_end,
	};
}

/* Adds the function in which goroutines of a program end. It is traced once per program. */
static int add_goroutine_end(struct funcgraph *s, const char *path)
{
	const struct event_context ctx = { .binary = path };
	struct complaint c = {};
	size_t i;

	for (i = 0; i < s->end.events.n; i++)
		if (!strcmp(s->end.events.event[i].binary, path))
			return 0;
	return events__parse(&s->end.events, &ctx, "runtime.goexit1", &c);
}

/* If the end of a program's goroutines cannot be traced, the program is traced without it. */
static int plan_goroutine_ends(struct funcgraph *s)
{
	const struct event_sites *begins = &s->plan.side[PROBE_BEGIN].sites;
	const struct attach_programs programs = end_programs(s);
	const struct event_context ctx = {};
	struct complaint c = {};
	size_t i, which;
	int err = 0;

	for (i = 0; i < begins->n && !err; i++)
		if (begins->site[i].has_goroutine)
			err = add_goroutine_end(s, begins->site[i].path);
	if (!err)
		err = events__resolve(&s->end.sites, &s->end.events, &ctx, &c, &which);
	if (err == -ENOMEM)
		return err;
	s->end.slot = calloc(s->end.sites.n ?: 1, sizeof(*s->end.slot));
	return s->end.slot ? attach__plan(&s->end.attachments, &s->end.sites, NULL, &programs) : -ENOMEM;
}

static int attach_goroutine_ends(struct funcgraph *s)
{
	const struct attach_programs programs = end_programs(s);
	struct complaint c = {};
	size_t which;
	int err = attach__sites(&s->end.attachments, &s->end.sites, s->end.slot, &programs, &c, &which);

	if (err)
		diag_complaint(NULL, "runtime.goexit1", &c);
	return err;
}

static bool by_goroutine(const struct funcgraph *s)
{
	return probe_plan__is_by_goroutine(&s->plan);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static void init(void *own)
{
	struct funcgraph *s = own;

	s->format = -1;
}

static int make_plan(struct funcgraph *s)
{
	const struct attach_programs programs[PROBE_SIDES] = {
		[PROBE_BEGIN] = { .probe = s->bpf->progs.on_entry, .probes = s->bpf->progs.on_entries },
		[PROBE_END] = { .probe = s->bpf->progs.on_end, .probes = s->bpf->progs.on_ends },
	};
	int err = probe_plan__init(&s->plan, &s->request);

	if (!err)
		err = check_functions(s);
	if (!err)
		err = probe_plan__choose(&s->plan, programs, true);
	if (err)
		return err;
	probe_calls__number(&s->plan);
	err = by_goroutine(s) ? plan_goroutine_ends(s) : 0;
	return err ?: name_functions(s);
}

static int size_maps(struct funcgraph *s, struct measurement *m)
{
	const struct host *host = &m->run->host;
	u32 tasks;
	int err = task_state__prepare(s->bpf->obj, "frames", host);

	if (!err && !task_state__in_storage(host)) {
		tasks = 2 * host__threads();
		err = bpf_map__set_max_entries(s->bpf->maps.frames_hash, tasks > MOST_TASKS ? tasks : MOST_TASKS);
	}
	s->bpf->rodata->depth_most = s->max_depth ?: FUNCGRAPH_DEPTH;
	s->bpf->rodata->by_goroutine = by_goroutine(s);
	bpf_program__set_autoload(s->bpf->progs.show_open_goroutine, by_goroutine(s));
	if (!err && by_goroutine(s))
		err = bpf_map__set_max_entries(s->bpf->maps.goroutines, FUNCGRAPH_GOROUTINES) ?:
			      bpf_map__set_max_entries(s->bpf->maps.images, FUNCGRAPH_GOROUTINES);
	return err ?: map__set_room_for_writers(s->bpf->maps.paths, host, s->max_paths ?: CLI_DEFAULT_MAX_KEYS);
}

static int load(struct measurement *m)
{
	struct funcgraph *s = m->own;
	int err = measurement__open(m);

	if (err)
		return err;
	s->bpf = m->bpf;
	err = make_plan(s);
	if (!err)
		err = size_maps(s, m);
	if (!err && !m->cli->explain) {
		err = skeleton__load(s->bpf->skeleton);
		return err ? measurement__complain(m, "load", err) : 0;
	}
	return err;
}

static int explain(struct measurement *m)
{
	struct funcgraph *s = m->own;

	return measurement__explain_with(m, s->bpf->obj, "calls of the functions named", explain__add_sites, &s->plan);
}

static int attach(struct measurement *m)
{
	struct funcgraph *s = m->own;
	int err = measurement__fill_scope(m, m->obj);

	if (!err)
		err = measurement__attach_programs(m);
	if (err)
		return err;
	err = by_goroutine(s) ? attach_goroutine_ends(s) : 0;
	if (!err)
		err = probe_plan__attach(&s->plan);
	m->has_said = err;
	return err;
}

/* No frame changes after this time. */
static void end_at(struct funcgraph *s, u64 now)
{
	if (!s->bpf->bss->ended_ns)
		s->bpf->bss->ended_ns = now;
}

static void disarm(struct measurement *m)
{
	end_at(m->own, monotonic_ns());
}

/*
 * --- the report --------------------------------------------------------------------------------
 */

static char *path_text(const struct funcgraph *s, size_t i)
{
	u32 function[FUNCGRAPH_DEPTH], n = paths__functions(&s->paths, i, function), k;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (k = 0; f && k < n; k++)
		fprintf(f, "%s%s", k ? ";" : "", s->frame[function[k]].name);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

static int add_texts(struct report_row *row, const char *function, const char *path, const char *module)
{
	int err = report_row__add_text(row, "function", function);

	if (!err)
		err = report_row__add_text(row, "path", path);
	return err ?: report_row__add_text(row, "module", module);
}

/* Text output without a tree shows the path. */
static int add_names(const struct funcgraph *s, const struct cli *cli, struct report_row *row, size_t i)
{
	const struct path *path = &s->paths.path[i];
	const struct report_frame *f = &s->frame[path->function];
	bool is_tree = cli->format == FORMAT_TEXT && !s->is_flat;
	char *text = path_text(s, i);
	int err = text ? add_texts(row, f->name, text, f->module) : -ENOMEM;

	free(text);
	if (err)
		return err;
	row->cell[0].indent = is_tree ? 2 * path->depth : 0;
	row->cell[0].machine = !is_tree;
	row->cell[1].machine = is_tree;
	row->cell[2].machine = true;
	return 0;
}

static int add_figures(struct report_row *row, const struct path *path, u64 all_self, bool is_any_open)
{
	const struct funcgraph_sums *s = &path->sums;
	enum field_kind spread = s->calls ? FIELD_DURATION : FIELD_NONE;
	const struct field figures[] = {
		{ .name = "depth", .number = path->depth, .kind = FIELD_ID, .machine = true },
		{ .name = "calls", .number = s->calls, .role = ROLE_COUNTER },
		{ .name = "total", .number = s->total_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "self", .number = s->self_ns, .kind = FIELD_TIME, .role = ROLE_COUNTER },
		{ .name = "self_percent", .kind = all_self ? FIELD_REAL : FIELD_NONE, .decimals = 1, .role = ROLE_GAUGE,
		  .real = all_self ? 100.0 * (s->self_ns + s->open_self_ns) / all_self : 0 },
		{ .name = "avg", .number = s->calls ? s->total_ns / s->calls : 0, .kind = spread,
		  .role = ROLE_MEAN, .of = "total", .per = "calls" },
		{ .name = "max", .number = s->max_ns, .kind = spread, .role = ROLE_MAXIMUM },
		{ .name = "unfinished", .number = s->open, .machine = !is_any_open, .role = ROLE_GAUGE },
		{ .name = "unfinished_ns", .number = s->open_ns, .kind = FIELD_TIME, .machine = !is_any_open,
		  .role = ROLE_GAUGE },
		{ .name = "unfinished_self_ns", .number = s->open_self_ns, .kind = FIELD_TIME,
		  .machine = !is_any_open, .role = ROLE_GAUGE },
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_rows(const struct funcgraph *s, const struct cli *cli, struct report *r)
{
	const struct paths *p = &s->paths;
	static const struct path none;
	struct report_row columns = {};
	u64 all_self = 0, open = 0;
	int err = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		all_self += p->path[i].sums.self_ns + p->path[i].sums.open_self_ns;
		open += p->path[i].sums.open;
	}
	for (i = 0; i < p->nwalk && !err; i++) {
		struct report_row row = {};

		err = add_names(s, cli, &row, p->walk[i]);
		if (!err)
			err = add_figures(&row, &p->path[p->walk[i]], all_self, open);
		err = report__end_row(r, &row, err);
	}
	if (err || r->nrows)
		return err;
	err = add_texts(&columns, "", "", "") ?: add_figures(&columns, &none, 0, false);
	return report__end_columns(r, &columns, err);
}

static int add_stack(struct report_stacks *to, const struct paths *p, size_t i)
{
	const struct funcgraph_sums *sums = &p->path[i].sums;
	struct report_stack *stack = &to->stack[to->n];
	u32 function[FUNCGRAPH_DEPTH], k;

	if (!(sums->self_ns + sums->open_self_ns))
		return 0;
	stack->nframes = paths__functions(p, i, function);
	stack->frame = calloc(stack->nframes, sizeof(*stack->frame));
	stack->place = calloc(stack->nframes, sizeof(*stack->place));
	to->n++;
	if (!stack->frame || !stack->place)
		return -ENOMEM;
	for (k = 0; k < stack->nframes; k++) {
		stack->frame[k] = function[k];
		stack->place[k] = (struct report_place){ FRAME_PLACES, FRAME_PLACES };
	}
	stack->value = sums->self_ns + sums->open_self_ns;
	to->total += stack->value;
	return 0;
}

/* The self time of each path, for the formats of stacks. */
static int add_stacks(const struct funcgraph *s, struct report *r)
{
	const struct paths *p = &s->paths;
	struct report_stacks *to = calloc(1, sizeof(*to));
	int err = 0;
	size_t i;

	if (!to)
		return -ENOMEM;
	r->stacks = to;
	to->frame = s->frame;
	to->nframes = s->plan.side[PROBE_BEGIN].sites.n;
	to->unit = "ns";
	to->type = "functions";
	to->period = 1;
	to->key = calloc(1, sizeof(*to->key));
	to->stack = calloc(p->nwalk ?: 1, sizeof(*to->stack));
	if (!to->key || !to->stack)
		return -ENOMEM;
	to->nkeys = 1;
	for (i = 0; i < p->nwalk && !err; i++)
		err = add_stack(to, p, p->walk[i]);
	report__sort_stacks(r, 0);
	return err;
}

/* The map no longer changes, so bpf_map_get_next_key() visits each key once. */
static int visit_goroutines(struct funcgraph *s)
{
	int map = bpf_map__fd(s->bpf->maps.goroutines), prog = bpf_program__fd(s->bpf->progs.show_open_goroutine);
	void *key = &s->bpf->bss->open_goroutine;
	int err = bpf_map_get_next_key(map, NULL, key);

	while (!err) {
		err = bpf_prog_test_run_opts(prog, NULL);
		if (err)
			return err;
		err = bpf_map_get_next_key(map, key, key);
	}
	return err == -ENOENT ? 0 : err;
}

/* Unfinished calls are read once, at the end, when they no longer change. */
static int read_interval(struct funcgraph *s, struct report *r)
{
	int err = 0;

	if (s->bpf->bss->ended_ns)
		err = elements__await_programs();
	if (!err && s->bpf->bss->ended_ns)
		err = tasks__visit(s->bpf->progs.show_open);
	if (!err && s->bpf->bss->ended_ns && by_goroutine(s))
		err = visit_goroutines(s);
	if (!err)
		err = loss__since(&r->counters, &s->losses_before, bpf_map__fd(s->bpf->maps.losses),
				  s->bpf->obj);
	if (!err)
		err = paths__read(&s->paths, bpf_map__fd(s->bpf->maps.paths),
				  &s->bpf->bss->writer_generation);
	return err;
}

static int report(struct measurement *m, struct report *r)
{
	struct funcgraph *s = m->own;
	bool has_stacks = m->cli->format == FORMAT_HTML || m->cli->format >= FORMAT_FOLDED;
	int err;

	if (m->writer->is_last)
		end_at(s, m->began_ns + r->duration_ns);
	err = read_interval(s, r);
	if (err)
		return err;
	probe_plan__describe(&s->plan, s->source, sizeof(s->source));
	r->source = s->source;
	r->value = "calls of functions";
	r->unit = UNIT_NS;
	r->has_events = true;
	r->table = true;
	r->events = paths__calls(&s->paths);
	r->counters.lost[LOSS_RECURSION] += probe_calls__misses(&s->plan);
	r->nothing = event_sites__nothing(&s->plan.side[PROBE_BEGIN].sites, r->counters.filtered, s->nothing,
					  sizeof(s->nothing));
	if (!s->is_flat)
		r->hidden = paths__keep(&s->paths, table_rows(m->cli));
	if (has_stacks)
		err = add_stacks(s, r);
	if (!err && m->cli->format < FORMAT_FOLDED)
		err = add_rows(s, m->cli, r);
	if (!err && s->is_flat)
		report__sort_rows(r, s->order, 2, table_rows(m->cli));
	return err;
}

static void release(void *own)
{
	struct funcgraph *s = own;
	size_t i;

	attach__release(&s->end.attachments);
	event_sites__free(&s->end.sites);
	events__free(&s->end.events);
	free(s->end.slot);
	for (i = 0; s->module && i < s->plan.side[PROBE_BEGIN].sites.n; i++)
		free(s->module[i]);
	free(s->module);
	free(s->frame);
	paths__free(&s->paths);
	probe_plan__free(&s->plan);
}

static const char *const formats[] = {
	"tree", "text", "folded", "flame", "svg", "pprof", "speedscope", "json", "csv", "html", "openmetrics",
	"prometheus",
};

static const struct option_row rows[] = {
	{ "binary", 'x', "FILE", ROW_TEXT, "Functions of this program or library", 1,
	  FIELD(struct funcgraph, binary) },
	{ "max-depth", 0, "N", ROW_COUNT,
	  "Calls nested deeper than N have no line: their time counts as their callers' (at most 64)", 1,
	  FIELD(struct funcgraph, max_depth), .least = 1, .most = FUNCGRAPH_DEPTH },
	{ "max-paths", 0, "N", ROW_COUNT, "Room for about N paths (default 10240)", 1,
	  FIELD(struct funcgraph, max_paths), .least = 1, .most = 1 << 20 },
	{ "sort", 0, "COL", ROW_OWN, "A tree, or paths ordered by total, self, calls, avg, max or key", 1,
	  .parse = parse_order, WORDS(orders), .complete = complete_key },
	{ "format", 0, "NAME", ROW_OWN, FORMAT_NAMES, HELP_OUTPUT, .parse = parse_format, WORDS(formats) },
	{},
};

static const struct tool_spec spec = {
	.name = "funcgraph",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN | CLI_COMMAND,
		.doc = "The call tree of functions: which call which, how often, and where the time goes.",
		.rows = rows,
		.args_doc = "FUNCTION[,...]... [INTERVAL [COUNT]]\nFUNCTION[,...]... -- COMMAND [ARG...]",
		.takes = takes,
	},
	.own_size = sizeof(struct funcgraph), .skeleton = &funcgraph_skeleton, .stays_attached = true,
	.init = init, .check = check, .load = load, .explain = explain, .attach = attach, .disarm = disarm,
	.report = report, .free = release,
};

TOOL_MEASURING(funcgraph, spec, AREA_EVENTS, "which functions call which, and which take the time: a call tree");
