// SPDX-License-Identifier: BSD-2-Clause
#include "stack/stack_processes.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg/variable.h"
#include "agg/wide.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/key_view.h"
#include "report/diag.h"

/* Samples resolved between two reads of the rings. */
#define SAMPLES_AT_ONCE 1024

int stacks__set_depth(struct stacks *s, u64 depth)
{
	u32 limit = stack_walk_limit();

	if (limit > STACK_MOST_DEPTH)
		limit = STACK_MOST_DEPTH;
	if (depth > limit) {
		diag_error("--max-depth: %llu frames exceed the kernel's limit of %u",
			   depth, limit);
		if (limit < STACK_MOST_DEPTH)
			diag_hint("raise it first: sysctl kernel.perf_event_max_stack=%llu", depth);
		return -EINVAL;
	}
	s->depth = depth ?: limit < STACK_DEPTH ? limit : STACK_DEPTH;
	return 0;
}

static int leave_out(const struct bpf_object *obj, const char *const *names, size_t n)
{
	struct bpf_map *map;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		map = bpf_object__find_map_by_name(obj, names[i]);
		if (map)
			err = bpf_map__set_autocreate(map, false);
	}
	return err;
}

static int leave_out_tables(const struct bpf_object *obj)
{
	static const char *const names[] = {
		"unwind_rules", "unwind_files", "unwind_mappings", "unwind_spaces", "unwind_slabs",
		"unwind_found",
	};

	return leave_out(obj, names, ARRAY_SIZE(names));
}

static int leave_out_python(const struct bpf_object *obj)
{
	static const char *const names[] = {
		"python_processes", "python_known", "python_records", "python_codes",
	};

	return leave_out(obj, names, ARRAY_SIZE(names));
}

/* Skips loading stack_on_mapping, which only stacks need. */
static int leave_out_mappings(const struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "stack_on_mapping");

	return prog ? bpf_program__set_autoload(prog, false) : 0;
}

int stacks__leave_out(const struct bpf_object *obj)
{
	struct bpf_program *held = bpf_object__find_program_by_name(obj, "show_held");
	int err = held ? bpf_program__set_autoload(held, false) : 0;

	return err ?: leave_out_tables(obj) ?: leave_out_python(obj) ?: leave_out_mappings(obj);
}

/* Leaves out Python if unsupported or not wanted: a report without callers has no place for Python frames. */
static int prepare_python(struct stacks *s, const struct measurement *m)
{
	const u32 *since = object_variable(s->obj, ".rodata", "python_since");
	bool *in_stacks = object_variable(s->obj, ".rodata", "python_in_stacks");

	s->python = s->python && s->user && in_stacks && since && m->run->host.version >= *since && ARCH_HAS_PYTHON;
	if (!s->python)
		return leave_out_python(s->obj);
	*in_stacks = true;
	return 0;
}

static int prepare_tables(struct stacks *s)
{
	bool *by_tables = object_variable(s->obj, ".rodata", "unwind_by_tables");

	s->unwind = s->unwind && s->user;
	if (!s->unwind)
		return leave_out_tables(s->obj);
	if (!by_tables) {
		diag_error("--call-graph dwarf is not available in this tool");
		return -EOPNOTSUPP;
	}
	*by_tables = true;
	return 0;
}

/* Processes are identified by pids of our pid namespace, the only pids in /proc and perf records. */
static int prepare_processes(struct stacks *s, const struct measurement *m)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(s->obj, "stack_on_mapping");
	u32 *pidns = object_variable(s->obj, ".rodata", "stack_pidns");
	struct stat st;

	if (!s->user)
		return leave_out_mappings(s->obj);
	if (!prog || !pidns)
		return -ENOENT;
	if (!m->run->host.initial_pidns && stat("/proc/self/ns/pid", &st))
		return -errno;
	*pidns = m->run->host.initial_pidns ? 0 : st.st_ino;
	bpf_program__set_autoattach(prog, false);
	return bpf_program__set_autoload(prog, true);
}

static int set_constants(const struct stacks *s)
{
	int err = object_set(s->obj, "stack_depth", s->depth);

	if (!err)
		err = object_set(s->obj, "stack_walk", (u32)stack_walk_limit());
	return err ?: object_set(s->obj, "stack_seed", s->seed);
}

