// SPDX-License-Identifier: BSD-2-Clause
#include "stack/stacks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg/variable.h"
#include "agg/wide.h"
#include "base/clock.h"
#include "cli/task_key.h"
#include "report/diag.h"

/* Samples that are named without a look at what is told. */
#define SAMPLES_AT_ONCE 1024

/* Files without debug information that a note names. */
#define MOST_SOURCELESS 4

int stacks__set_depth(struct stacks *s, u64 depth)
{
	u32 limit = stack_walk_limit();

	if (limit > STACK_MOST_DEPTH)
		limit = STACK_MOST_DEPTH;
	if (depth > limit) {
		diag_error("--max-depth: %llu frames are more than the %u that the kernel walks",
			   depth, limit);
		if (limit < STACK_MOST_DEPTH)
			diag_hint("raise it first: sysctl kernel.perf_event_max_stack=%llu", depth);
		return -EINVAL;
	}
	s->depth = depth ?: limit < STACK_DEPTH ? limit : STACK_DEPTH;
	return 0;
}

static int leave_out_tables(const struct bpf_object *obj)
{
	static const char *const names[] = {
		"unwind_rules", "unwind_files", "unwind_mappings", "unwind_spaces", "unwind_slabs",
	};
	struct bpf_map *map;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		map = bpf_object__find_map_by_name(obj, names[i]);
		if (map)
			err = bpf_map__set_autocreate(map, false);
	}
	return err;
}

/* Programs of no others than these are on what they are about. */
static int leave_out_mappings(const struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "stack_on_mapping");

	return prog ? bpf_program__set_autoload(prog, false) : 0;
}

int stacks__leave_out(const struct bpf_object *obj)
{
	struct bpf_program *held = bpf_object__find_program_by_name(obj, "show_held");
	int err = held ? bpf_program__set_autoload(held, false) : 0;

	return err ?: leave_out_tables(obj) ?: leave_out_mappings(obj);
}

static int prepare_tables(struct stacks *s)
{
	bool *by_tables = object_variable(s->obj, ".rodata", "unwind_by_tables");

	s->unwind = s->unwind && s->user;
	if (!s->unwind)
		return leave_out_tables(s->obj);
	if (!by_tables || !STACKS_HAVE_TABLES) {
		diag_error("--call-graph dwarf: not %s", by_tables ? "on this machine, only on x86-64" :
								     "with this tool");
		return -EOPNOTSUPP;
	}
	*by_tables = true;
	return 0;
}

/*
 * Processes have the numbers that they have where we are: /proc, and records of perf events, say no others.
 */
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
		s->seed = (u64)s;       /* early in boot; stacks are told apart all the same */
	err = set_constants(s);
	if (!err)
		err = prepare_tables(s);
	if (!err)
		err = prepare_processes(s, m);
	held = bpf_object__find_program_by_name(obj, "show_held");
	if (held)
		bpf_program__set_autoattach(held, false);
	return err ?: stack_store__prepare(obj, &m->run->host, counts, max_keys, s->depth, repeats);
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

/* One that has gone already cannot be helped: its frames have no names. */
static int see(void *ctx, void *data, size_t size)
{
	struct stacks *s = ctx;
	const struct stack_process *p = data;
	int err;

	if (size < sizeof(*p) || !p->pid)
		return 0;
	if (s->unwind)
		err = unwinder__see(&s->unwinder, p->pid);
	else
		err = symbols__see_again(s->names.symbols, p->pid, s->told.n && !s->told.lost);
	return err == -ENOMEM ? err : 0;
}

/* What was told first: what is seen of a process that is still there is the truth. */
int stacks__watch(struct stacks *s)
{
	int n = told__read(&s->told, s->names.symbols);

	if (!n)
		n = ring_buffer__consume(s->processes);
	if (n >= 0 && s->unwind)
		n = unwinder__work(&s->unwinder);
	return n < 0 ? n : 0;
}

static int watch_all(struct stacks *s)
{
	struct epoll_event event = { .events = EPOLLIN };

	s->watch_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->watch_fd < 0 ||
	    epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->processes), &event) ||
	    (s->told.epoll_fd >= 0 &&
	     epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, s->told.epoll_fd, &event)) ||
	    (s->unwind && epoll_ctl(s->watch_fd, EPOLL_CTL_ADD, s->unwinder.epoll_fd, &event)))
		return -errno;
	return 0;
}

