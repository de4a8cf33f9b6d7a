// SPDX-License-Identifier: BSD-2-Clause
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/elements.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "cli/key_view.h"
#include "report/diag.h"
#include "stack/blocked.h"

/* Marks indexes of notes until the number of frames is known. */
#define NOTE 0x80000000U

struct blocked_entry {
	struct blocked_key key;
	struct blocked_sum sum;         /* at the last read */
};

/* A stack from the kernel's maps, resolved only once. */
struct blocked_part {
	struct stack_id id;
	struct stack_path path;
};

const char *blocked_why_name(enum blocked_why why)
{
	static const char *const names[] = {
		[BLOCKED_SLEEP] = "sleep",	   [BLOCKED_DISK] = "disk",
		[BLOCKED_IDLE] = "idle",	   [BLOCKED_STOPPED] = "stopped",
		[BLOCKED_TRACED] = "traced",	   [BLOCKED_OTHER] = "other",
		[BLOCKED_PREEMPTED] = "preempted", [BLOCKED_ON_CPU] = "on-CPU",
	};

	return why < ARRAY_SIZE(names) ? names[why] : "other";
}

/*
 * --- parts -------------------------------------------------------------------------------------
 */

static bool same_part(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct blocked_part *)array)[index].id, key,
		       sizeof(struct stack_id));
}

/* A lost stack becomes a note; a stack without frames becomes empty. */
static int resolve_part(struct blocked_report *b, const struct stack_id *id,
			struct stack_path *path)
{
	struct stack *stack = NULL;
	int err = id->hash ? stack_store__fetch(&b->stacks->store, id, &stack) : 0;

	*path = (struct stack_path){};
	if (!err && (!stack || stack->kernel || stack->user))
		err = stack_names__resolve(&b->stacks->names, stack, true, path);
	free(stack);
	return err;
}

/* Sets *index, since the array of parts may move. */
static int find_part(struct blocked_report *b, const struct stack_id *id, u32 *index)
{
	u64 hash = table_hash(0, id, sizeof(*id));
	s64 known = table__find(&b->by_stack, hash, same_part, b->part, id);
	size_t n = b->nparts;
	int err;

	*index = known;
	if (known >= 0)
		return 0;
	err = ARRAY_ROOM(b->part, n);
	if (err)
		return err;
	b->part[n].id = *id;
	err = resolve_part(b, id, &b->part[n].path);
	if (!err) {
		b->nparts++;
		err = table__add(&b->by_stack, hash, n);
	}
	*index = n;
	return err;
}

static bool same_note(const void *array, u32 index, const void *key)
{
	return !strcmp(((char *const *)array)[index], key);
}

static int find_note(struct blocked_report *b, const char *text, u32 *frame)
{
	u64 hash = table_hash(0, text, strlen(text));
	s64 known = table__find(&b->by_note, hash, same_note, b->note, text);
	size_t n = b->nnotes;
	int err;

	*frame = NOTE | (u32)known;
	if (known >= 0)
		return 0;
	err = ARRAY_ROOM(b->note, n);
	if (err)
		return err;
	b->note[n] = strdup(text);
	if (!b->note[n])
		return -ENOMEM;
	b->nnotes++;
	*frame = NOTE | (u32)n;
	return table__add(&b->by_note, hash, n);
}

/*
 * --- building stacks ---------------------------------------------------------------------------
 */

/* A stack under construction. */
struct chain {
	struct stack_path path;
	size_t room;
};

static int put(struct chain *c, u32 frame, const struct report_place *place)
{
	size_t room = c->room;

	if (ARRAY_RESERVE(c->path.frame, room, c->path.n + 1) || ARRAY_RESERVE(c->path.place, c->room, c->path.n + 1))
		return -ENOMEM;
	c->path.frame[c->path.n] = frame;
	c->path.place[c->path.n++] = *place;
	return 0;
}

static int put_note(struct blocked_report *b, struct chain *c, const char *text)
{
	const struct report_place nowhere = { FRAME_PLACES, FRAME_PLACES };
	u32 frame;
	int err = find_note(b, text, &frame);

	return err ?: put(c, frame, &nowhere);
}

