/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of `tally doctor --prove`: a tool, a load, and how what the tool said compares with what is true. */
#ifndef TALLY_PROVE_CHECK_H
#define TALLY_PROVE_CHECK_H

#include <jansson.h>

#include "machine/prove/books.h"
#include "machine/prove/compare.h"
#include "machine/prove/load.h"

#define PROVE_MOST_CLAIMS 3

/* All that is known after a check has run. */
struct prove_evidence {
	json_t *report;		  /* the tool's last, with --json */
	json_t *lines;		  /* array of its lines of single events */
	struct prove_books books; /* of the load, while the tool measured */
	struct prove_truth truth;
	u64 n;
	struct prove_claim claim[PROVE_MOST_CLAIMS];
	size_t nclaims;
};

struct prove_check {
	const char *name;
	const char *tool;
	const char *const *arguments; /* ends with NULL; -p PID, --json and others follow */
	const char *needs[2];	      /* features (host/features.h), one of which is enough; or NULL */
	u64 n;
	void (*load)(struct prove_load *l);
	void (*judge)(struct prove_evidence *e);
};

extern const struct prove_check prove_checks[];
extern const size_t prove_check_count;

/*
 * Takes apart what a tool wrote, and judges it: the claims, and in *ns_per_run the mean time of a run of its programs,
 * 0 if unknown. The caller has set books, truth and n. Returns 0, -EINVAL if it is no report, or -ENOMEM.
 */
int prove_check__judge(const struct prove_check *check, struct prove_evidence *e, const char *text, size_t size,
		       double *ns_per_run);
void prove_evidence__free(struct prove_evidence *e);

#endif /* TALLY_PROVE_CHECK_H */
