// SPDX-License-Identifier: BSD-2-Clause
#include "sched/chart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LOOK_AT_ENDED 1024      /* number of ended tasks before drop_ended() runs */
#define MOST_CPUS 65536         /* a higher number is not a CPU */

_Static_assert((int)PARTS == (int)TIMECHART_STATES, "parts of slots are states of tasks");

/*
 * --- tasks by id -------------------------------------------------------------------------------
 */

static size_t hash_of(const struct chart *c, u32 tid)
{
	return tid * 2654435769U >> 7 & (c->nhash - 1);
}

static u32 *find(const struct chart *c, u32 tid)
{
	size_t at = hash_of(c, tid);

	while (c->hash[at] && c->task[c->hash[at] - 1].tid != tid)
		at = (at + 1) & (c->nhash - 1);
	return &c->hash[at];
}

/* Makes a new hash of the living tasks, with space for twice as many. */
static int rehash(struct chart *c)
{
	size_t n = 64, i;
	u32 *hash;

	while (n < 4 * c->ntasks)
		n *= 2;
	hash = calloc(n, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	free(c->hash);
	c->hash = hash;
	c->nhash = n;
	for (i = 0; i < c->ntasks; i++)
		if (!c->task[i].ended)
			*find(c, c->task[i].tid) = i + 1;
	return 0;
}

static struct chart_task *add_task(struct chart *c, const struct timechart_record *r)
{
	if (ARRAY_ROOM(c->task, c->ntasks))
		return NULL;
	if (2 * (c->ntasks + 1) > c->nhash && rehash(c))
		return NULL;
	c->task[c->ntasks] = (struct chart_task){ .pid = r->pid, .tid = r->tid };
	*find(c, r->tid) = ++c->ntasks;
	return &c->task[c->ntasks - 1];
}

/*
 * Finds or adds the task. If an ended task has the same id, the new one takes its entry in the
 * hash.
 */
static struct chart_task *task_of(struct chart *c, const struct timechart_record *r)
{
	u32 at = *find(c, r->tid);
	struct chart_task *t = at && !c->task[at - 1].ended ? &c->task[at - 1] : add_task(c, r);

	if (t)
		memcpy(t->name, r->comm, sizeof(t->name) - 1);
	return t;
}

/*
 * --- pieces ------------------------------------------------------------------------------------
 */

/* Finds or adds the piece of a slot: the last piece, or an earlier one of the same slot. */
static struct chart_piece *piece_of(struct chart_task *t, u32 slot, u32 n, u32 cpu)
{
	size_t i;

	for (i = t->n; n == 1 && i-- && t->piece[i].slot == slot && t->piece[i].n == 1;)
		if (t->piece[i].cpu == cpu)
			return &t->piece[i];
	if (ARRAY_ROOM(t->piece, t->n))
		return NULL;
	t->piece[t->n] = (struct chart_piece){ .slot = slot, .n = n, .cpu = cpu };
	return &t->piece[t->n++];
}

static int add_part(struct chart_task *t, u32 slot, u32 n, u32 cpu, u32 state, u64 ns)
{
	struct chart_piece *p;

	if (!ns)
		return 0;
	p = piece_of(t, slot, n, cpu);
	if (!p)
		return -ENOMEM;
	p->ns[state] += ns;
	return 0;
}

/*
 * Adds time in one state, [from, to) since the beginning: the rest of a slot, whole slots, and part
 * of a slot.
 */
static int add_stretch(const struct chart *c, struct chart_task *t, u32 cpu, u32 state, u64 from,
		       u64 to)
{
	u64 first = from / c->width_ns, last = to / c->width_ns;
	int err;

	if (first == last)
		return add_part(t, first, 1, cpu, state, to - from);
	if (from > first * c->width_ns) {
		err = add_part(t, first, 1, cpu, state, (first + 1) * c->width_ns - from);
		if (err)
			return err;
		first++;
	}
	err = last > first ? add_part(t, first, last - first, cpu, state,
				      (last - first) * c->width_ns) : 0;
	return err ?: add_part(t, last, 1, cpu, state, to - last * c->width_ns);
}

static u32 state_of(const struct chart_piece *p)
{
	u32 state;

	for (state = 0; state < TIMECHART_STATES - 1 && !p->ns[state]; state++)
		;
	return state;
}

/* Rebuilds a task's pieces after the width has doubled. */
static int widen_task(const struct chart *c, struct chart_task *t)
{
	struct chart_task wide = *t;
	u64 narrow = c->width_ns / 2;
	int err = 0;
	size_t i;
	u32 k;

	wide.piece = NULL;
	wide.n = 0;
	for (i = 0; i < t->n && !err; i++) {
		const struct chart_piece *p = &t->piece[i];

		if (p->n > 1)
			err = add_stretch(c, &wide, p->cpu, state_of(p), p->slot * narrow,
					  (u64)(p->slot + p->n) * narrow);
		for (k = 0; k < TIMECHART_STATES && p->n == 1 && !err; k++)
			err = add_part(&wide, p->slot / 2, 1, p->cpu, k, p->ns[k]);
	}
	free(t->piece);
	*t = wide;
	return err;
}

static void widen_others(struct chart *c)
{
	u32 i, k;

	for (i = 0; i < CHART_SLOTS / 2; i++)
		for (k = 0; k < PARTS; k++)
			c->others[i].ns[k] = c->others[2 * i].ns[k] + c->others[2 * i + 1].ns[k];
	memset(&c->others[i], 0, sizeof(c->others) / 2);
	for (k = 0; k < c->ncpus; k++) {
		for (i = 0; i < CHART_SLOTS / 2; i++)
			c->busy[k][i] = c->busy[k][2 * i] + c->busy[k][2 * i + 1];
		memset(&c->busy[k][i], 0, sizeof(c->busy[k]) / 2);
	}
}

/* Widens slots until they cover this much time since the beginning. */
static int reach(struct chart *c, u64 ns)
{
	int err = 0;
	size_t i;

	while (ns > CHART_SLOTS * c->width_ns && !err) {
		c->width_ns *= 2;
		for (i = 0; i < c->ntasks && !err; i++)
			err = widen_task(c, &c->task[i]);
		widen_others(c);
	}
	return err;
}

/*
 * --- others ------------------------------------------------------------------------------------
 */

static void share_out(const struct chart *c, const struct chart_piece *p,
		      void (*add)(void *to, u32 slot, const u64 *ns), void *to)
{
	u64 ns[TIMECHART_STATES] = { 0 };
	u32 i;

	if (p->n == 1) {
		add(to, p->slot, p->ns);
		return;
	}
	ns[state_of(p)] = c->width_ns;
	for (i = 0; i < p->n; i++)
		add(to, p->slot + i, ns);
}

static void add_to_slot(void *to, u32 slot, const u64 *ns)
{
	struct timechart_slot *slots = to;
	u32 k;

	for (k = 0; k < PARTS; k++)
		slots[slot].ns[k] += ns[k];
}

static void add_to_others(struct chart *c, struct chart_task *t)
{
	size_t i;
	u32 k;

	for (i = 0; i < t->n; i++)
		share_out(c, &t->piece[i], add_to_slot, c->others);
	for (k = 0; k < TIMECHART_STATES; k++)
		c->others_total[k] += t->total[k];
	c->nothers++;
	free(t->piece);
	t->piece = NULL;
	t->n = 0;
}

static int by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x > y ? -1 : x < y;
}

