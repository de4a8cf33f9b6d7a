/* SPDX-License-Identifier: BSD-2-Clause */
/* biolatency and bitesize: what bpf/biolatency.bpf.c measures of block requests, as histograms. */
#ifndef TALLY_BLOCK_HIST_H
#define TALLY_BLOCK_HIST_H

#include "block/requests.h"
#include "run/measure.h"
#include "run/measurement.h"

#include "bpf/request.h"

struct request_hist {
	/* Set by init(). */
	enum request_value value;       /* of sizes there is one; of times the one without --of */
	u32 by;                         /* where --by says nothing */

	struct requests requests;
	struct biolatency_bpf *bpf;
	struct measure measure;
};

/* The options of times and of sizes, and the hooks of both tools; m->own is the struct request_hist. */
extern const struct argp request_times_argp, request_sizes_argp;

void request_hist__init(struct request_hist *h, enum request_value value, u32 by);
int request_hist__check(void *own, struct cli *cli);
int request_hist__open(struct measurement *m);
int request_hist__attach(struct measurement *m);
int request_hist__report(struct measurement *m, struct report *r);
void request_hist__free(void *own);

#define REQUEST_HIST_SPEC                                                                          \
	.own_size = sizeof(struct request_hist), .check = request_hist__check,                     \
	.open = request_hist__open, .attach = request_hist__attach,                                \
	.report = request_hist__report, .free = request_hist__free

#endif /* TALLY_BLOCK_HIST_H */
