// SPDX-License-Identifier: BSD-2-Clause
#include "sched/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char first_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char second_letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz";

#define NFIRST (sizeof(first_letters) - 1)
#define NSECOND (sizeof(second_letters) - 1)

/* Fibonacci hashing: the high bits of the product depend on all bits of the ids. */
static size_t home(const struct tasks *t, u32 pid, u32 tid)
{
	u64 key = ((u64)pid << 32 | tid) * 0x9e3779b97f4a7c15ULL;

	return (key >> 32) & (t->nslots - 1);
}

static u32 *find(const struct tasks *t, u32 pid, u32 tid)
{
	size_t i = home(t, pid, tid);
	const struct task_totals *task;

	for (; t->slot[i]; i = (i + 1) & (t->nslots - 1)) {
		task = &t->task[t->slot[i] - 1];
		if (task->pid == pid && task->tid == tid)
			break;
	}
	return &t->slot[i];
}

/* Makes space for one more task. There are at least twice as many slots as tasks. */
static int grow(struct tasks *t)
{
	size_t i;

	if (t->n < t->room)
		return 0;
	if (t->room > UINT32_MAX / 8 || ARRAY_RESERVE(t->task, t->room, t->n + 1))
		return -ENOMEM;
	free(t->slot);
	t->slot = calloc(2 * t->room, sizeof(*t->slot));
	if (!t->slot) {
		tasks__free(t);
		return -ENOMEM;
	}
	t->nslots = 2 * t->room;
	for (i = 0; i < t->n; i++)
		*find(t, t->task[i].pid, t->task[i].tid) = i + 1;
	return 0;
}

struct task_totals *tasks__get(struct tasks *t, const struct switches_task *which)
{
	struct task_totals *task;
	u32 *slot;

	if (grow(t))
		return NULL;
	slot = find(t, which->pid, which->tid);
	if (!*slot) {
		t->task[t->n] = (struct task_totals){ .pid = which->pid, .tid = which->tid };
		*slot = ++t->n;
	}
	task = &t->task[*slot - 1];
	memcpy(task->comm, which->comm, sizeof(which->comm));
	return task;
}

static void add_slice(struct task_totals *task, const struct switches_record *r)
{
	task->slices++;
	if (r->run_ns != SWITCHES_UNKNOWN) {
		if (!task->timed++ || r->run_ns < task->run_min_ns)
			task->run_min_ns = r->run_ns;
		if (r->run_ns > task->run_max_ns)
			task->run_max_ns = r->run_ns;
		task->run_ns += r->run_ns;
	}
	if (r->wait_ns != SWITCHES_UNKNOWN) {
		task->waits++;
		task->wait_ns += r->wait_ns;
		if (r->wait_ns > task->wait_max_ns)
			task->wait_max_ns = r->wait_ns;
	}
}

int tasks__add(struct tasks *t, const struct switches_record *r)
{
	struct task_totals *task;

	if (r->kind != SWITCHES_SWITCH && r->kind != SWITCHES_MIGRATION)
		return 0;
	task = tasks__get(t, &r->task);
	if (!task)
		return -ENOMEM;
	if (r->kind == SWITCHES_SWITCH)
		add_slice(task, r);
	else
		task->migrations++;
	return 0;
}

static void take_code_away(struct tasks *t, const char *code)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->task[i].code, code))
			t->task[i].code[0] = 0;
}

bool tasks__give_code(struct tasks *t, struct task_totals *task)
{
	char code[TASK_CODE_SPACE] = "";
	u32 number = t->ncodes % (NFIRST * NSECOND);

	if (task->code[0])
		return false;
	/* A0 B0 ... Z0 A1: consecutive codes differ clearly. */
	code[0] = first_letters[number % NFIRST];
	code[1] = second_letters[number / NFIRST];
	if (t->ncodes >= NFIRST * NSECOND)
		take_code_away(t, code);
	t->ncodes++;
	memcpy(task->code, code, sizeof(code));
	return true;
}

void tasks__free(struct tasks *t)
{
	free(t->task);
	free(t->slot);
	*t = (struct tasks){};
}
