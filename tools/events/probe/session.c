// SPDX-License-Identifier: BSD-2-Clause
#include "events/probe/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/task_state.h"
#include "jit/dump.h"
#include "report/diag.h"
#include "event/user_binary.h"
#include "events/probe/starts.h"
#include "run/load.h"
#include "run/measurement.h"
#include "run/explain.h"
#include "run/lines.h"
#include "run/map_room.h"
#include "run/measure.h"
#include "run/ring.h"
#include "run/tabulate.h"

#include "bpf/events/site.h"
#include "probe.skel.h"

SHARED_SKELETON(probe);

#define USUAL_STARTS 65536      /* spans that can be in progress, unless the limit of keys is higher */
#define AHEAD_MOST (12 << 20)   /* limit for preallocation: bytes of keys and values */

static void templates(const struct probe_session *s, struct attach_programs programs[PROBE_SIDES])
{
	/* Global functions exist only to walk stacks. */
	const struct bpf_object *obj = s->callers.wanted ? s->bpf->obj : NULL;
	typeof(s->bpf->progs) *p = &s->bpf->progs;

	programs[PROBE_BEGIN] = (struct attach_programs){
		.object = obj,
		.filtered_tracepoint = p->begin_tracepoint, .raw_tracepoint = p->begin_raw, .fentry = p->begin_entry,
		.fexit = p->begin_exit, .probe = p->begin_probe, .probes = p->begin_probes,
		.syscall_enter = p->begin_syscall_enter, .syscall_exit = p->begin_syscall_exit,
		.syscall_slots = s->bpf->maps.begin_syscall_slots,
	};
	programs[PROBE_END] = (struct attach_programs){
		.object = obj,
		.filtered_tracepoint = s->plan.spans ? p->end_tracepoint : p->on_tracepoint,
		.raw_tracepoint = s->plan.spans ? p->end_raw : p->on_raw,
		.fentry = s->plan.spans ? p->end_entry : p->on_entry,
		.fexit = s->plan.spans ? p->end_exit : p->on_exit,
		.probe = s->plan.spans ? p->end_probe : p->on_probe,
		.probes = s->plan.spans ? p->end_probes : p->on_probes,
		.syscall_enter = s->plan.spans ? p->end_syscall_enter : p->on_syscall_enter,
		.syscall_exit = s->plan.spans ? p->end_syscall_exit : p->on_syscall_exit,
		.syscall_slots = s->bpf->maps.syscall_slots,
	};
}

/*
 * --- maps --------------------------------------------------------------------------------------
 */

/* Number of elements: per key, one for each CPU on which it is seen, and two for histograms. */
static u64 room(const struct probe_session *s)
{
	const struct host *host = &s->m->run->host;
	u64 cpus = host->cpus_online < 8 ? host->cpus_online : 8;
	bool whole = s->plan.request->what == PROBE_COUNT || s->plan.request->what == PROBE_SUM;

	return s->m->cli->max_keys * cpus * (whole ? 1 : 2);
}

/*
 * Preallocates small maps, so that elements are adjacent, in the order of their first use. Elements
 * allocated on demand are larger, by the allocator's overhead, and scattered; with 10,000 keys,
 * most of the cost of an event is memory latency.
 */
static int make_ahead(struct bpf_map *map)
{
	u64 each = bpf_map__key_size(map) + bpf_map__value_size(map);

	if (bpf_map__max_entries(map) * each > AHEAD_MOST)
		return 0;
	return bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~BPF_F_NO_PREALLOC);
}

static int size_keyed(struct probe_session *s, struct bpf_map *map, bool used)
{
	int err;

	if (!used)
		return bpf_map__set_max_entries(map, 1);
	err = bpf_map__set_key_size(map, sizeof(struct hist_slot) + s->plan.layout.size);
	if (!err)
		err = map__set_room_for_keys(map, &s->m->run->host, room(s));
	return err ?: make_ahead(map);
}

static int size_starts(struct probe_session *s, struct bpf_map *map)
{
	u32 counters = s->with.events.n ? 8 * (s->with.events.n + 1) : 0, keys = s->m->cli->max_keys;
	int err;

	if (!s->plan.spans)
		return bpf_map__set_max_entries(map, 1);
	err = bpf_map__set_key_size(map, s->plan.match_size);
	if (!err)
		err = bpf_map__set_value_size(map, sizeof(struct probe_begin) +
							   s->bpf->rodata->begin_counters +
							   counters);
	return err ?: map__set_room(map, &s->m->run->host, keys > USUAL_STARTS ? keys : USUAL_STARTS);
}

