/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `tally doctor --prove`: each tool beside a load whose truth is known. The load is a child of this process, the tool
 * another, this very program. Both are ended by their pids, whatever happens.
 */
#ifndef TALLY_PROVE_PROVE_H
#define TALLY_PROVE_PROVE_H

#include "machine/prove/compare.h"
#include "report/report.h"

struct prove_result {
	u32 number[PROVE_VERDICTS]; /* rows with that verdict */
	u32 left;		    /* checks that were not made: a signal came */
};

/*
 * Makes all checks and adds a row for each thing checked. A tool or a load may take deadline_ns, then it is killed.
 * Returns 0 or a negative errno.
 */
int prove__run(struct report *r, struct prove_result *result, u64 deadline_ns);

#endif /* TALLY_PROVE_PROVE_H */
