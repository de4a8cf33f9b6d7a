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
		.doc = "Latency of disk requests: in the device, in the queue, or both.",
		.rows = request_time_rows,
		.own_parts = &request_own_parts,
	},
	REQUEST_HIST_SPEC,
	.init = init,
};

TOOL_MEASURING(biolatency, spec, AREA_DISKS, "latency of disk requests");
