// SPDX-License-Identifier: BSD-2-Clause
#include "cli/key_view.h"

#include "host/cgroup_names.h"

bool key_view__merges(const struct key_view *view)
{
	return view->by & (BY_CONTAINER | BY_UNIT) && !(view->by & BY_CGROUP_PATH);
}

static u32 parts_of(u32 by)
{
	return (by & BY_CONTAINER ? CGROUP_CONTAINER : 0) | (by & BY_UNIT ? CGROUP_UNIT : 0);
}

void key_view__change(void *context, void *key)
{
	const struct key_view *view = context;
	struct task_key *task = (struct task_key *)((char *)key + view->at);

	if (key_view__merges(view) && !view->names->err)
		view->names->err = cgroup_names__first(view->names->cgroups, task->cgroup, parts_of(view->by),
						       &task->cgroup);
}

int key_view__hist_set(const struct key_view *view, struct hist_set *set)
{
	int err = key_view__merges(view) ? hist_set__regroup(set, key_view__change, (void *)view) : 0;

	return err ?: view->names->err;
}

void key_view__sum_set(const struct key_view *view, struct sum_set *set)
{
	if (key_view__merges(view))
		sum_set__regroup(set, key_view__change, (void *)view);
}