static int want_sources(struct stacks *s)
{
	s->names.lines = s->lines;
	s->names.inlined = s->inlined;
	if (!s->lines && !s->inlined)
		return 0;
	/* With what is held open for names; whoever has less, has fewer lines. */
	host__allow_files(2048);
	if (!symbols__want_source(s->names.symbols))
		return 0;
	diag_error("--lines and --inline: this tally was built without libdw");
	return -EOPNOTSUPP;
}

/* A run of the whole machine begins at most so much later for its tables. */
#define HEAD_START_NS (30 * NSEC_PER_MSEC)

/* Tables of what runs most, and of the rest while it is measured; or of all of it, where that was asked for. */
static int see_all(struct stacks *s)
{
	int err;

	if (s->unwinds_all)
		return unwinder__see_all(&s->unwinder);
	err = unwinder__sweep_all(&s->unwinder);
	return err ?: unwinder__finish(&s->unwinder, monotonic_ns() + HEAD_START_NS);
}

/* What runs already, as far as it is in scope; others are told of. */
static int see_processes(struct stacks *s, const struct scope_options *scope)
{
	size_t i;
	int err = 0;

	if (scope->all || (!scope->npids && !scope->command_pid))
		return see_all(s);
	unwinder__follow(&s->unwinder, scope->command_pid);
	/* It is this program still, whose libraries the other will have, too. */
	if (scope->command_pid)
		err = unwinder__see(&s->unwinder, scope->command_pid);
	for (i = 0; i < scope->npids && err != -ENOMEM; i++)
		err = unwinder__see(&s->unwinder, scope->pids[i]);
	return err == -ENOMEM ? err : unwinder__finish(&s->unwinder, UINT64_MAX);
}

/* Of processes that are out of scope nobody wants to know. */
static int want_processes(struct stacks *s, const struct scope_options *scope)
{
	size_t i;
	int err = 0;

	if (scope->ntids || (!scope->npids && !scope->command_pid))
		return 0;
	for (i = 0; i < scope->npids && !err; i++)
		err = told__want(&s->told, scope->pids[i]);
	if (!err && scope->command_pid)
		err = told__want(&s->told, scope->command_pid);
	s->told.with_children = scope->command_pid;
	return err;
}

static int begin_told(struct stacks *s, const struct measurement *m)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(s->obj, "stack_on_mapping");
	int err = told__open(&s->told, s->unwind ? &s->unwinder : NULL);

	if (!err)
		err = want_processes(s, &m->cli->scope);
	if (err)
		return err;
	if (m->run->host.initial_pidns)
		s->told.codes = object_variable(s->obj, ".bss", "stack_codes");
	s->mappings = bpf_program__attach(prog);
	if (!s->mappings)
		diag_detail("no tracepoint where memory is mapped (vm_unmapped_area): %s", strerror(errno));
	return 0;
}

static int begin_unwinding(struct stacks *s, const struct measurement *m)
{
	int err = unwinder__begin(&s->unwinder, s->obj, s->names.symbols);

	/* First the rings, so that no process slips through between. */
	if (!err)
		err = begin_told(s, m);
	return err ?: see_processes(s, &m->cli->scope);
}