/* Sizes the maps that attribute counters to tasks, if there are any. */
static int size_counters(struct probe_session *s)
{
	u64 n = s->with.events.n;
	bool storage = task_state__in_storage(&s->m->run->host);
	int err = task_state__prepare(s->bpf->obj, "own_counters", &s->m->run->host);

	if (!n && !err && !storage) {
		bpf_program__set_autoload(s->bpf->progs.own_counters_hash_on_free, false);
		err = bpf_map__set_max_entries(s->bpf->maps.own_counters_hash, 1);
	}
	if (!err && n)
		err = bpf_map__set_max_entries(s->bpf->maps.counters,
					       n * s->m->run->host.cpus_possible);
	bpf_program__set_autoload(s->bpf->progs.own_counters_on_switch, n);
	bpf_program__set_autoattach(s->bpf->progs.own_counters_on_switch, n);
	return err;
}

static int size_maps(struct probe_session *s)
{
	const struct probe_plan *p = &s->plan;
	enum probe_what what = p->request->what;
	bool sums = what == PROBE_COUNT || what == PROBE_SUM, keyed = s->bpf->rodata->keyed;
	u32 size = probe_sum__size(what, p->layout.has_name, s->with.events.n);
	u32 turns = probe_sum__in_turns(what, s->with.events.n) ? 2 : 1;
	int err;

	err = bpf_map__set_max_entries(s->bpf->maps.sums,
				       sums && !keyed ? turns * probe_plan__nevents(p) : 1);
	if (!err)
		err = bpf_map__set_value_size(s->bpf->maps.sums, size);
	if (!err)
		err = bpf_map__set_value_size(s->bpf->maps.keyed_sums, size);
	if (!err)
		err = size_counters(s);
	if (!err)
		err = size_keyed(s, s->bpf->maps.keyed_sums, keyed && sums);
	if (!err)
		err = size_keyed(s, s->bpf->maps.keyed_values,
				 keyed && !sums && what != PROBE_STREAM);
	if (!err)
		err = size_starts(s, s->bpf->maps.starts);
	if (!err && what == PROBE_STREAM)
		err = lines__check(s->m->cli) ?: ring__prepare(s->bpf->obj, &s->m->run->host);
	return err;
}

/*
 * --- configuration -----------------------------------------------------------------------------
 */

static bool has_field(const struct probe_plan *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nfields; i++)
		if (!strcmp(p->field[i].name, name))
			return true;
	return false;
}

/* A begin carries data to its end: the begin's part of the key, and values kept for the filter or saved. */
static u32 key_at_begin(const struct probe_plan *p)
{
	size_t i;

	if (p->nkept || p->nsaved)
		return p->kept_at + 8 * (p->nkept + p->nsaved);
	for (i = 0; i < p->nfields; i++)
		if (p->field[i].at_begin)
			return p->layout.size;
	return 0;
}

/*
 * Probes that detect a return by its address miss it if the kernel tracks no more calls. The begins of such calls never
 * find an end.
 */
static bool may_miss_ends(const struct probe_plan *p)
{
	const struct event_sites *ends = &p->side[PROBE_END].sites;
	size_t i;

	for (i = 0; i < ends->n; i++)
		if (ends->site[i].event->type == EVENT_USER_FUNCTION && !ends->site[i].is_exit)
			return true;
	return false;
}

static bool only_tracepoints(const struct probe_plan *p)
{
	int side;
	size_t i;

	for (side = PROBE_BEGIN; side < PROBE_SIDES; side++)
		for (i = 0; i < p->side[side].sites.n; i++)
			if (p->side[side].attachments.way[i] != ATTACH_TRACEPOINT)
				return false;
	return true;
}

static void plan_results(struct probe_session *s)
{
	typeof(s->bpf->rodata) c = s->bpf->rodata;
	const struct probe_plan *p = &s->plan;
	const struct probe_request *r = p->request;
	size_t i;

	s->results_plan = (struct results_plan){
		.what = r->what,
		.keyed = c->keyed,
		.layout = p->layout,
		.event = p->names,
		.nevents = probe_plan__nevents(p),
		.bias = c->bias,
		.is_signed = p->is_signed,
		.is_time = p->is_time,
		.figures = s->figures,
		.ncounters = s->with.events.n,
		.bound = r->bound,
		.nbounds = r->nbounds,
		.hierarchy = s->m->scope.hierarchy,
		.cgroups = s->m->cgroups,
		.attachments = {&p->side[PROBE_BEGIN].attachments, &p->side[PROBE_END].attachments},
	};
	for (i = 0; i < s->with.events.n; i++) {
		struct results_counter *counter = &s->results_plan.counter[i];

		counter->name = s->with.events.event[i].name;
		counter->is_time = with_counters__is_time(&s->with, i);
		snprintf(counter->each, sizeof(counter->each), "%s/call", counter->name);
	}
}

