// SPDX-License-Identifier: BSD-2-Clause
#include "sched/callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "agg/variable.h"

/* As bpf/lib/stack.bpf.h has them. */
#define TAKE_KERNEL 0x100
#define TAKE_USER 0x200

/* So many frames are walked in any case: some of the innermost say nothing and are left out. */
int callers__check(struct callers *c)
{
	c->stacks.kernel = c->kernel || !c->user;
	c->stacks.user = c->user;
	c->stacks.at_tracepoints = true;
	return stacks__set_depth(&c->stacks, c->most_frames > STACK_DEPTH ? c->most_frames : 0);
}

int callers__prepare(struct callers *c, const struct measurement *m, struct bpf_object *obj)
{
	u32 take = (c->stacks.kernel ? TAKE_KERNEL : 0) | (c->stacks.user ? TAKE_USER : 0);

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

/* What every switch has innermost, whatever led to it; perf leaves it out, too. */
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

/* The innermost frames first, where a path has them last. */
static int add_path(struct callers *c, const struct stack_path *path)
{
	struct report_frame *frame = calloc(path->n ?: 1, sizeof(*frame));
	u32 n = path->n, i;
	int err;

	if (!frame)
		return -ENOMEM;
	while (n > 1 && is_every_switch(&c->stacks.names.frame[path->frame[n - 1]]))
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
	/* Its process may have been told of since the last look. */
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
	struct stack_id *larger;
	int err;

	*is_new = known < 0;
	*number = known + 1;
	if (known >= 0)
		return 0;
	if (!(n & (n - 1))) {
		larger = realloc(c->id, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		c->id = larger;
	}
	err = add_stack(c, id);
	if (err)
		return err;
	c->id[n] = *id;
	*number = n + 1;
	return table__add(&c->by_id, hash, n);
}

void callers__free(struct callers *c)
{
	stacks__free(&c->stacks);
	call_stacks__free(&c->all);
	free(c->id);
	table__free(&c->by_id);
	*c = (struct callers){};
}
