// SPDX-License-Identifier: BSD-2-Clause
#include "sched/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * A task that goes to sleep can be woken before it has left its CPU. A wakeup this shortly before
 * the departure ends the absence, unless another one follows.
 */
#define EARLY_NS 20000
/* A limit, since files may contain any number. */
#define MOST_CPUS 65536

/* Returns the task, valid until the next call, or NULL without memory. */
static struct schedule_task *task_of(struct schedule *s, const struct switches_task *which)
{
	struct task_totals *totals = tasks__get(&s->ids, which);
	size_t i;

	if (!totals)
		return NULL;
	i = totals - s->ids.task;
	return ARRAY_REACH(s->task, s->room, i + 1) ? NULL : &s->task[i];
}

static int add_step(struct schedule_task *t, enum step_kind kind, u64 ns, u32 wake)
{
	struct step *last = t->n ? &t->step[t->n - 1] : NULL;

	if (kind == STEP_RUN || kind == STEP_SLEEP) {
		if (!ns)
			return 0;
		if (last && last->kind == kind) {
			last->ns += ns;
			return 0;
		}
	}
	return ARRAY_APPEND(t->step, t->n, (struct step){ .ns = ns, .kind = kind, .wake = wake });
}

static u64 difference(u64 later, u64 earlier)
{
	return later > earlier ? later - earlier : 0;
}

/*
 * --- the end of a slice ------------------------------------------------------------------------
 */

/* The time slept before this slice. Waits for a CPU are excluded, because the replay has its own. */
static u64 sleep_before(const struct schedule *s, const struct schedule_task *t,
			const struct switches_record *r, u64 began_ns)
{
	u64 off = t->seen ? difference(began_ns, t->left_ns) : difference(began_ns, s->first_ns);

	if (t->seen && r && r->off_ns != SWITCHES_UNKNOWN && r->off_ns < off)
		off = r->off_ns;
	if (r && r->wait_ns != SWITCHES_UNKNOWN)
		off = difference(off, r->wait_ns);
	return off;
}

static int add_off(struct schedule *s, struct schedule_task *t, u64 sleep_ns)
{
	u32 wake = t->came_waker;

	if (!wake)
		return add_step(t, STEP_SLEEP, sleep_ns, 0);
	s->wake[wake - 1].counts = true;
	return add_step(t, STEP_WAIT, sleep_ns, wake - 1);
}

