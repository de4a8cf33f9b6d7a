/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of `tally doctor --prove`: a tool, a load, and a comparison of the tool's figures with the truth. */
#ifndef TALLY_PROVE_CHECK_H
#define TALLY_PROVE_CHECK_H

#include <jansson.h>

#include "machine/prove/books.h"
#include "machine/prove/compare.h"
#include "machine/prove/load.h"

#define PROVE_MOST_CLAIMS 3

/* Everything that is known after a check has run. */
struct prove_evidence {
	json_t *report;		  /* the tool's last report, with --json */
	json_t *lines;		  /* array of the tool's lines for single events */
	struct prove_books books; /* accounting of the load while the tool measured */
	struct prove_truth truth;
	u64 n;
	struct prove_claim claim[PROVE_MOST_CLAIMS];
	size_t nclaims;
};

struct prove_check {
	const char *name;
	const char *tool;
	const char *const *arguments; /* terminated by NULL; -p PID, --json and others are appended */
	const char *needs[2];	      /* features (host/features.h), one of which is enough; or NULL */
	u64 n;
	void (*load)(struct prove_load *l);
	void (*judge)(struct prove_evidence *e);
};

extern const struct prove_check prove_checks[];
extern const size_t prove_check_count;

/*
 * Parses the output of a tool, and judges it. Fills in the claims, and sets *ns_per_run to the mean run time of its
 * programs, or 0 if that is unknown. The caller has set books, truth and n. Returns 0, -EINVAL if the output is no
 * report, or -ENOMEM.
 */
int prove_check__judge(const struct prove_check *check, struct prove_evidence *e, const char *text, size_t size,
		       double *ns_per_run);
void prove_evidence__free(struct prove_evidence *e);

#endif /* TALLY_PROVE_CHECK_H */