int stacks__prepare(struct stacks *s, const struct measurement *m, struct bpf_object *obj,
		    const char *counts, u32 max_keys)
{
	bool repeats = m->cli->interval_ns || m->cli->listen.n;
	struct bpf_program *held;
	int err;

	s->obj = obj;
	s->counts = counts;
	if (getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK) < 0)
		s->seed = (u64)s;       /* early in boot; stacks are still distinguished */
	err = set_constants(s);
	if (!err)
		err = prepare_tables(s);
	if (!err)
		err = prepare_python(s, m);
	if (!err)
		err = prepare_processes(s, m);
	held = bpf_object__find_program_by_name(obj, "show_held");
	if (held)
		bpf_program__set_autoattach(held, false);
	return err ?: stack_store__prepare(obj, &m->run->host, counts, max_keys, s->depth, s->python, repeats);
}

static int want_sources(struct stacks *s)
{
	s->names.lines = s->lines;
	s->names.inlined = s->inlined;
	if (!s->lines && !s->inlined)
		return 0;
	/* In addition to the files held open for names. With a lower limit, fewer frames get lines. */
	host__allow_files(2048);
	if (!symbols__want_source(s->names.symbols))
		return 0;
	diag_error("--lines and --inline need libdw: built without it");
	return -EOPNOTSUPP;
}

int stacks__begin_names(struct stacks *s)
{
	int err = stack_names__init(&s->names);

	if (err)
		return err;
	s->names.at_tracepoints = s->at_tracepoints;
	s->names.python = &s->interpreters;
	s->names.unwinder = s->unwind ? &s->unwinder : NULL;
	return want_sources(s);
}

int stacks__begin(struct stacks *s, struct measurement *m)
{
	int err;

	s->losses_fd = bpf_object__find_map_fd_by_name(s->obj, "losses");
	if (s->losses_fd < 0)
		return -ENOENT;
	err = measurement__fill_scope(m, s->obj);
	if (!err)
		err = stack_store__begin(&s->store, s->obj, s->counts, s->seed);
	/* The iterator shows only the tasks of our pid namespace. */
	if (s->store.show_held && !m->run->host.initial_pidns)
		s->store.generation = NULL;
	if (!err)
		err = stacks__begin_names(s);
	if (err)
		return err;
	if (m->writer->sink && m->writer->sink->ignores_frames && !stack_choice__selects(&s->choice))
		symbols__leave_kernel(s->names.symbols);
	err = s->python ? python__begin(&s->interpreters, s->obj, s->names.symbols) : 0;
	if (err)
		return err;
	err = stack_processes__begin(s, m);
	m->watch_fd = s->watch_fd;
	return err;
}

/*
 * --- reports -----------------------------------------------------------------------------------
 */

static bool same_known(const void *array, u32 index, const void *key)
{
	const struct known_stack *a = &((const struct known_stack *)array)[index], *b = key;

	return a->stack == b->stack;
}

/* Sets *index to the resolved stack of a sample. */
static int resolve(struct stacks *s, const struct stack_sample *sample, u32 *index)
{
	struct known_stack k = { sample->stack, {} };
	u64 hash = table_hash(0, &k.stack, sizeof(k.stack));
	s64 known = table__find(&s->by_stack, hash, same_known, s->known, &k);
	size_t n = s->nknown;
	int err;

	if (known >= 0) {
		*index = known;
		return 0;
	}
	if (ARRAY_ROOM(s->known, n))
		return -ENOMEM;
	err = stack_names__resolve(&s->names, k.stack, s->kernel, &k.path);
	if (!err)
		err = table__add(&s->by_stack, hash, n);
	if (err) {
		stack_path__free(&k.path);
		return err;
	}
	s->known[n] = k;
	s->nknown++;
	*index = n;
	return 0;
}

struct merged_key {
	struct task_key task;           /* as shown by the report */
	const struct stack_count *newest;       /* has the newest name */
};

/* A report under construction: its keys and stacks, with lookup tables. */
struct merge {
	struct report_stacks *out;
	struct merged_key *key;
	struct table by_key, by_path;
	struct task_key_names names;
	struct key_view view;
};

static bool same_key(const void *array, u32 index, const void *key)
{
	const struct merged_key *keys = array;

	return !memcmp(&keys[index].task, key, sizeof(struct task_key));
}