/* The run time that a task needs to be among the top, or 0 if all tasks are. */
static int find_least(const struct chart *c, u64 *least)
{
	u64 *run = calloc(c->ntasks ?: 1, sizeof(*run));
	size_t i;

	if (!run)
		return -ENOMEM;
	for (i = 0; i < c->ntasks; i++)
		run[i] = c->task[i].total[TIMECHART_RUN];
	qsort(run, c->ntasks, sizeof(*run), by_number);
	*least = c->ntasks > c->top && c->top ? run[c->top - 1] : 0;
	free(run);
	return 0;
}

/* The required run time only increases, so an ended task below it can never be among the top again. */
static int drop_ended(struct chart *c)
{
	size_t i, n = 0;
	u64 least;
	int err = find_least(c, &least);

	if (err)
		return err;
	for (i = 0; i < c->ntasks; i++) {
		if (c->task[i].ended && c->task[i].total[TIMECHART_RUN] < least)
			add_to_others(c, &c->task[i]);
		else
			c->task[n++] = c->task[i];
	}
	c->ntasks = n;
	c->ended = 0;
	return rehash(c);
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

int chart__init(struct chart *c, u64 begin_ns, u64 width_ns, u32 ncpus, size_t top)
{
	*c = (struct chart){ .begin_ns = begin_ns, .width_ns = width_ns ?: 1, .top = top };
	c->ncpus = ncpus;
	return ARRAY_REACH(c->busy, c->busy_room, ncpus) ?: rehash(c);
}

/* A CPU that came online later adds its own row, and those of CPUs with lower numbers. */
static int reach_cpu(struct chart *c, u32 cpu)
{
	int err;

	if (cpu < c->ncpus)
		return 0;
	if (cpu >= MOST_CPUS)
		return -EBADMSG;
	err = ARRAY_REACH(c->busy, c->busy_room, cpu + 1);
	if (!err)
		c->ncpus = cpu + 1;
	return err;
}

static void add_busy(struct chart *c, u32 cpu, u64 from, u64 to)
{
	u64 slot, end;

	for (; from < to; from = end) {
		slot = from / c->width_ns;
		end = (slot + 1) * c->width_ns;
		if (end > to)
			end = to;
		c->busy[cpu][slot] += end - from;
	}
}

static int add_slot(struct chart *c, struct chart_task *t, const struct timechart_record *r)
{
	u32 slot = (r->slot_end - 1 - c->begin_ns) / c->width_ns, k;
	int err = 0;

	for (k = 0; k < TIMECHART_STATES && !err; k++) {
		err = add_part(t, slot, 1, r->cpu, k, r->ns[k]);
		t->total[k] += r->ns[k];
	}
	c->busy[r->cpu][slot] += r->ns[TIMECHART_RUN];
	return err;
}

int chart__take(struct chart *c, const struct timechart_record *r)
{
	u64 since = r->since - c->begin_ns, until = r->until - c->begin_ns;
	bool has_slot = r->slot_end > c->begin_ns;
	bool has_stretch = r->state < TIMECHART_STATES && since < until;
	struct chart_task *t;
	int err = reach_cpu(c, r->cpu);

	if (!err && has_slot)
		err = reach(c, r->slot_end - c->begin_ns);
	if (!err && has_stretch)
		err = reach(c, until);
	t = err ? NULL : task_of(c, r);
	if (!t)
		return err ?: -ENOMEM;
	if (has_slot)
		err = add_slot(c, t, r);
	if (!err && has_stretch) {
		err = add_stretch(c, t, r->cpu, r->state, since, until);
		t->total[r->state] += until - since;
		if (r->state == TIMECHART_RUN)
			add_busy(c, r->cpu, since, until);
	}
	if (r->state != TIMECHART_GONE)
		return err;
	t->ended = true;
	return err ?: ++c->ended == LOOK_AT_ENDED ? drop_ended(c) : 0;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int by_run(const void *a, const void *b)
{
	const struct chart_task *x = a, *y = b;
	u64 run_x = x->total[TIMECHART_RUN], run_y = y->total[TIMECHART_RUN];

	if (run_x != run_y)
		return run_x > run_y ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int make_row(struct timechart *out, const struct timechart_row *row)
{
	struct timechart_row *r = &out->row[out->n];

	*r = *row;
	r->slot = calloc(out->nslots ?: 1, sizeof(*r->slot));
	if (!r->slot)
		return -ENOMEM;
	out->n++;
	return 0;
}

static int draw_cpus(const struct chart *c, struct timechart *out)
{
	u32 cpu, i;
	int err;

	for (cpu = 0; cpu < c->ncpus; cpu++) {
		const struct timechart_row row = {
			.kind = TIMECHART_CPU, .cpu = cpu, .ncpus = 1,
		};

		err = make_row(out, &row);
		if (err)
			return err;
		for (i = 0; i < out->nslots; i++) {
			out->row[cpu].slot[i].ns[PART_RUN] = c->busy[cpu][i];
			out->row[cpu].total[PART_RUN] += c->busy[cpu][i];
		}
	}
	return 0;
}

/* For each CPU and slot, the task with a row that ran most. row: 1 + its index. */
struct majority {
	struct timechart *out;
	u32 cpu, row;
};

static void take_majority(void *to, u32 slot, const u64 *ns)
{
	struct majority *m = to;
	struct timechart_slot *s = &m->out->row[m->cpu].slot[slot];

	s->known_ns += ns[TIMECHART_RUN];
	if (ns[TIMECHART_RUN] <= s->most_ns)
		return;
	s->most_ns = ns[TIMECHART_RUN];
	s->most = m->row;
}

static int draw_task(const struct chart *c, const struct chart_task *t, struct timechart *out)
{
	struct majority m = { .out = out, .row = out->n + 1 };
	struct timechart_row row = {
		.kind = TIMECHART_TASK, .ncpus = 1, .pid = t->pid, .tid = t->tid,
	};
	size_t i;
	int err;

	memcpy(row.name, t->name, sizeof(row.name));
	memcpy(row.total, t->total, sizeof(row.total));
	err = make_row(out, &row);
	for (i = 0; i < t->n && !err; i++) {
		share_out(c, &t->piece[i], add_to_slot, out->row[m.row - 1].slot);
		m.cpu = t->piece[i].cpu;
		share_out(c, &t->piece[i], take_majority, &m);
	}
	return err;
}

int chart__draw(struct chart *c, u64 end_ns, struct timechart *out)
{
	u64 duration_ns = end_ns > c->begin_ns ? end_ns - c->begin_ns : 0;
	struct timechart_row others = { .kind = TIMECHART_OTHERS, .ncpus = c->ncpus };
	int err = reach(c, duration_ns);
	size_t shown, i;

	*out = (struct timechart){ .ncpus = c->ncpus, .duration_ns = duration_ns };
	out->slot_ns = c->width_ns;
	out->nslots = (duration_ns + c->width_ns - 1) / c->width_ns;
	if (c->ntasks)
		qsort(c->task, c->ntasks, sizeof(*c->task), by_run);
	shown = c->top && c->top < c->ntasks ? c->top : c->ntasks;
	out->row = calloc(c->ncpus + shown + 1, sizeof(*out->row));
	if (!err)
		err = out->row ? draw_cpus(c, out) : -ENOMEM;
	for (i = 0; i < shown && !err; i++)
		if (c->task[i].total[TIMECHART_RUN])
			err = draw_task(c, &c->task[i], out);
	for (i = out->n - c->ncpus; i < c->ntasks && !err; i++)
		add_to_others(c, &c->task[i]);
	others.tasks = c->nothers;
	memcpy(others.total, c->others_total, sizeof(others.total));
	if (!err)
		err = make_row(out, &others);
	if (!err)
		memcpy(out->row[out->n - 1].slot, c->others, out->nslots * sizeof(*c->others));
	return err;
}

void chart__free(struct chart *c)
{
	size_t i;

	for (i = 0; i < c->ntasks; i++)
		free(c->task[i].piece);
	free(c->task);
	free(c->hash);
	free(c->busy);
	*c = (struct chart){};
}
