// SPDX-License-Identifier: BSD-2-Clause
#include "calls/snap/user_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/opener.h"
#include "base/process_thread.h"

/*
 * --- memory ------------------------------------------------------------------------------------
 */

static bool is_silent(const struct snap_user_stacks *u, u32 pid)
{
	size_t i;

	for (i = 0; i < u->nsilent; i++)
		if (u->silent[i] == pid)
			return true;
	return u->nsilent == SNAP_MOST_SILENT;
}

static ssize_t read_stack(void *arg, u64 address, void *to, size_t size)
{
	struct snap_user_stacks *u = arg;
	char path[32];
	ssize_t n;

	if (u->bytes > SNAP_MOST_BYTES || monotonic_ns() > u->end_ns || is_silent(u, u->pid))
		return -ETIME;
	snprintf(path, sizeof(path), "/proc/%u/mem", u->thread);
	n = opener__read_path(path, address, to, size);
	u->bytes += n > 0 ? n : 0;
	if (n < 0 && opener__is_unanswered(n) && u->nsilent < SNAP_MOST_SILENT) {
		u->silent[u->nsilent++] = u->pid;
		u->silent_until_ns = monotonic_ns() + OPENER_REST_NS;
	}
	return n;
}

/*
 * --- processes ---------------------------------------------------------------------------------
 */

static int see(struct snap *s, u32 pid)
{
	int err;

	if (s->stacks.unwind)
		err = unwinder__see(&s->stacks.unwinder, pid);
	else
		err = symbols__see_again(s->stacks.names.symbols, pid, false);
	if (err != -ENOMEM)
		err = python__see(&s->stacks.interpreters, pid);
	return err == -ENOMEM ? err : 0;
}

/* Tables of this many files are read while further processes are examined. The queue has room for more. */
#define FILES_AT_ONCE 64

/* The threads of a process are adjacent. */
static int see_processes(struct snap *s)
{
	struct unwinder *unwinder = &s->stacks.unwinder;
	u64 end_ns = monotonic_ns() + SNAP_TABLES_NS;
	const struct snap_thread *t;
	size_t at = 0;
	u32 pid = 0;
	int err = 0;

	while (!err && (t = snap_pass__next(&s->pass, &at))) {
		if (!t->regs.ip || t->relations.seen_pid == pid)
			continue;
		pid = t->relations.seen_pid;
		err = pid ? see(s, pid) : 0;
		if (!err && s->stacks.unwind && unwinder->wanted.n > FILES_AT_ONCE)
			err = unwinder__finish(unwinder, end_ns);
	}
	return err ?: s->stacks.unwind ? unwinder__finish(unwinder, end_ns) : 0;
}

/*
 * --- stacks ------------------------------------------------------------------------------------
 */

void snap_kernel_stack(const struct snap *s, const struct snap_thread *t, struct stack *to)
{
	u32 n = t->frames < SNAP_FRAMES ? t->frames : SNAP_FRAMES;

	*to = (struct stack){ .kernel = n < s->stacks.depth ? n : s->stacks.depth };
	to->kernel_end = n > s->stacks.depth || n == SNAP_FRAMES ? STACK_DEEPER : STACK_WALKED;
	if (s->stacks.hides_callers)
		to->kernel_end = STACK_WALKED;
	memcpy(to->frame, t + 1, to->kernel * sizeof(u64));
}

/* The process may have started, or called exec, since processes were examined. */
static int begin_process(struct snap *s, u32 pid)
{
	struct snap_user_stacks *u = s->user_stacks;

	if (u->pid == pid)
		return 0;
	u->pid = pid;
	u->thread = process_thread(pid);
	if (u->python)
		python_walker__forget(u->python);
	return see(s, pid);
}

/* The time limit counts here, too: most of the memory may be in pages that the walker has kept. */
static void walk_python(struct snap *s, const struct snap_thread *t, struct stack *to)
{
	struct snap_user_stacks *u = s->user_stacks;

	if (!u->python || !python__process(&s->stacks.interpreters))
		return;
	if (monotonic_ns() > u->end_ns)
		to->python_end = PYTHON_UNREADABLE;
	else
		python_walker__walk(u->python, t->pthread, u->sp, s->stacks.depth, to);
}

static void walk(struct snap *s, struct snap_stack *of)
{
	struct snap_user_stacks *u = s->user_stacks;
	struct stack *to = u->room;

	to->pid = u->pid;
	to->first_ns = monotonic_ns();
	unwind_walker__walk(u->walker, u->pid, &of->thread->regs, s->stacks.depth, to);
	if (s->stacks.hides_callers)
		to->user_end = STACK_ROOT;
	walk_python(s, of->thread, to);
	of->is_unread = u->walker->is_unread;
	of->is_open = true;
}