static int find_key(struct merge *m, const struct stack_sample *sample, u32 *index)
{
	struct merged_key new = { sample->key->task, sample->newest };
	size_t n = m->out->nkeys;
	s64 known;
	u64 hash;

	key_view__change(&m->view, &new.task);
	hash = table_hash(0, &new.task, sizeof(new.task));
	known = table__find(&m->by_key, hash, same_key, m->key, &new.task);
	if (known >= 0) {
		if (new.newest->name_stamp > m->key[known].newest->name_stamp)
			m->key[known].newest = new.newest;
		*index = known;
		return 0;
	}
	if (ARRAY_ROOM(m->key, n))
		return -ENOMEM;
	if (table__add(&m->by_key, hash, n))
		return -ENOMEM;
	m->key[n] = new;
	*index = m->out->nkeys++;
	return 0;
}

static int add_columns(struct merge *m, struct report *r, u32 by, const char *const *event)
{
	const struct task_key none = {};
	struct report_row row = {};
	int err = event ? report_row__add_text(&row, "event", event[0]) : 0;

	if (!err && by)
		err = task_key__add_fields(&row, &none, "", by, &m->names);
	return report__end_columns(r, &row, err);
}

/* Resolves key names at the end, when all keys and their newest names are known. */
static int name_keys(struct merge *m, struct report *r, u32 by, const char *const *event)
{
	size_t i;
	int err = m->out->nkeys ? 0 : add_columns(m, r, by, event);

	m->out->key = calloc(m->out->nkeys ?: 1, sizeof(*m->out->key));
	if (!m->out->key)
		return -ENOMEM;
	for (i = 0; i < m->out->nkeys && event && !err; i++)
		err = report_row__add_text(&m->out->key[i], "event",
					   event[m->key[i].task.event]);
	for (i = 0; i < m->out->nkeys && by && !err; i++)
		err = task_key__add_fields(&m->out->key[i], &m->key[i].task, m->key[i].newest->name, by,
					   &m->names);
	return err;
}

static bool same_path(const void *array, u32 index, const void *key)
{
	const struct report_stack *a = &((const struct report_stack *)array)[index], *b = key;

	return a->key == b->key && a->nframes == b->nframes &&
	       !memcmp(a->frame, b->frame, a->nframes * sizeof(*a->frame));
}

/* Merges stacks with equal names, and drops the location details in which they differ. */
static void merge_places(struct report_stack *to, const struct stack_path *from)
{
	u32 i;

	for (i = 0; i < to->nframes; i++) {
		if (to->place[i].address != from->place[i].address)
			to->place[i].address = FRAME_PLACES;
		if (to->place[i].offset != from->place[i].offset)
			to->place[i].offset = FRAME_PLACES;
	}
}

static int append_stack(struct report_stacks *out, const struct report_stack *like,
			const struct stack_path *path)
{
	struct report_stack new = *like;
	size_t n = out->n;

	if (ARRAY_ROOM(out->stack, n))
		return -ENOMEM;
	new.frame = calloc(path->n ?: 1, sizeof(*new.frame));
	new.place = calloc(path->n ?: 1, sizeof(*new.place));
	if (!new.frame || !new.place) {
		free(new.frame);
		free(new.place);
		return -ENOMEM;
	}
	memcpy(new.frame, path->frame, path->n * sizeof(*new.frame));
	memcpy(new.place, path->place, path->n * sizeof(*new.place));
	out->stack[out->n++] = new;
	return 0;
}

/* Returns 0 if the stack is not selected, and counts its value as left out. */
static int choose(struct stacks *s, struct report *r, u32 event, u64 value, const struct stack_path *path)
{
	int takes = stack_choice__takes(&s->choice, &s->names, path);
	struct report_event *e = r->stacks->nevents ? &r->stacks->event[event] : NULL;

	r->stacks->callee_first = s->callee_first;
	if (stack_choice__describe(&s->choice, s->left_out_by, sizeof(s->left_out_by)))
		r->left_out_by = s->left_out_by;
	if (takes > 0)
		add_saturating(e ? &e->chosen : &r->chosen, value);
	else if (!takes)
		add_saturating(e ? &e->left_out : &r->left_out, value);
	return takes;
}

