/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities of this kernel and machine, tested by use wherever possible: the configuration is no
 * proof (fentry may be refused although it is built in).
 */
#ifndef TALLY_HOST_FEATURES_H
#define TALLY_HOST_FEATURES_H

#include "base/types.h"

enum feature_status {
	FEATURE_OK,
	FEATURE_MISSING,
	FEATURE_NOT_PERMITTED,  /* cannot be tested, or not used, with our rights */
	FEATURE_STATUSES,
};

struct feature {
	const char *name;
	/* Returns the status; may write findings to detail[FEATURE_DETAIL]. */
	enum feature_status (*probe)(char *detail);
	const char *lost;       /* what tools cannot do, or do differently, without it */
	const char *remedy;     /* how to get it */
};

#define FEATURE_DETAIL 128

extern const struct feature features[];
extern const size_t feature_count;

#define FEATURE_BREAKPOINTS "hardware breakpoints"
#define FEATURE_JIT "BPF JIT"
#define FEATURE_LOCKDOWN "lockdown"

/* Tests the feature of that name. FEATURE_MISSING for an unknown name. */
enum feature_status feature__probe(const char *name);

/* After a load that failed: prints a hint for each setting of this machine that makes kernels refuse programs. */
void features__hint_at_settings(void);

#define FEATURE_HINT 256

/* Writes the hint for the first such setting. Returns false if there is none. */
bool features__describe_setting(char text[FEATURE_HINT]);

/* Whether this kernel is known to allow no probes of its functions. False without the rights to test it. */
bool features__lack_functions(void);

const char *feature_status_name(enum feature_status status);

#endif /* TALLY_HOST_FEATURES_H */