/* r: the record that ends the slice, or NULL if the recording ends. */
static int end_slice(struct schedule *s, struct schedule_task *t, const struct switches_record *r)
{
	u64 end_ns = r ? r->time_ns : s->last_ns, most = difference(end_ns, s->first_ns);
	u64 run_ns = t->came_seen && !t->hid ? difference(end_ns, t->came_ns) : 0, done = 0, at;
	u64 began_ns;
	size_t i;
	int err;

	if (r && r->run_ns != SWITCHES_UNKNOWN)
		run_ns = r->run_ns;
	if (run_ns > most)
		run_ns = most;
	began_ns = t->came_seen ? t->came_ns : end_ns - run_ns;
	err = add_off(s, t, sleep_before(s, t, r, began_ns));
	for (i = 0; i < t->npending && !err; i++) {
		at = difference(t->pending[i].time_ns, began_ns);
		if (at > run_ns)
			at = run_ns;
		err = add_step(t, STEP_RUN, difference(at, done), 0);
		done = at > done ? at : done;
		if (!err)
			err = add_step(t, STEP_WAKE, 0, t->pending[i].wake);
	}
	if (!err)
		err = add_step(t, STEP_RUN, run_ns - done, 0);
	if (!t->seen)
		t->begin_ns = difference(began_ns, s->first_ns);
	t->end_ns = difference(end_ns, s->first_ns);
	t->run_ns += run_ns;
	t->npending = 0;
	t->seen = true;
	return err;
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

static int leave(struct schedule *s, const struct switches_record *r)
{
	struct schedule_task *t = task_of(s, &r->task);
	int err;

	if (!t)
		return -ENOMEM;
	err = end_slice(s, t, r);
	t->switches++;
	t->known = true;
	t->on = t->came_seen = t->hid = false;
	t->left_ns = r->time_ns;
	t->came_waker = 0;
	if (!t->early || difference(r->time_ns, t->early_ns) > EARLY_NS)
		t->waker = 0;
	return err;
}

static int come(struct schedule *s, const struct switches_record *r)
{
	struct schedule_task *t = task_of(s, &r->other);

	if (!t)
		return -ENOMEM;
	/* The task is already on a CPU: the kernel skipped the program when the task left. */
	if (t->known && t->on)
		return 0;
	t->known = t->on = t->came_seen = true;
	t->came_ns = r->time_ns;
	/*
	 * If the slice began unseen, the tasks that were woken in it were woken before this
	 * arrival.
	 */
	t->came_waker = t->npending ? 0 : t->waker;
	t->waker = 0;
	t->early = false;
	return 0;
}

/* Returns the entry of the CPU in on_cpu, which is added if missing, or NULL if there is no memory, or no such CPU. */
static u32 *place_on(struct schedule *s, u32 cpu)
{
	return cpu >= MOST_CPUS || ARRAY_REACH(s->on_cpu, s->cpus_room, cpu + 1) ? NULL : &s->on_cpu[cpu];
}

/*
 * Called before a switch is processed: if the last task that arrived on this CPU is not the leaving
 * one, its departure was not seen. Its time there is unknown, except from the kernel's accounting
 * at its next departure.
 */
static int note_hidden(struct schedule *s, const struct switches_record *r)
{
	u32 *place = place_on(s, r->cpu);
	struct schedule_task *leaves = r->kind == SWITCHES_SWITCH ? task_of(s, &r->task) : NULL;
	size_t left = leaves ? leaves - s->task + 1 : 0;

	if (place && *place && *place != left && s->task[*place - 1].came_seen &&
	    !s->task[*place - 1].hid) {
		s->task[*place - 1].hid = true;
		s->hidden++;
	}
	if (place)
		*place = 0;
	return place || r->cpu >= MOST_CPUS ? 0 : -ENOMEM;
}

static void note_arrival(struct schedule *s, const struct switches_record *r)
{
	struct schedule_task *t = task_of(s, &r->other);
	u32 *place = place_on(s, r->cpu);

	if (t && place)
		*place = t - s->task + 1;
}

/* Ignores a waker that is known to be off its CPU, because some switch was not seen. */
static int add_wakeup(struct schedule *s, const struct switches_record *r)
{
	struct schedule_task *from = task_of(s, &r->other), *to;
	u32 from_index, to_index;

	if (!from)
		return -ENOMEM;
	from_index = from - s->task;
	to = task_of(s, &r->task);
	if (!to)
		return -ENOMEM;
	to_index = to - s->task;
	from = &s->task[from_index];
	if (from == to || (from->known && !from->on) || (to->waker && !to->early))
		return 0;
	if (ARRAY_ROOM(s->wake, s->nwakes) || ARRAY_ROOM(from->pending, from->npending))
		return -ENOMEM;
	s->wake[s->nwakes++] = (struct wake){ .from = from_index, .to = to_index };
	from->pending[from->npending++] = (struct pending){ r->time_ns, s->nwakes - 1 };
	to->waker = s->nwakes;
	to->early = to->known && to->on;
	to->early_ns = r->time_ns;
	return 0;
}

int schedule__take(struct schedule *s, const struct switches_record *r)
{
	bool switched = r->kind == SWITCHES_SWITCH || r->kind == SWITCHES_ARRIVAL;
	int err = 0;

	if (!s->begun)
		s->first_ns = s->last_ns = r->time_ns;
	s->begun = true;
	if (r->time_ns > s->last_ns)
		s->last_ns = r->time_ns;
	if (switched)
		err = note_hidden(s, r);
	if (!err && r->kind == SWITCHES_SWITCH && r->task.tid)
		err = leave(s, r);
	if (!err && switched && r->other.tid && !r->stranger) {
		err = come(s, r);
		if (!err)
			note_arrival(s, r);
	}
	if (r->kind == SWITCHES_WAKEUP && r->task.tid && r->other.tid)
		err = add_wakeup(s, r);
	return err;
}

int schedule__finish(struct schedule *s)
{
	int err = 0;
	size_t i;

	for (i = 0; i < s->ids.n && i < s->room && !err; i++) {
		struct schedule_task *t = &s->task[i];

		if (t->came_seen || t->npending)
			err = end_slice(s, t, NULL);
	}
	return err;
}

void schedule__free(struct schedule *s)
{
	size_t i;

	for (i = 0; i < s->room; i++) {
		free(s->task[i].step);
		free(s->task[i].pending);
	}
	free(s->task);
	free(s->wake);
	free(s->on_cpu);
	tasks__free(&s->ids);
	*s = (struct schedule){};
}