int stacks__add_path(struct stacks *s, struct report *r, struct table *by_path, u32 key, u32 event, u64 value,
		     const struct stack_path *path)
{
	struct report_stacks *out = r->stacks;
	const struct report_stack new = {
		.key = key, .event = event, .nframes = path->n, .frame = path->frame, .value = value,
	};
	u64 hash = table_hash(key, path->frame, path->n * sizeof(*path->frame));
	s64 known = table__find(by_path, hash, same_path, out->stack, &new);
	int err = choose(s, r, event, value, path);

	if (err <= 0)
		return err;
	/* The share covers only the first event. */
	if (path->generated_by)
		generated__add(&s->generated, path->generated_by, event ? 0 : value);
	add_saturating(&out->total, value);
	if (out->nevents)
		add_saturating(&out->event[event].total, value);
	if (known >= 0) {
		add_saturating(&out->stack[known].value, value);
		merge_places(&out->stack[known], path);
		return 0;
	}
	err = table__add(by_path, hash, out->n);
	return err ?: append_stack(out, &new, path);
}

static int add_sample(struct stacks *s, struct report *r, struct merge *m,
		      const struct stack_sample *sample, const struct stack_path *path)
{
	u32 key;
	int err = find_key(m, sample, &key);

	return err ?: stacks__add_path(s, r, &m->by_path, key, s->nevents ? sample->key->task.event : 0,
				       sample->count, path);
}

/* Resets the figures of the events to zero. */
static void begin_events(struct stacks *s, struct report_stacks *out)
{
	size_t i;

	out->event = s->events;
	out->nevents = s->nevents;
	for (i = 0; i < s->nevents; i++)
		s->events[i].total = s->events[i].chosen = s->events[i].left_out = 0;
}

static void merge__free(struct merge *m)
{
	free(m->key);
	table__free(&m->by_key);
	table__free(&m->by_path);
	task_key_names__free(&m->names);
}

int stacks__read_losses(struct stacks *s, struct report *r)
{
	struct loss_counters now;
	int err = loss__read(&now, s->losses_fd, s->obj);

	if (err)
		return err;
	r->counters = loss__difference(&now, &s->losses_before);
	s->losses_before = now;
	return 0;
}

static void forget_known(struct stacks *s)
{
	size_t i;

	for (i = 0; i < s->nknown; i++)
		stack_path__free(&s->known[i].path);
	free(s->known);
	table__free(&s->by_stack);
	s->known = NULL;
	s->nknown = 0;
}

void stacks__forget_doubts(struct stacks *s)
{
	s->mixed = s->unknown = s->lacks_python = 0;
	s->broken = (struct broken){};
	s->counts_doubts = true;
}

/* Forgets resolved stacks if their names may have changed. */
static void forget_mixed(struct stacks *s)
{
	u64 changes = s->kernel ? symbols__kernel_changes(s->names.symbols) : 0;

	stacks__forget_doubts(s);
	if (s->told.unnoticed == s->unnoticed_before && changes == s->kernel_changes)
		return;
	s->unnoticed_before = s->told.unnoticed;
	s->kernel_changes = changes;
	forget_known(s);
}

static bool is_over(const struct stacks *s, const struct stack *stack)
{
	return stack->user && stack->pid &&
	       symbols__is_over(s->names.symbols, stack->pid, stack->first_ns, s->read_ns);
}

/* Keeps the resolved stacks that are not marked. */
static int keep_known(struct stacks *s)
{
	size_t n = 0, i;
	u64 hash;

	for (i = 0; i < s->nknown; i++) {
		if (s->known[i].stack && s->known[i].stack->mark)
			stack_path__free(&s->known[i].path);
		else
			s->known[n++] = s->known[i];
	}
	s->nknown = n;
	table__free(&s->by_stack);
	for (i = 0; i < n; i++) {
		hash = table_hash(0, &s->known[i].stack, sizeof(s->known[i].stack));
		if (table__add(&s->by_stack, hash, i))
			return -ENOMEM;
	}
	return 0;
}

void stacks__forget_ended(struct stacks *s)
{
	if (!s->read_ns || !s->user)
		return;
	/* Must be called before the record of ended programs is dropped. */
	python__forget_over(&s->interpreters, s->read_ns);
	symbols__forget_over(s->names.symbols, s->read_ns);
}