static void configure(struct probe_session *s)
{
	typeof(s->bpf->rodata) c = s->bpf->rodata;
	const struct probe_plan *p = &s->plan;
	const struct probe_request *r = p->request;

	memcpy((void *)&c->scope, &s->m->scope, sizeof(c->scope));
	s->m->cgroups->hierarchy = s->m->scope.hierarchy;       /* streams name them before the first report */
	c->what = r->what;
	c->keyed = p->nfields && r->what != PROBE_STREAM;
	c->key_size = p->layout.size;
	c->only_tracepoints = only_tracepoints(p);
	c->large = r->what == PROBE_STREAM || p->layout.size > PROBE_KEY_SMALL;
	c->bias =
		(p->is_signed && r->what == PROBE_SUM) || r->what == PROBE_BOUNDS ? 1ULL << 63 : 0;
	c->named = !p->layout.has_name ? PROBE_NAME_NONE :
		   has_field(p, "tid") ? PROBE_NAME_THREAD : PROBE_NAME_PROCESS;
	c->begin_key = key_at_begin(p);
	c->begin_value = p->spans && p->measured && p->value_at_begin;
	c->span_in_process = probe_plan__is_by_goroutine(p);
	c->span_in_thread = p->calls && !c->span_in_process;
	c->counts_ends = p->returns;
	c->ignores_left = p->returns && !may_miss_ends(p);
	/* With -C, a span that begins on one CPU may end on another. */
	c->count_unmatched = p->returns || (r->with && probe_plan__has_goroutines(p)) ||
			     (p->spans && !r->is_scoped && !r->filter && !s->m->scope.has_cpus);
	c->ncounters = s->with.events.n;
	c->ncpus = s->m->run->host.cpus_possible;
	c->switch_counters = with_counters__switches(&s->with);
	c->begin_counters = (c->begin_key + 7) / 8 * 8;
	plan_results(s);
}

/* Parses --template, which may name the fields of the layout. */
static int parse_line(struct probe_session *s)
{
	const struct layout *l = &s->plan.layout;
	const char **names = calloc(l->n ?: 1, sizeof(*names));
	struct complaint c = {};
	size_t i;
	int err;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < l->n; i++)
		names[i] = l->field[i].name;
	err = stream_template__parse(&s->stream_template, s->line, names, l->n, &c);
	if (err)
		diag_complaint("--template", s->line, &c);
	free(names);
	return err;
}

/* Passes to programs that take stacks whether the function's frame exists at their site. */
static void tell_sites(struct probe_side *side)
{
	size_t i;

	for (i = 0; i < side->sites.n; i++) {
		const struct event_site *site = &side->sites.site[i];

		if (event_site__is_at_entry(site))
			side->slot[i] |= SITE_AT_ENTRY;
		if (site->is_exit)
			side->slot[i] |= SITE_AT_EXIT;
	}
}

static int prepare_stacks(struct probe_session *s)
{
	if (!s->callers.wanted)
		return stacks__leave_out(s->bpf->obj);
	tell_sites(&s->plan.side[PROBE_END]);
	return callers__prepare(&s->callers, s->m, s->bpf->obj);
}

static int prepare_stream(struct probe_session *s)
{
	const struct probe_plan *p = &s->plan;
	int err = s->line ? parse_line(s) : 0;

	if (p->group && s->m->cli->format == FORMAT_CSV) {
		diag_error("--csv needs the same columns on all lines, but these events have different fields");
		diag_hint("name fields that all events have, 'EVENT1,EVENT2 FIELD...', or use --json");
		return -EINVAL;
	}
	s->stream_plan = (struct stream_plan){
		.layout = &p->layout, .group = p->group, .event = p->names, .nevents = probe_plan__nevents(p),
		.has_elapsed = p->spans && !p->returns, .hierarchy = s->m->scope.hierarchy,
		.cgroups = s->m->cgroups, .host = &s->m->run->host,
		.line = s->line ? &s->stream_template : NULL, .writer = s->m->writer,
		.callers = s->callers.wanted ? &s->callers : NULL,
	};
	return err;
}