int stacks__begin(struct stacks *s, struct measurement *m)
{
	int fd = bpf_object__find_map_fd_by_name(s->obj, "stack_processes"), err;

	s->losses_fd = bpf_object__find_map_fd_by_name(s->obj, "losses");
	if (fd < 0 || s->losses_fd < 0)
		return -ENOENT;
	err = measurement__fill_scope(m, s->obj);
	if (!err)
		err = stack_store__begin(&s->store, s->obj, s->counts, s->seed);
	/* The iterator shows the tasks of our pid namespace only. */
	if (s->store.show_held && !m->run->host.initial_pidns)
		s->store.generation = NULL;
	if (!err)
		err = stack_names__init(&s->names);
	if (err)
		return err;
	s->names.at_tracepoints = s->at_tracepoints;
	err = want_sources(s);
	if (err)
		return err;
	s->processes = ring_buffer__new(fd, see, s, NULL);
	if (!s->processes)
		return -errno;
	s->told.epoll_fd = -1;
	if (s->unwind)
		err = begin_unwinding(s, m);
	else if (s->user)
		err = begin_told(s, m);
	if (!err)
		err = watch_all(s);
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

/* The index of the resolved stack of a sample. */
static int resolve(struct stacks *s, const struct stack_sample *sample, u32 *index)
{
	struct known_stack k = { sample->stack, {} }, *larger;
	u64 hash = table_hash(0, &k.stack, sizeof(k.stack));
	s64 known = table__find(&s->by_stack, hash, same_known, s->known, &k);
	size_t n = s->nknown;
	int err;

	if (known >= 0) {
		*index = known;
		return 0;
	}
	if (n == s->known_room) {
		larger = reallocarray(s->known, n ? 2 * n : 64, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		s->known = larger;
		s->known_room = n ? 2 * n : 64;
	}
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

/* A report in the making: its keys and stacks, found again by what they are. */
struct merge {
	struct report_stacks *out;
	const struct stack_sample **key;        /* of each key, the sample with the newest name */
	struct table by_key, by_path;
	struct task_key_names names;
};

static bool same_key(const void *array, u32 index, const void *key)
{
	const struct stack_sample *const *samples = array;

	return !memcmp(&samples[index]->key->task, key, sizeof(struct task_key));
}

static int find_key(struct merge *m, const struct stack_sample *sample, u32 *index)
{
	const struct task_key *key = &sample->key->task;
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&m->by_key, hash, same_key, m->key, key);
	size_t n = m->out->nkeys;
	const struct stack_sample **larger;

	if (known >= 0) {
		if (sample->newest->name_stamp > m->key[known]->newest->name_stamp)
			m->key[known] = sample;
		*index = known;
		return 0;
	}
	if (!(n & (n - 1))) {
		larger = realloc(m->key, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		m->key = larger;
	}
	if (table__add(&m->by_key, hash, n))
		return -ENOMEM;
	m->key[n] = sample;
	*index = m->out->nkeys++;
	return 0;
}

/* The names of keys are looked up once all of them are known, and with them the newest names. */
static int name_keys(struct merge *m, u32 by, const char *const *event)
{
	size_t i;
	int err = 0;

	m->out->key = calloc(m->out->nkeys ?: 1, sizeof(*m->out->key));
	if (!m->out->key)
		return -ENOMEM;
	for (i = 0; i < m->out->nkeys && event && !err; i++)
		err = report_row__add_text(&m->out->key[i], "event",
					   event[m->key[i]->key->task.event]);
	for (i = 0; i < m->out->nkeys && by && !err; i++)
		err = task_key__add_fields(&m->out->key[i], &m->key[i]->key->task,
					   m->key[i]->newest->name, by, &m->names);
	return err;
}

static bool same_path(const void *array, u32 index, const void *key)
{
	const struct report_stack *a = &((const struct report_stack *)array)[index], *b = key;

	return a->key == b->key && a->nframes == b->nframes &&
	       !memcmp(a->frame, b->frame, a->nframes * sizeof(*a->frame));
}

/* Where two stacks of one name have been: what they do not share is no longer said. */
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
	struct report_stack new = *like, *larger;
	size_t n = out->n;

	if (!(n & (n - 1))) {
		larger = realloc(out->stack, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		out->stack = larger;
	}
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

/* False: the stack does not belong to what was asked for, and its value is noted. */
static int choose(struct stacks *s, struct report *r, u64 value, const struct stack_path *path)
{
	int takes = stack_choice__takes(&s->choice, &s->names, path);

	r->stacks->callee_first = s->callee_first;
	if (stack_choice__describe(&s->choice, s->left_out_by, sizeof(s->left_out_by)))
		r->left_out_by = s->left_out_by;
	if (takes > 0)
		add_saturating(&r->chosen, value);
	else if (!takes)
		add_saturating(&r->left_out, value);
	return takes;
}

int stacks__add_path(struct stacks *s, struct report *r, struct table *by_path, u32 key, u64 value,
		     const struct stack_path *path)
{
	struct report_stacks *out = r->stacks;
	const struct report_stack new = {
		.key = key, .nframes = path->n, .frame = path->frame, .value = value,
	};
	u64 hash = table_hash(key, path->frame, path->n * sizeof(*path->frame));
	s64 known = table__find(by_path, hash, same_path, out->stack, &new);
	int err = choose(s, r, value, path);

	if (err <= 0)
		return err;
	add_saturating(&out->total, value);
	if (known >= 0) {
		add_saturating(&out->stack[known].value, value);
		merge_places(&out->stack[known], path);
		return 0;
	}
	err = table__add(by_path, hash, out->n);
	return err ?: append_stack(out, &new, path);
}

/*
 * The names of the first files that say nothing, with the reason where that is not just that they
 * have no debug information. Returns how many there are.
 */
static size_t put_sourceless(FILE *f, const struct symbols *symbols)
{
	const char *name, *slash;
	size_t at = 0, n = 0;
	int why;

	while ((name = symbols__sourceless(symbols, &at, &why))) {
		slash = strrchr(name, '/');
		if (n++ < MOST_SOURCELESS)
			fprintf(f, "%s%s%s", n > 1 ? ", " : "", slash ? slash + 1 : name,
				why == -EBADMSG	 ? " (cannot be read)"
				: why == -EMFILE ? " (too many files)"
						 : "");
	}
	if (n > MOST_SOURCELESS)
		fprintf(f, " and %zu more", n - MOST_SOURCELESS);
	return n;
}

/* The names of the first files that could not be read, with the reason. Returns how many there are. */
static size_t put_unread(FILE *f, const struct symbols *symbols)
{
	const char *name, *slash, *why;
	size_t at = 0, n = 0;

	while ((name = symbols__unread(symbols, &at, &why))) {
		slash = strrchr(name, '/');
		if (n++ < MOST_SOURCELESS)
			fprintf(f, "%s%s (%s)", n > 1 ? ", " : "", slash ? slash + 1 : name, why);
	}
	if (n > MOST_SOURCELESS)
		fprintf(f, " and %zu more", n - MOST_SOURCELESS);
	return n;
}

/*
 * Adds a note, if put() finds what to say: begins with title, and with "; " behind other notes. Returns
 * how many were added.
 */
static size_t add_list(FILE *f, const char *title, bool others, const struct symbols *symbols,
		       size_t (*put)(FILE *f, const struct symbols *symbols))
{
	char *text = NULL;
	size_t size, n = 0;
	FILE *list = open_memstream(&text, &size);

	if (!list)
		return 0;
	n = put(list, symbols);
	if (!fclose(list) && n)
		fprintf(f, "%s%s: %s", others ? "; " : "", title, text);
	free(text);
	return n != 0;
}

/* From so much of all on, in %, incomplete stacks are worth a note. */
#define INCOMPLETE_TO_NOTE 10

/* And those of which nothing is known. */
#define UNKNOWN_TO_NOTE 1

/* How much of the report comes by stacks that begin in the middle, in %. */
static u32 share_incomplete(const struct report_stacks *stacks)
{
	u64 incomplete = 0;
	size_t i;

	for (i = 0; i < stacks->n; i++) {
		const struct report_stack *stack = &stacks->stack[i];
		const struct report_frame *outermost;

		if (!stack->nframes)
			continue;
		outermost = &stacks->frame[stack->frame[0]];
		if (outermost->kind == FRAME_NOTE && !strcmp(outermost->name, "[incomplete]"))
			incomplete += stack->value;
	}
	return stacks->total ? incomplete * 100.0 / stacks->total : 0;
}

static const char *separator(const struct report *r, size_t n)
{
	return r->caveat || n ? "; " : "";
}

/* What its processes have to do with it that stacks have no names, or the wrong ones. */
static size_t put_process_notes(FILE *f, const struct stacks *s, const struct report *r)
{
	size_t n = 0;

	if (s->unknown * 100 >= r->stacks->total * UNKNOWN_TO_NOTE && s->unknown)
		fprintf(f, "%s%llu without names, of processes whose mappings are not known%s",
			separator(r, n++), s->unknown,
			s->told.n ? "" : " (there are no records of them: perf_event_open)");
	if (s->mixed)
		fprintf(f, "%sup to %llu may have the names of code that other code was mapped over",
			separator(r, n++), s->mixed);
	else if (s->told.unnoticed && !s->counts_doubts)
		fprintf(f, "%scode was mapped over other code %llu times, and what came meanwhile may have "
			"the names of the other", separator(r, n++), s->told.unnoticed);
	return n;
}

static size_t put_notes(FILE *f, struct stacks *s, const struct report *r)
{
	u32 share = s->user && !s->unwind ? share_incomplete(r->stacks) : 0;
	size_t n = put_process_notes(f, s, r);

	if (r->stacks->total == UINT64_MAX)
		fprintf(f, "%ssums of 2^64 and more are shown as 2^64 - 1", separator(r, n++));
	if (share >= INCOMPLETE_TO_NOTE) {
		fprintf(f, "%s%u %% by [incomplete] stacks: their code keeps no frame pointers, "
			"--call-graph dwarf walks through it", separator(r, n), share);
		n++;
	}
	if (s->lines || s->inlined)
		n += add_list(f, "without debug information", r->caveat || n, s->names.symbols,
			      put_sourceless);
	return n + add_list(f, "names missing of", r->caveat || n, s->names.symbols, put_unread);
}

int stacks__add_notes(struct stacks *s, struct report *r)
{
	char *text = NULL;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	if (r->caveat)
		fputs(r->caveat, f);
	n = put_notes(f, s, r);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	free(s->note);
	s->note = text;
	if (n)
		r->caveat = text;
	return 0;
}

static int add_sample(struct stacks *s, struct report *r, struct merge *m,
		      const struct stack_sample *sample, const struct stack_path *path)
{
	u32 key;
	int err = find_key(m, sample, &key);

	return err ?: stacks__add_path(s, r, &m->by_path, key, sample->count, path);
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
	s->nknown = s->known_room = 0;
}

/* Names that turned out to be doubtful are looked up once more. */
static void forget_mixed(struct stacks *s)
{
	s->mixed = s->unknown = 0;
	s->counts_doubts = true;
	if (s->told.unnoticed == s->unnoticed_before)
		return;
	s->unnoticed_before = s->told.unnoticed;
	forget_known(s);
}

static bool is_over(const struct stacks *s, const struct stack *stack)
{
	return stack->user && stack->pid &&
	       symbols__is_over(s->names.symbols, stack->pid, stack->first_ns, s->read_ns);
}

/* The resolved stacks that stay. */
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
	if (s->read_ns && s->user)
		symbols__forget_over(s->names.symbols, s->read_ns);
}

/*
 * Gives back what belongs to programs that had ended when the counts were read last: all of it has been reported,
 * and nobody can add to it.
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

static void count_doubtful(struct stacks *s, const struct stack_path *path, u64 count)
{
	if (path->is_mixed)
		s->mixed += count;
	if (path->is_unknown)
		s->unknown += count;
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
	struct merge m = { .names = { .hierarchy = measurement->scope.hierarchy } };
	size_t i;
	u32 index;
	int err = stacks__read_losses(s, r);

	if (!err)
		err = stacks__read(s);
	/* After that: what is told is of all that was read. */
	if (!err)
		err = stacks__watch(s);
	forget_mixed(s);
	r->has_events = true;
	r->stacks = m.out = calloc(1, sizeof(*m.out));
	if (!err && !m.out)
		err = -ENOMEM;
	for (i = 0; i < s->store.nsamples && !err; i++) {
		/* Names may take a while, and rings fill up meanwhile. */
		if (i % SAMPLES_AT_ONCE == SAMPLES_AT_ONCE - 1)
			err = stacks__watch(s);
		if (!err)
			err = resolve(s, &s->store.sample[i], &index);
		if (!err)
			err = add_sample(s, r, &m, &s->store.sample[i], &s->known[index].path);
		if (!err)
			count_doubtful(s, &s->known[index].path, s->store.sample[i].count);
	}
	if (!err)
		err = name_keys(&m, measurement->cli->by, s->event);
	merge__free(&m);
	if (err)
		return err;
	r->events = r->stacks->total;
	r->stacks->frame = s->names.frame;
	r->stacks->nframes = s->names.n;
	report__sort_stacks(r, top);
	return stacks__add_notes(s, r);
}

/* What was left out to stay within bounds. */
static void tell_bounds(const struct stacks *s)
{
	struct symbols_bounds left = s->names.symbols ? symbols__bounds(s->names.symbols) :
							(struct symbols_bounds){};

	if (left.skipped)
		diag_warn("%llu mappings of processes that map without end were skipped: frames there may have "
			  "no names", left.skipped);
	if (left.cut)
		diag_warn("what processes have mapped took too long to read, %llu times: frames there may have no "
			  "names", left.cut);
	if (left.unnamed)
		diag_warn("%llu mappings have no names: all together are too long", left.unnamed);
	if (left.forgotten)
		diag_warn("%llu programs were forgotten, there were too many: their frames may have no names",
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
	ring_buffer__free(s->processes);
	stack_store__free(&s->store);
	stack_names__free(&s->names);
	stack_choice__free(&s->choice);
	free(s->note);
}
