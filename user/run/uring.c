// SPDX-License-Identifier: BSD-2-Clause
#include "run/uring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agg/variable.h"
#include "base/array.h"
#include "types/kernel_btf.h"

#define TRACEPOINT "tp_btf/"

static int arguments_of(const char *tracepoint)
{
	char name[64];

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	return kernel_btf_arguments(name);
}

/* The numbers include the first argument of the tracepoint, its data. */
static int find_layout(struct uring_layout *layout)
{
	int completed = arguments_of("io_uring_complete"), entry = arguments_of("io_uring_submit_sqe");
	int queued = arguments_of("io_uring_queue_async_work"), polled = arguments_of("io_uring_poll_arm");
	int refused = arguments_of("io_uring_req_failed");

	if (completed < 0)
		return arguments_of("sched_switch") < 0 ? -ENODATA : -ENOENT;
	*layout = (struct uring_layout){
		.old_submit = entry >= 0,
		.submitted = entry > 3,
		.queued = queued == 6 ? 2 : queued > 3,
		.polled = polled > 4,
		/* 5.17 passes only the entry and the error. */
		.refused = refused == 5 ? 2 : refused == 4,
		.completed = completed > 5  ? URING_WITH_REQUEST :
			     completed == 5 ? URING_WITHOUT_REQUEST :
					      URING_WITH_CQE,
	};
	/* 5.10.162 took io_uring of 5.15; before, no tracepoint of a submission named the request. */
	return (layout->old_submit && (entry == 6 || completed < 5)) || polled == 6 ? -EOPNOTSUPP : 0;
}

static bool has(const char *tracepoint, const struct uring_layout *layout)
{
	if (!strcmp(tracepoint, "io_uring_submit_sqe"))
		return layout->old_submit;
	if (!strcmp(tracepoint, "io_uring_submit_req"))
		return !layout->old_submit;
	if (!strcmp(tracepoint, "io_uring_req_failed"))
		return layout->refused;
	return arguments_of(tracepoint) >= 0;
}

int uring__prepare(struct bpf_object *obj, struct uring_layout *layout)
{
	static const char prefix[] = TRACEPOINT "io_uring_";
	struct bpf_program *program;
	const char *section;
	int err = find_layout(layout);

	bpf_object__for_each_program(program, obj)
	{
		section = bpf_program__section_name(program);
		section += *section == '?';
		if (!strncmp(section, prefix, sizeof(prefix) - 1))
			bpf_program__set_autoload(program, err == -ENODATA ||
								   (!err && has(section + strlen(TRACEPOINT), layout)));
	}
	return err ?: object_set(obj, "layout", *layout);
}