static size_t size_of(const struct stack *stack)
{
	return sizeof(*stack) + (stack->kernel + stack->user + stack->python) * sizeof(*stack->frame);
}

/* Threads that are on a CPU or have ended have no stack. */
static int take_stack(struct snap *s, struct snap_stack *of)
{
	struct stack *room = s->user_stacks->room;
	int err = 0;

	free(of->stack);
	of->stack = NULL;
	of->is_open = of->is_unread = false;
	if (of->thread->place == SNAP_ON_CPU || of->thread->place == SNAP_ENDED)
		return 0;
	snap_kernel_stack(s, of->thread, room);
	if (of->thread->regs.ip && of->moment.pid) {
		err = begin_process(s, of->moment.pid);
		walk(s, of);
	}
	of->stack = err ? NULL : malloc(size_of(room));
	if (!of->stack)
		return -ENOMEM;
	memcpy(of->stack, room, size_of(room));
	return 0;
}

/*
 * --- threads -----------------------------------------------------------------------------------
 */

static struct snap_moment moment_of(const struct snap_thread *t)
{
	return (struct snap_moment){
		.tid = t->task.tid,
		.pid = t->relations.seen_pid,
		.began = t->relations.began,
		.switches = t->relations.switches,
		.ip = t->regs.ip,
		.sp = t->regs.sp,
	};
}

static int by_tid(const void *a, const void *b)
{
	const struct snap_stack *x = a, *y = b;

	return x->moment.tid < y->moment.tid ? -1 : x->moment.tid > y->moment.tid;
}

static struct snap_stack *find(struct snap_stack *item, size_t n, u32 tid)
{
	const struct snap_stack key = { .moment.tid = tid };

	return n ? bsearch(&key, item, n, sizeof(*item), by_tid) : NULL;
}

/* Whether this is the same thread and it has not run since then. */
static bool has_stayed(const struct snap_stack *s, const struct snap_thread *t)
{
	struct snap_moment now = moment_of(t);

	return t->place != SNAP_ON_CPU && t->place != SNAP_ENDED && !memcmp(&now, &s->moment, sizeof(now));
}

static size_t count(const struct snap_pass *p)
{
	size_t at = 0, n = 0;

	while (snap_pass__next(p, &at))
		n++;
	return n;
}

static void free_items(struct snap_stack *item, size_t n)
{
	while (n--)
		free(item[n].stack);
	free(item);
}

static bool is_known(const struct snap_stack *s)
{
	return s && s->stack && !s->is_unread && s->stack->user_end != STACK_RAN &&
	       s->stack->python_end != PYTHON_UNREADABLE;
}

/* The stack of a thread that has not run since the last picture is known, unless it could not be read. */
static int begin_item(struct snap *s, struct snap_stack *to, const struct snap_thread *t, struct snap_stack *known)
{
	*to = (struct snap_stack){ .moment = moment_of(t), .thread = t };
	if (!is_known(known) || !has_stayed(known, t))
		return take_stack(s, to);
	to->stack = known->stack;
	known->stack = NULL;
	return 0;
}

static int begin_items(struct snap *s)
{
	struct snap_user_stacks *u = s->user_stacks;
	size_t room = count(&s->pass), nknown = u->n, at = 0;
	struct snap_stack *known = u->item;
	const struct snap_thread *t;
	int err = 0;

	u->n = 0;
	u->item = calloc(room ?: 1, sizeof(*u->item));
	if (!u->item)
		err = -ENOMEM;
	while (!err && u->n < room && (t = snap_pass__next(&s->pass, &at)))
		err = begin_item(s, &u->item[u->n++], t, find(known, nknown, t->task.tid));
	free_items(known, nknown);
	if (u->n)
		qsort(u->item, u->n, sizeof(*u->item), by_tid);
	return err;
}

static bool is_any_open(const struct snap_user_stacks *u)
{
	size_t i;

	for (i = 0; i < u->n; i++)
		if (u->item[i].is_open)
			return true;
	return false;
}

/* The kernel's part was taken at one moment, and stays. */
static void lose_user_part(struct snap_stack *of)
{
	of->stack->user = of->stack->python = 0;
	of->stack->user_end = STACK_RAN;
	of->stack->python_end = PYTHON_NONE;
	of->stack->guessed = 0;
	of->is_open = of->is_unread = false;
}