static int open_programs(struct probe_session *s, bool without_fentry)
{
	struct attach_programs programs[PROBE_SIDES];
	const struct probe_plan *p = &s->plan;
	int err = measurement__open(s->m);

	if (err)
		return err;
	s->bpf = s->m->bpf;
	templates(s, programs);
	s->plan.hierarchy = s->m->scope.hierarchy;
	err = probe_plan__choose(&s->plan, programs, without_fentry);
	if (!err)
		err = probe_plan__compile(&s->plan);
	if (err)
		return err;
	configure(s);
	if (p->request->what == PROBE_STREAM)
		err = prepare_stream(s);
	if (!err)
		err = prepare_stacks(s);
	if (err)
		return err;
	if (s->bpf->rodata->keyed && p->layout.size > PROBE_KEY_OLD &&
	    s->m->run->host.version < KERNEL_VERSION(5, 11, 0)) {
		diag_error("--by: the keys take %u bytes; this kernel's maps take at most %d",
			   p->layout.size, PROBE_KEY_OLD);
		return -EOPNOTSUPP;
	}
	return size_maps(s);
}

int probe_session__prepare(struct probe_session *s, struct measurement *m,
			   const struct probe_request *request)
{
	int err;

	s->m = m;
	err = probe_plan__init(&s->plan, request);
	if (!err && request->with)
		err = with_counters__parse(&s->with, request->with);
	/* Stacks need kprobes instead of fentry: a walk begins at the registers, which a kprobe provides. */
	return err ?: open_programs(s, s->callers.wanted);
}

/*
 * --- -n ----------------------------------------------------------------------------------------
 */

static int explain_code(struct report *r, const char *name, const struct code *code)
{
	char text[DUMP_SPACE];
	const char *note;
	size_t i, n;
	int err = 0;

	/* A function of two instructions only returns a constant. */
	if (code->n <= 2)
		return 0;
	for (i = 0; i < code->n && !err; i += n) {
		n = code__dump(code, i, text);
		note = code__note_at(code, i);
		err = explain__add(r, i ? "" : name, note ? "%4zu: %-40s ; %s" : "%4zu: %s", i,
				   text, note);
	}
	return err;
}

static int explain_site(struct report *r, const struct probe_side *side, size_t i, bool verbose)
{
	static const char *const names[EVENT_BODIES] = {
		[EVENT_FILTER] = "filter",
		[EVENT_VALUE] = "value",
		[EVENT_KEY] = "key",
		[EVENT_MATCH] = "match",
	};
	const struct event_site *site = &side->sites.site[i];
	const char *way = attach_way_name(side->attachments.way[i]);
	int err, k;

	if (site->path)
		err = explain__add(r, "site", "%s, %s of %s+0x%llx", site->name, way, site->path,
				   site->file_offset);
	else if (site->address)
		err = explain__add(r, "site", "%s, %s at 0x%llx", site->name, way, site->address);
	else
		err = explain__add(r, "site", "%s, %s", site->name, way);
	for (k = 0; k < EVENT_BODIES && !err && verbose; k++)
		err = explain_code(r, names[k], &side->own[i].code[k]);
	return err;
}

static int explain_sites(void *arg, struct report *r)
{
	const struct probe_session *s = arg;
	int side, err = 0;
	size_t i;

	for (i = 0; i < s->with.events.n && !err; i++)
		err = explain__add(r, "counter", "%s, on each CPU", s->with.events.event[i].name);
	for (side = PROBE_BEGIN; side < PROBE_SIDES; side++)
		for (i = 0; i < s->plan.side[side].sites.n && !err; i++)
			err = explain_site(r, &s->plan.side[side], i, s->m->cli->verbose);
	return err;
}

int probe_session__explain(struct probe_session *s)
{
	return measurement__explain_with(s->m, s->bpf->obj,
					 s->plan.spans && !s->plan.returns ? "the time between events" :
									     "the events named",
					 explain_sites, s);
}

/*
 * --- loading -----------------------------------------------------------------------------------
 */

static int load(struct probe_session *s)
{
	int err = skeleton__load(s->bpf->skeleton);

	if (err)
		return measurement__complain(s->m, "load", err);
	if (!s->callers.wanted)
		err = scope__fill(s->bpf->obj, &s->m->cli->scope);
	if (!err) {
		measurement__describe_memory(s->m, s->bpf->obj);
		err = results__begin(&s->results, &s->results_plan, s->bpf->obj);
	}
	if (!err && s->plan.request->what == PROBE_STREAM)
		err = stream__open(&s->stream, &s->stream_plan, s->bpf->maps.records);
	if (!err && s->callers.wanted)
		err = callers__begin(&s->callers, s->m, stream__fd(s->stream));
	if (!err)
		err = measurement__attach_programs(s->m);     /* programs that update the scope */
	return err ? measurement__complain(s->m, "attach", err) : 0;
}

