// SPDX-License-Identifier: BSD-2-Clause
#include "event/attach_way.h"

#include <stdio.h>
#include <string.h>

const char *attach_way_name(enum attach_way way)
{
	static const char *const names[ATTACH_WAYS] = {
		[ATTACH_SYSCALL] = "raw tracepoints sys_enter, sys_exit",
		[ATTACH_RAW_TRACEPOINT] = "raw tracepoint",
		[ATTACH_TRACEPOINT] = "perf tracepoint",
		[ATTACH_FENTRY] = "fentry",
		[ATTACH_FEXIT] = "fexit",
		[ATTACH_KPROBE_MULTI] = "kprobe.multi",
		[ATTACH_KPROBE] = "kprobe",
		[ATTACH_UPROBE_MULTI] = "uprobe.multi",
		[ATTACH_UPROBE] = "uprobe",
	};

	return names[way];
}

bool tracepoint_has_task(const char *name)
{
	static const char *const names[] = {
		"sched:sched_wakeup", "sched:sched_wakeup_new", "sched:sched_waking",
		"sched:sched_migrate_task", "sched:sched_process_free", "sched:sched_stat_wait",
		"sched:sched_stat_sleep", "sched:sched_stat_iowait", "sched:sched_stat_blocked",
		"sched:sched_stat_runtime", "sched:sched_pi_setprio", "sched:sched_wait_task",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
const char *attach_function_name(const struct event_site *s, char *name, size_t size)
{
	const char *from = s->name, *colon = strchr(s->name, ':');

	if (colon)
		from = colon + 1;
	snprintf(name, size, "%.*s", (int)strcspn(from, "%+"), from);
	return name;
}
