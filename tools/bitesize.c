// SPDX-License-Identifier: BSD-2-Clause
/* bitesize: how large block requests are. The measurement is bpf/biolatency.bpf.c. */
#include "block/hist.h"
#include "tools.h"

static int bitesize(int argc, char **argv)
{
	static const struct request_hist_tool tool = {
		.name = "bitesize",
		.doc = "How large the requests to disks are, by what they do (--by op).",
		.value = REQUEST_SIZE,
		.by = BY_OP,
	};

	return request_hist__main(&tool, argc, argv);
}

TOOL(bitesize, AREA_DISKS, "how large requests to disks are");