/*
 * Frees the data of programs that had ended by the last read: all of it is reported, and nothing
 * can be added to it.
 */
static int forget_over(struct stacks *s)
{
	bool any = false;
	size_t i;
	int err;

	if (!s->read_ns || !s->user)
		return 0;
	for (i = 0; i < s->store.nstacks; i++)
		any |= s->store.stack[i]->mark = is_over(s, s->store.stack[i]);
	err = any ? keep_known(s) ?: stack_store__drop_marked(&s->store) : 0;
	stacks__forget_ended(s);
	return err;
}

void stacks__count_doubts(struct stacks *s, const struct stack_path *path, u64 count)
{
	if (path->is_mixed)
		s->mixed += count;
	if (path->is_unknown)
		s->unknown += count;
	if (path->lacks_python)
		s->lacks_python += count;
	broken__count(&s->broken, path, count);
}

int stacks__read(struct stacks *s)
{
	int err;

	if (s->store.stale) {
		forget_known(s);
		stack_names__forget_frames(&s->names);
		stack_store__begin_anew(&s->store);
	}
	err = forget_over(s);
	s->read_ns = monotonic_ns();
	return err ?: stack_store__read(&s->store);
}

int stacks__report(struct stacks *s, const struct measurement *measurement, struct report *r,
		   size_t top)
{
	struct merge m = {
		.names = { .cgroups = measurement->cgroups }, .view = { measurement->cli->by, &m.names, 0 },
	};
	size_t i;
	u32 index;
	int err = stacks__read_losses(s, r);

	if (!err)
		err = stacks__read(s);
	/* Must follow the read, so that the records cover everything that was read. */
	if (!err)
		err = stacks__watch(s);
	forget_mixed(s);
	r->has_events = true;
	r->stacks = m.out = calloc(1, sizeof(*m.out));
	if (!err && !m.out)
		err = -ENOMEM;
	if (!err)
		begin_events(s, m.out);
	for (i = 0; i < s->store.nsamples && !err; i++) {
		/* Resolving may take long enough for the rings to fill up. */
		if (i % SAMPLES_AT_ONCE == SAMPLES_AT_ONCE - 1)
			err = stacks__watch(s);
		if (!err)
			err = resolve(s, &s->store.sample[i], &index);
		if (!err)
			err = add_sample(s, r, &m, &s->store.sample[i], &s->known[index].path);
		if (!err)
			stacks__count_doubts(s, &s->known[index].path, s->store.sample[i].count);
	}
	if (!err)
		err = name_keys(&m, r, measurement->cli->by, s->event);
	merge__free(&m);
	if (err)
		return err;
	r->counters.lost[LOSS_INCOMPLETE] += s->lacks_python;
	r->events = r->stacks->total;
	r->stacks->frame = s->names.frame;
	r->stacks->nframes = s->names.n;
	if (s->unwind)
		broken__tell(&s->broken);
	report__sort_stacks(r, top);
	return stacks__add_notes(s, r);
}

/* Reports the data left out to stay within bounds. */
static void tell_bounds(const struct stacks *s)
{
	struct symbols_bounds left = s->names.symbols ? symbols__bounds(s->names.symbols) :
							(struct symbols_bounds){};

	if (left.skipped)
		diag_warn("%llu mappings of processes that keep mapping memory were skipped: frames there may have "
			  "no names", left.skipped);
	if (left.cut)
		diag_warn("reading the mappings of a process took too long %llu times: frames there may have no "
			  "names", left.cut);
	if (left.unnamed)
		diag_warn("%llu mappings have no names: the names of one process, one user or all processes are too "
			  "long",
			  left.unnamed);
	if (left.forgotten)
		diag_warn("%llu programs were dropped because there were too many: their frames may have no names",
			  left.forgotten);
}

void stacks__free(struct stacks *s)
{
	forget_known(s);
	tell_bounds(s);
	bpf_link__destroy(s->mappings);
	if (s->processes && s->watch_fd > 0)
		close(s->watch_fd);
	told__close(&s->told);
	unwinder__end(&s->unwinder);
	python__end(&s->interpreters);
	ring_buffer__free(s->processes);
	stack_store__free(&s->store);
	stack_names__free(&s->names);
	stack_choice__free(&s->choice);
	free(s->note);
}
