/* SPDX-License-Identifier: BSD-2-Clause */
/* biolatency and bitesize: what bpf/biolatency.bpf.c measures of block requests, as histograms. */
#ifndef TALLY_BLOCK_HIST_H
#define TALLY_BLOCK_HIST_H

#include "cli/options.h"

#include "bpf/request.h"

struct request_hist_tool {
	const char *name;
	const char *doc;                /* first line of --help */
	enum request_value value;       /* of sizes there is one; of times the one without --of */
	u32 by;                         /* where --by says nothing */
};

/* A tool's main(). */
int request_hist__main(const struct request_hist_tool *tool, int argc, char **argv);

#endif /* TALLY_BLOCK_HIST_H */