static int put_part(struct blocked_report *b, struct chain *c, const struct stack_id *id)
{
	const struct stack_path *p;
	u32 part, i;
	int err = find_part(b, id, &part);

	if (err)
		return err;
	p = &b->part[part].path;
	for (i = 0; i < p->n && !err; i++)
		err = put(c, p->frame[i], &p->place[i]);
	return err;
}

/* Kernel entry points of interrupts on x86 and arm64. */
static bool is_interrupt(const struct report_frame *f)
{
	static const char *const names[] = {
		"asm_sysvec_", "asm_common_interrupt", "asm_exc_nmi",	"el0_irq",
		"el1_irq",     "el0_interrupt",	       "el1_interrupt",
	};
	size_t i;

	for (i = 0; f->name && f->kind == FRAME_KERNEL && i < ARRAY_SIZE(names); i++)
		if (!strncmp(f->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Finds the frames of a waker that show why it woke the task: [*first, *end) of its path. */
static bool waker_frames(const struct blocked_report *b, const struct stack_path *p, u32 *first,
			 u32 *end)
{
	const struct report_frame *frame = b->stacks->names.frame;
	bool interrupt = false;
	u32 i;

	*first = 0;
	*end = p->n;
	for (i = *end; i-- && !interrupt;) {
		interrupt = is_interrupt(&frame[p->frame[i]]);
		if (interrupt)
			*first = i;
	}
	return interrupt;
}

static int put_waker(struct blocked_report *b, struct chain *c, const struct stack_id *id,
		     char comm[])
{
	const struct stack_path *p;
	u32 part, first, end, at, i;
	int err = find_part(b, id, &part);

	if (err)
		return err;
	p = &b->part[part].path;
	if (waker_frames(b, p, &first, &end))
		strcpy(comm, "[interrupt]");
	for (i = first; i < end && !err; i++) {
		at = b->view == BLOCKED_BY_BOTH ? end - 1 - (i - first) : i;
		/* The kernel part is always taken, to detect interrupts. */
		if (!b->stacks->kernel && b->stacks->names.frame[p->frame[at]].kind == FRAME_KERNEL)
			continue;
		err = put(c, p->frame[at], &p->place[at]);
	}
	return err;
}

static int put_task(struct blocked_report *b, struct chain *c, const struct blocked_key *key)
{
	const struct stacks *s = b->stacks;
	int err = 0;

	if (s->user && key->notes & BLOCKED_BEFORE)
		err = put_note(b, c, "[blocked before the run]");
	else if (s->user && key->notes & BLOCKED_LATE)
		err = put_note(b, c, "[user part not taken]");
	else if (s->user && !(key->notes & BLOCKED_NO_USER))
		err = put_part(b, c, &key->user);
	if (!err && s->kernel)
		err = put_part(b, c, &key->kernel);
	if (!err && !c->path.n)
		err = put_note(b, c, s->kernel ? "[no stack]" : "[no user stack]");
	return err;
}

/* Starts a stack of a report with both on-CPU and off-CPU time. */
static int put_kind(struct blocked_report *b, struct chain *c, const struct blocked_key *key)
{
	char text[32];

	if (key->why == BLOCKED_ON_CPU)
		return put_note(b, c, NOTE_ON_CPU);
	snprintf(text, sizeof(text), NOTE_OFF_CPU "%s]", blocked_why_name(key->why));
	return put_note(b, c, text);
}

static int put_sampled(struct blocked_report *b, struct chain *c, const struct blocked_key *key)
{
	if (key->notes & BLOCKED_UNSAMPLED)
		return put_note(b, c, "[not sampled]");
	return put_part(b, c, &key->user);
}

static int put_either(struct blocked_report *b, struct chain *c, const struct blocked_key *key)
{
	int err = put_kind(b, c, key);

	if (err)
		return err;
	return key->why == BLOCKED_ON_CPU ? put_sampled(b, c, key) : put_task(b, c, key);
}

/* comm is the waker's name (TASK_KEY_COMM_LEN), or the note that replaces it. */
static int put_stack(struct blocked_report *b, struct chain *c, const struct blocked_key *key,
		     char comm[])
{
	int err = 0;

	c->path.n = 0;
	if (b->wall)
		err = put_either(b, c, key);
	else if (b->view != BLOCKED_BY_WAKER)
		err = put_task(b, c, key);
	if (!err && b->view == BLOCKED_BY_BOTH)
		err = put_note(b, c, "--");
	if (!err && key->notes & BLOCKED_STILL)
		return put_note(b, c, "[still blocked]");
	if (!err && b->view != BLOCKED_BY_TASK)
		err = put_waker(b, c, &key->waker, comm);
	if (!err && b->view == BLOCKED_BY_BOTH)
		err = put_note(b, c, comm);
	if (!err && !c->path.n)
		err = put_note(b, c, "[no user stack]");
	return err;
}

/*
 * --- building a report -------------------------------------------------------------------------
 */

/* The key by which stacks are grouped. */
struct group_key {
	struct task_key task;
	u32 why, pad;
	char waker[TASK_KEY_COMM_LEN];
};

struct group {
	struct group_key key;
	struct blocked_sum sum;         /* with the newest name */
};

struct merge {
	struct blocked_report *b;
	struct report *r;
	struct report_stacks *out;
	u64 slices;
	struct group *group;
	struct table by_group, by_path;
	struct chain chain;
	struct task_key_names names;
	struct key_view view;
};

static bool same_group(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct group *)array)[index].key, key, sizeof(struct group_key));
}

