/* SPDX-License-Identifier: BSD-2-Clause */
/* biolatency and bitesize: values of block requests (bpf/disks/biolatency.bpf.c) as histograms. */
#ifndef TALLY_BLOCK_HIST_H
#define TALLY_BLOCK_HIST_H

#include "disks/requests.h"
#include "run/measure.h"
#include "run/measurement.h"

#include "bpf/disks/request.h"

struct request_hist {
	/* Set by init(). */
	enum request_value value;       /* the only value of bitesize, or the default of --of for times */
	u32 by;                         /* default of --by */

	struct requests requests;
};

/*
 * The options of biolatency and bitesize, and the hooks of both tools; m->own is the struct
 * request_hist.
 */
extern const struct option_row request_time_rows[], request_size_rows[];
extern const struct skeleton_type biolatency_skeleton;

void request_hist__init(struct request_hist *h, enum request_value value, u32 by);
int request_hist__check(void *own, struct cli *cli);
int request_hist__open(struct measurement *m);
int request_hist__attach(struct measurement *m);
int request_hist__report(struct measurement *m, struct report *r);

#define REQUEST_HIST_SPEC                                                                          \
	.skeleton = &biolatency_skeleton, .hist = { "values", sizeof(struct request_hist_key) },   \
	.own_size = sizeof(struct request_hist), .check = request_hist__check,                     \
	.open = request_hist__open, .attach = request_hist__attach,                                \
	.report = request_hist__report

#endif /* TALLY_BLOCK_HIST_H */
