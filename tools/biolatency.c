// SPDX-License-Identifier: BSD-2-Clause
/* biolatency: how long block requests take. The measurement is bpf/biolatency.bpf.c. */
#include "block/hist.h"
#include "tools.h"

static int biolatency(int argc, char **argv)
{
	static const struct request_hist_tool tool = {
		.name = "biolatency",
		.doc = "How long disks take for requests, and how long requests wait for them.",
		.value = REQUEST_DEVICE_TIME,
	};

	return request_hist__main(&tool, argc, argv);
}

TOOL(biolatency, AREA_DISKS, "how long disks take for requests");