static int find_group(struct merge *m, const struct group_key *key, const struct blocked_sum *sum,
		      u32 *index)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&m->by_group, hash, same_group, m->group, key);
	size_t n = m->out->nkeys;

	if (known >= 0) {
		if (sum->name_stamp > m->group[known].sum.name_stamp)
			m->group[known].sum = *sum;
		*index = known;
		return 0;
	}
	if (ARRAY_ROOM(m->group, n) || table__add(&m->by_group, hash, n))
		return -ENOMEM;
	m->group[n] = (struct group){ *key, *sum };
	*index = m->out->nkeys++;
	return 0;
}

static int add(struct merge *m, const struct blocked_key *key, const struct blocked_sum *gained)
{
	struct group_key group = { .task = key->task, .why = m->b->by_state ? key->why : 0 };
	char comm[TASK_KEY_COMM_LEN];
	u32 index;
	int err;

	m->slices += gained->count;
	if (!gained->ns)
		return 0;
	key_view__change(&m->view, &group.task);
	memcpy(comm, key->waker_comm, sizeof(comm));
	comm[sizeof(comm) - 1] = 0;
	err = put_stack(m->b, &m->chain, key, comm);
	if (m->b->view == BLOCKED_BY_WAKER)
		memcpy(group.waker, comm, strlen(comm));
	if (!err)
		err = find_group(m, &group, gained, &index);
	return err ?: stacks__add_path(m->b->stacks, m->r, &m->by_path, index, 0, gained->ns,
				       &m->chain.path);
}

/* Joins the frames and the notes in one list, notes last. */
static int join_frames(struct merge *m)
{
	struct blocked_report *b = m->b;
	size_t n = b->stacks->names.n, i;
	u32 k;

	free(b->frame);
	b->frame = calloc(n + b->nnotes ?: 1, sizeof(*b->frame));
	if (!b->frame)
		return -ENOMEM;
	if (n)
		memcpy(b->frame, b->stacks->names.frame, n * sizeof(*b->frame));
	for (i = 0; i < b->nnotes; i++)
		b->frame[n + i] = (struct report_frame){ .name = b->note[i], .kind = FRAME_NOTE };
	for (i = 0; i < m->out->n; i++)
		for (k = 0; k < m->out->stack[i].nframes; k++)
			if (m->out->stack[i].frame[k] & NOTE)
				m->out->stack[i].frame[k] = n + (m->out->stack[i].frame[k] & ~NOTE);
	m->out->frame = b->frame;
	m->out->nframes = n + b->nnotes;
	return 0;
}

static int name_group(struct merge *m, const struct group *g, u32 by, struct report_row *row)
{
	int err = 0;

	if (m->b->view == BLOCKED_BY_WAKER)
		err = report_row__add_text(row, "waker", g->key.waker);
	if (!err && by)
		err = task_key__add_fields(row, &g->key.task, g->sum.name, by, &m->names);
	if (!err && m->b->by_state)
		err = report_row__add_text(row, "state", blocked_why_name(g->key.why));
	return err;
}

