// SPDX-License-Identifier: BSD-2-Clause
#include "stack/callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "agg/variable.h"
#include "base/array.h"
#include "base/confined.h"
#include "report/diag.h"

/*
 * --- options -----------------------------------------------------------------------------------
 */

const struct option_row caller_rows[] = {
	HEADING("Stacks of single events:", HELP_STACKS),
	{ "stacks", 'g', NULL, ROW_FLAG, "Stack of the task: functions and their callers", HELP_STACKS,
	  FIELD(struct callers, wanted) },
	{ "kernel-stacks", 'K', NULL, ROW_FLAG, "with -g: kernel stacks", HELP_STACKS,
	  FIELD(struct callers, kernel) },
	{ "user-stacks", 'U', NULL, ROW_FLAG, "with -g: user stacks; with -K both", HELP_STACKS,
	  FIELD(struct callers, user) },
	{ "max-depth", 0, "N", ROW_COUNT, "with -g: the N innermost frames", HELP_STACKS,
	  FIELD(struct callers, most_frames), .least = 1, .most = STACK_MOST_DEPTH },
	{},
};

/* Walks at least STACK_DEPTH frames, since some of the innermost may be left out. */
int callers__check(struct callers *c)
{
	bool chosen = c->kernel || c->user;

	if (!c->wanted && (chosen || c->most_frames)) {
		diag_error("stack options need -g");
		return -EINVAL;
	}
	if (!c->wanted)
		return 0;
	c->stacks.kernel = c->kernel || !chosen;
	c->stacks.user = c->user || (!chosen && c->both);
	c->stacks.unwind = true;
	c->stacks.at_tracepoints = true;
	return stacks__set_depth(&c->stacks, c->most_frames > STACK_DEPTH ? c->most_frames : 0);
}

/*
 * --- the measurement ---------------------------------------------------------------------------
 */

int callers__prepare(struct callers *c, const struct measurement *m, struct bpf_object *obj)
{
	u32 take = (c->stacks.kernel ? STACK_KERNEL : 0) | (c->stacks.user ? STACK_USER : 0);

	return object_set(obj, "take", take) ?: stacks__prepare(&c->stacks, m, obj, NULL, 0);
}

int callers__begin(struct callers *c, struct measurement *m, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err = stacks__begin(&c->stacks, m);

	if (err)
		return err;
	stack_store__fill_stocks(&c->stacks.store);
	return epoll_ctl(c->stacks.watch_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* True for the innermost frames of every context switch, which perf leaves out, too. */
static bool is_every_switch(const struct report_frame *f)
{
	static const char *const names[] = {
		"__schedule", "schedule", "preempt_schedule", "preempt_schedule_common",
	};
	size_t i;

	for (i = 0; f->name && f->kind == FRAME_KERNEL && i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return false;
}

/* The innermost frame comes first in call stacks, but last in a path. */
static int add_path(struct callers *c, const struct stack_path *path)
{
	struct report_frame *frame = calloc(path->n ?: 1, sizeof(*frame));
	u32 n = path->n, i;
	int err;

	if (!frame)
		return -ENOMEM;
	while (c->at_switches && n > 1 && is_every_switch(&c->stacks.names.frame[path->frame[n - 1]]))
		n--;
	for (i = 0; i < n; i++)
		frame[i] = c->stacks.names.frame[path->frame[n - 1 - i]];
	err = call_stacks__add(&c->all, frame, n);
	free(frame);
	return err;
}

static int add_stack(struct callers *c, const struct stack_id *id)
{
	struct stack *stack = NULL;
	struct stack_path path = {};
	/* Side-band records of the stack's process may have arrived since the last poll. */
	int err = id->tgid ? stacks__watch(&c->stacks) : 0;

	if (!err && id->hash)
		err = stack_store__fetch(&c->stacks.store, id, &stack);
	if (!err)
		err = stack_names__resolve(&c->stacks.names, stack, c->stacks.kernel, &path);
	if (!err)
		err = add_path(c, &path);
	stack_path__free(&path);
	free(stack);
	return err;
}

static bool same_id(const void *array, u32 index, const void *key)
{
	return !memcmp(&((const struct stack_id *)array)[index], key, sizeof(struct stack_id));
}

int callers__number(struct callers *c, const struct stack_id *id, u32 *number, bool *is_new)
{
	u64 hash = table_hash(0, id, sizeof(*id));
	s64 known = table__find(&c->by_id, hash, same_id, c->id, id);
	size_t n = c->all.n;
	int err;

	*is_new = known < 0;
	*number = known + 1;
	if (known >= 0)
		return 0;
	if (ARRAY_ROOM(c->id, n))
		return -ENOMEM;
	err = add_stack(c, id);
	if (err)
		return err;
	c->id[n] = *id;
	*number = n + 1;
	if (!confined__interrupted())
		return table__add(&c->by_id, hash, n);
	c->interrupted = true;
	return 0;
}

bool callers__take_interrupted(struct callers *c)
{
	bool was = c->interrupted;

	c->interrupted = false;
	return was;
}

int callers__find(struct callers *c, const struct stack_id *id, bool is_last, const struct call_stack **stack)
{
	bool is_new;
	u32 number;
	int err;

	*stack = NULL;
	if (!c->wanted || !id->hash)
		return 0;
	err = callers__number(c, id, &number, &is_new);
	if (!err && callers__take_interrupted(c) && !is_last)
		err = -EINTR;
	if (!err)
		*stack = call_stacks__find(&c->all, number);
	return err;
}

void callers__free(struct callers *c)
{
	stacks__free(&c->stacks);
	call_stacks__free(&c->all);
	free(c->id);
	table__free(&c->by_id);
	*c = (struct callers){};
}
