/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel and machine can do, found out by trying wherever trying is possible: what a
 * configuration promises is not always allowed (fentry can be refused although it is built in).
 */
#ifndef TALLY_HOST_FEATURES_H
#define TALLY_HOST_FEATURES_H

#include "base/types.h"

enum feature_status {
	FEATURE_OK,
	FEATURE_MISSING,
	FEATURE_NOT_PERMITTED,  /* cannot be told, or not used, with the rights we have */
	FEATURE_STATUSES,
};

struct feature {
	const char *name;
	/* Returns the status; may write what was found to detail[FEATURE_DETAIL]. */
	enum feature_status (*probe)(char *detail);
	const char *lost;       /* without it: what tools can no longer do, or do how instead */
	const char *remedy;     /* what to do about it */
};

#define FEATURE_DETAIL 128

extern const struct feature features[];
extern const size_t feature_count;

/* Tries the feature of that name. FEATURE_MISSING for a name there is none of. */
enum feature_status feature__probe(const char *name);

const char *feature_status_name(enum feature_status status);

#endif /* TALLY_HOST_FEATURES_H */