static int name_groups(struct merge *m, u32 by)
{
	const struct group none = {};
	struct report_row row = {};
	size_t i;
	int err = 0;

	m->out->key = calloc(m->out->nkeys ?: 1, sizeof(*m->out->key));
	if (!m->out->key)
		return -ENOMEM;
	for (i = 0; i < m->out->nkeys && !err; i++)
		err = name_group(m, &m->group[i], by, &m->out->key[i]);
	if (err || m->out->nkeys)
		return err;
	err = name_group(m, &none, by, &row);
	return report__end_columns(m->r, &row, err);
}

/*
 * --- reading the map ---------------------------------------------------------------------------
 */

static bool same_entry(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct blocked_entry *)array)[index].key, key,
		       sizeof(struct blocked_key));
}

/* Sets *gained to the increase of a key since the last read. */
static int take_element(struct blocked_report *b, const struct blocked_key *key,
			const struct blocked_sum *now, struct blocked_sum *gained)
{
	u64 hash = table_hash(0, key, sizeof(*key));
	s64 known = table__find(&b->by_key, hash, same_entry, b->entry, key);
	size_t n = b->nentries;

	*gained = *now;
	if (known >= 0) {
		gained->ns -= b->entry[known].sum.ns;
		gained->count -= b->entry[known].sum.count;
		b->entry[known].sum = *now;
		return 0;
	}
	if (ARRAY_ROOM(b->entry, n) || table__add(&b->by_key, hash, n))
		return -ENOMEM;
	b->entry[b->nentries++] = (struct blocked_entry){ *key, *now };
	return 0;
}

/* Holds the stacks of slices that have ended and whose user part is yet to be taken. */
static int hold_kicked(struct blocked_report *b)
{
	int fd = bpf_object__find_map_fd_by_name(b->stacks->obj, "kicked"), cpus = libbpf_num_possible_cpus();
	struct blocked_kick *kicks = cpus > 0 ? calloc(cpus, sizeof(*kicks)) : NULL;
	u32 zero = 0;
	int err = kicks ? bpf_map_lookup_elem(fd, &zero, kicks) : -ENOMEM, i;

	for (i = 0; i < cpus && !err; i++) {
		stack_store__hold(&b->stacks->store, &kicks[i].key.kernel);
		stack_store__hold(&b->stacks->store, &kicks[i].key.user);
		stack_store__hold(&b->stacks->store, &kicks[i].key.waker);
	}
	free(kicks);
	return err;
}

/* Begins a turn (stack/store.h) if one is due. Removes nothing on failure. */
static bool begin_turn(struct blocked_report *b)
{
	struct stack_store *s = &b->stacks->store;

	if (!stack_store__is_due(s, b->nentries, b->nidle) || stack_store__begin_turn(s))
		return false;
	if (!hold_kicked(b))
		return true;
	stack_store__leave_all(s);
	return false;
}

/* Leaves an entry of the current generation, and its stacks, for the next read. */
static void leave(struct blocked_report *b, const struct blocked_key *key)
{
	stack_store__hold(&b->stacks->store, &key->kernel);
	stack_store__hold(&b->stacks->store, &key->user);
	stack_store__hold(&b->stacks->store, &key->waker);
}

static void end_turn(struct blocked_report *b, const struct elements *e)
{
	const struct stack_store *s = &b->stacks->store;
	const struct blocked_key *key;
	size_t i;

	for (i = 0; i < e->n; i++) {
		key = elements__key(e, i);
		if (key->generation != *s->generation)
			bpf_map_delete_elem(s->counts_fd, key);
	}
	stack_store__end_turn(&b->stacks->store);
	b->stale = true;
}

static int take_elements(struct merge *m, const struct elements *e, bool turns)
{
	const struct stack_store *s = &m->b->stacks->store;
	const struct blocked_key *key;
	struct blocked_sum gained;
	size_t i;
	int err = 0;

	m->b->nidle = 0;
	for (i = 0; i < e->n && !err; i++) {
		key = elements__key(e, i);
		if (turns && key->generation == *s->generation) {
			leave(m->b, key);
			continue;
		}
		err = take_element(m->b, key, elements__value(e, i), &gained);
		if (!err && gained.count)
			err = add(m, key, &gained);
		else
			m->b->nidle++;
	}
	return err;
}

