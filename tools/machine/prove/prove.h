/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `tally doctor --prove`: runs each tool beside a load whose true figures are known. The load and the tool are child
 * processes, and the tool runs this same executable. Both are killed by pid in any case.
 */
#ifndef TALLY_PROVE_PROVE_H
#define TALLY_PROVE_PROVE_H

#include "machine/prove/compare.h"
#include "report/report.h"

struct prove_result {
	u32 number[PROVE_VERDICTS]; /* number of rows with each verdict */
	u32 left;		    /* checks that were skipped because of a signal */
};

/*
 * Runs all checks, and adds a row for each checked figure. A tool or a load that takes longer than deadline_ns is
 * killed. Returns 0 or a negative errno.
 */
int prove__run(struct report *r, struct prove_result *result, u64 deadline_ns);

#endif /* TALLY_PROVE_PROVE_H */
