// SPDX-License-Identifier: BSD-2-Clause
/* runqlat: how long tasks wait for a CPU. The measurement is bpf/sched/runqlat.bpf.c. */
#include "sched/waits.h"
#include "tools.h"

#include "bpf/sched/runqlat.h"
#include "runqlat.skel.h"

SKELETON(runqlat);

static const struct tool_spec spec = {
	.name = "runqlat",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long tasks wait for a CPU: from becoming runnable to being switched "
		       "in.",
		.rows = wait_source_rows,
	},
	.skeleton = &runqlat_skeleton,
	.hist = { "waits", sizeof(struct runqlat_key) },
	.value = "wait for a CPU",
	.metric = "wait",
	.unit = UNIT_NS,
	WAITS_HOOKS,
};

TOOL_MEASURING(runqlat, spec, AREA_SCHEDULER, "how long tasks wait for a CPU");