static int add_elements(struct merge *m)
{
	struct elements e = {.key_size = sizeof(struct blocked_key),
			     .value_size = sizeof(struct blocked_sum)};
	struct stacks *s = m->b->stacks;
	bool turns = begin_turn(m->b);
	int err;

	stacks__forget_ended(s);
	s->read_ns = monotonic_ns();
	err = elements__read(&e, s->store.counts_fd);
	/* Must follow the read, so that the records cover everything that was read. */
	if (!err)
		err = stacks__watch(s);
	if (!err)
		err = take_elements(m, &e, turns);
	if (!err && turns)
		end_turn(m->b, &e);
	elements__free(&e);
	return err;
}

static void forget_all(struct blocked_report *b)
{
	size_t i;

	for (i = 0; i < b->nparts; i++)
		stack_path__free(&b->part[i].path);
	for (i = 0; i < b->nnotes; i++)
		free(b->note[i]);
	free(b->part);
	free(b->note);
	free(b->entry);
	table__free(&b->by_key);
	table__free(&b->by_stack);
	table__free(&b->by_note);
	b->part = NULL;
	b->note = NULL;
	b->entry = NULL;
	b->by_key = b->by_stack = b->by_note = (struct table){};
	b->nparts = b->nnotes = b->nentries = b->nidle = 0;
}

/* Forgets all data from before a turn. */
static void begin_anew(struct blocked_report *b)
{
	if (!b->stale)
		return;
	forget_all(b);
	stack_names__forget_frames(&b->stacks->names);
	b->stale = false;
}

/* Most tasks sleep most of the time, and would dominate the report. */
static bool is_sleeper(const struct blocked_report *b, const struct blocked_still *still)
{
	return b->without_sleepers && still->key.notes & BLOCKED_WHOLE &&
	       (!b->wall || still->key.why == BLOCKED_SLEEP || still->key.why == BLOCKED_IDLE);
}

static int add_stills(struct merge *m, const struct blocked_still *still, size_t n)
{
	size_t sleepers = 0, i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (is_sleeper(m->b, &still[i]))
			sleepers++;
		else
			err = add(m, &still[i].key, &still[i].sum);
	}
	if (!sleepers)
		return err;
	snprintf(m->b->sleepers, sizeof(m->b->sleepers), "%zu %s through the whole run %s left out: --idle includes "
							 "them",
		 sleepers, sleepers == 1 ? "task that slept" : "tasks that slept", sleepers == 1 ? "is" : "are");
	m->r->caveat = m->b->sleepers;
	return err;
}

int blocked_report__make(struct blocked_report *b, const struct measurement *measurement,
			 struct report *r, const struct blocked_still *still, size_t n, size_t top)
{
	struct merge m = {
		.b = b, .r = r, .names = { .cgroups = measurement->cgroups },
		.view = { measurement->cli->by, &m.names, 0 },
	};
	int err = stacks__read_losses(b->stacks, r);

	begin_anew(b);
	r->stacks = m.out = calloc(1, sizeof(*m.out));
	if (!m.out)
		return -ENOMEM;
	if (!err)
		err = add_elements(&m);
	if (!err)
		err = add_stills(&m, still, n);
	if (!err)
		err = join_frames(&m);
	if (!err)
		err = name_groups(&m, measurement->cli->by);
	free(m.group);
	table__free(&m.by_group);
	table__free(&m.by_path);
	stack_path__free(&m.chain.path);
	task_key_names__free(&m.names);
	if (err)
		return err;
	r->has_events = true;
	r->events = m.slices;
	report__sort_stacks(r, top);
	return stacks__add_notes(b->stacks, r);
}

void blocked_report__free(struct blocked_report *b)
{
	forget_all(b);
	free(b->frame);
	b->frame = NULL;
}

/*
 * --- unfinished slices -------------------------------------------------------------------------
 */

static int take_still(void *context, const void *record)
{
	struct blocked_stills *s = context;

	if (ARRAY_RESERVE(s->task, s->room, s->n + 1))
		return -ENOMEM;
	memcpy(&s->task[s->n++], record, sizeof(*s->task));
	return 0;
}

int blocked_stills__read(struct blocked_stills *s, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd, err;

	if (!link) {
		diag_detail("no task iterator: events in progress at the end are not in the report");
		return 0;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : iterator__each(fd, sizeof(*s->task), take_still, s);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}