/* Threads that are open and in this pass were processed before. A thread that stays open has run or ended. */
static int look_again(struct snap *s, struct snap_pass *pass, bool is_last)
{
	struct snap_user_stacks *u = s->user_stacks;
	const struct snap_thread *t;
	struct snap_stack *of;
	size_t at = 0;
	int err = 0;

	if (u->python)
		python_walker__forget(u->python);
	while (!err && (t = snap_pass__next(pass, &at))) {
		of = find(u->item, u->n, t->task.tid);
		if (!of || !of->is_open)
			continue;
		of->is_open = !has_stayed(of, t);
		if (!of->is_open || is_last || t->relations.began != of->moment.began)
			continue;
		of->thread = t;
		of->moment = moment_of(t);
		err = take_stack(s, of);
	}
	return err;
}

static void sum_up(const struct snap *s)
{
	struct snap_user_stacks *u = s->user_stacks;
	struct snap_stack *of;

	u->ran = u->unread = u->foreign = 0;
	for (of = u->item; of < u->item + u->n; of++) {
		if (of->is_open && of->stack)
			lose_user_part(of);
		if (!of->stack)
			continue;
		u->ran += of->stack->user_end == STACK_RAN;
		u->unread += of->is_unread;
		u->foreign += s->stacks.user && !of->thread->regs.ip && of->thread->place != SNAP_KERNEL_THREAD;
	}
}

static int run_pass(struct snap *s, struct snap_pass *pass)
{
	return snap_pass__run(pass, bpf_link__fd(s->link), s->user_stacks->clock_ahead);
}

/*
 * Processes are examined first, so that threads have little time to run between the pass and the reading of their
 * stacks.
 */
static int begin_pass(struct snap *s)
{
	return s->stacks.user ? see_processes(s) ?: run_pass(s, &s->pass) : 0;
}

int snap_user_stacks__take(struct snap *s)
{
	struct snap_user_stacks *u = s->user_stacks;
	int err = begin_pass(s);
	u32 i;

	u->pid = u->bytes = 0;
	u->end_ns = monotonic_ns() + SNAP_READ_NS;
	if (monotonic_ns() > u->silent_until_ns)
		u->nsilent = 0;
	if (!err)
		err = begin_items(s);
	for (i = 0; i < SNAP_LOOKS - 1 && !err && is_any_open(u); i++) {
		err = run_pass(s, &u->again[i]);
		if (!err)
			err = look_again(s, &u->again[i], i == SNAP_LOOKS - 2);
	}
	sum_up(s);
	return err;
}

/*
 * --- all of it ---------------------------------------------------------------------------------
 */

static bool is_about_all(const struct scope_options *scope)
{
	return scope->all || (!scope->npids && !scope->ntids && !scope->command_pid);
}

static int begin_python(struct snap *s, struct snap_user_stacks *u)
{
	if (!s->stacks.python)
		return 0;
	u->walker->sp = u->sp = malloc(s->stacks.depth * sizeof(*u->sp));
	if (!u->sp)
		return -ENOMEM;
	python__begin_apart(&s->stacks.interpreters, s->stacks.names.symbols);
	return python_walker__new(&u->python, &s->stacks.interpreters, read_stack, u);
}

int snap_user_stacks__begin(struct snap *s, struct measurement *m, const struct bpf_object *obj,
			    volatile s64 *clock_ahead)
{
	struct snap_user_stacks *u = s->user_stacks = calloc(1, sizeof(*u));
	struct unwinder *unwinder = s->stacks.unwind ? &s->stacks.unwinder : NULL;
	int err;

	if (!u)
		return -ENOMEM;
	u->clock_ahead = clock_ahead;
	u->room = malloc(sizeof(*u->room) + (SNAP_FRAMES + 2 * s->stacks.depth) * sizeof(u64));
	if (!u->room)
		return -ENOMEM;
	err = unwind_walker__new(&u->walker, unwinder, read_stack, u) ?: begin_python(s, u);
	if (err || !unwinder)
		return err;
	err = unwinder__begin(unwinder, obj, s->stacks.names.symbols);
	unwinder->tables.shares = is_about_all(&m->cli->scope);
	return err;
}

void snap_user_stacks__free(struct snap_user_stacks *u)
{
	u32 i;

	if (!u)
		return;
	for (i = 0; i < SNAP_LOOKS - 1; i++)
		snap_pass__free(&u->again[i]);
	free_items(u->item, u->n);
	unwind_walker__free(u->walker);
	python_walker__free(u->python);
	free(u->sp);
	free(u->room);
	free(u);
}
