// SPDX-License-Identifier: BSD-2-Clause
/* bitesize: sizes of block requests. The measurement is bpf/disks/biolatency.bpf.c. */
#include "disks/hist.h"
#include "tools.h"

static void init(void *own)
{
	request_hist__init(own, REQUEST_SIZE, BY_OP);
}

static const struct tool_spec spec = {
	.name = "bitesize",
	.cli = {
		.groups = CLI_HISTOGRAM,
		.doc = "Sizes of disk requests, by operation (--by op).",
		.rows = request_size_rows,
		.own_parts = &request_own_parts,
	},
	REQUEST_HIST_SPEC,
	.init = init,
};

TOOL_MEASURING(bitesize, spec, AREA_DISKS, "sizes of disk requests");
