// SPDX-License-Identifier: BSD-2-Clause
/* biolatency: times of block requests. The measurement is bpf/disks/biolatency.bpf.c. */
#include "disks/hist.h"
#include "tools.h"

static void init(void *own)
{
	request_hist__init(own, REQUEST_DEVICE_TIME, 0);
}

static const struct tool_spec spec = {
	.name = "biolatency",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long disks take for requests, and how long requests wait for them.",
		.rows = request_time_rows,
		.own_parts = &request_own_parts,
	},
	REQUEST_HIST_SPEC,
	.init = init,
};

TOOL_MEASURING(biolatency, spec, AREA_DISKS, "how long disks take for requests");