/* Loads and attaches. Returns -EAGAIN if fentry does not work. */
static int load_and_attach(struct probe_session *s)
{
	int err = load(s);

	if (!err && s->with.events.n)
		err = with_counters__start(&s->with, bpf_map__fd(s->bpf->maps.counters),
					   s->m->run->host.cpus_possible);
	return err ?: probe_plan__attach(&s->plan);
}

int probe_session__start(struct probe_session *s)
{
	int err = with_counters__open(&s->with);

	if (!err)
		err = load_and_attach(s);
	if (err == -EAGAIN) {
		results__free(&s->results);
		stream__close(s->stream);
		s->stream = NULL;
		err = open_programs(s, true);
		if (!err)
			err = load_and_attach(s);
	}
	return err;
}

/* Describes the source of the figures, as far as it is known. */
static void describe(struct probe_session *s)
{
	probe_plan__describe(&s->plan, s->source, sizeof(s->source));
	if (s->with.events.n)
		strncat(s->source, "; counters charged to threads at tp_btf/sched_switch",
			sizeof(s->source) - strlen(s->source) - 1);
	if (s->plan.guessed_result)
		strncat(s->source, "; $retval of unknown type, read as s64",
			sizeof(s->source) - strlen(s->source) - 1);
}

int probe_session__drain(struct probe_session *s)
{
	return s->stream ? stream__drain(s->stream) : 0;
}

/* A task may exit inside a kernel function. Such a call is not reported as unfinished. */
static bool only_user_functions(const struct probe_session *s)
{
	const struct event_sites *begins = &s->plan.side[PROBE_BEGIN].sites;
	size_t i;

	for (i = 0; i < begins->n; i++)
		if (begins->site[i].event->type != EVENT_USER_FUNCTION)
			return false;
	return true;
}

static int sweep(struct probe_session *s)
{
	const struct bpf_map *map = s->bpf->maps.starts;
	const struct starts_plan plan = {
		.fd = bpf_map__fd(map), .key_size = bpf_map__key_size(map),
		.value_size = bpf_map__value_size(map), .max_entries = bpf_map__max_entries(map),
		.calls = s->plan.calls,
	};
	size_t left = 0;
	int err = s->plan.spans ? starts__sweep(&plan, &left) : 0;

	if (only_user_functions(s) && !s->bpf->rodata->ignores_left)
		s->results.left += left;
	return err;
}

/* The column of --sort, if rows have it as a figure. */
static const char *sort_column(const struct probe_session *s)
{
	static const char *const names[] = { "key", "count", "sum", "min", "avg", "max" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !s->sort && s->m->cli->sort >= 0; i++)
		if (report_sort_column(names[i]) == s->m->cli->sort)
			return names[i];
	return s->sort;
}

int probe_session__report(struct probe_session *s, struct report *r)
{
	static const struct tabulation table = { .no_table = "--no-table" };
	const struct probe_plan *p = &s->plan;
	int err;

	describe(s);
	r->source = s->source;
	r->value = p->measured_text;
	/* The names of metrics must not depend on the typed expression. */
	r->metric = p->is_time ? "latency" : "value";
	r->unit = p->is_time ? UNIT_NS : UNIT_COUNT;
	err = sweep(s);
	if (!err)
		err = probe_session__drain(s);
	if (!err)
		err = results__report(&s->results, s->m->cli, sort_column(s), r);
	if (!err && !r->table && (r->ngroups || r->columns.ncells))
		err = measure__shape(&s->m->measure, s->m, r, &table, FORM_USUAL);
	r->nothing = event_sites__nothing(&p->side[PROBE_END].sites, r->counters.filtered, s->nothing,
					  sizeof(s->nothing));
	if (!s->stream)
		return err;
	r->events += stream__take_count(s->stream);
	r->counters.lost[LOSS_RING_FULL] += stream__take_unread(s->stream);
	return err ?: stream__end(s->stream);
}

void probe_session__free(struct probe_session *s)
{
	results__free(&s->results);
	stream__close(s->stream);
	stream_template__free(&s->stream_template);
	callers__free(&s->callers);
	with_counters__free(&s->with);
	probe_plan__free(&s->plan);
}
