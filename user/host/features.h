/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities of this kernel and machine, tested by using them wherever possible: the configuration
 * is no proof (fentry may be rejected although it is built in).
 */
#ifndef TALLY_HOST_FEATURES_H
#define TALLY_HOST_FEATURES_H

#include "base/types.h"

enum feature_status {
	FEATURE_OK,
	FEATURE_MISSING,
	FEATURE_NOT_PERMITTED,  /* cannot be tested or used with our rights */
	FEATURE_STATUSES,
};

struct feature {
	const char *name;
	/* Returns the status; may write findings to detail[FEATURE_DETAIL]. */
	enum feature_status (*probe)(char *detail);
	const char *lost;       /* consequences for tools if it is missing */
	const char *remedy;     /* how to enable it */
};

#define FEATURE_DETAIL 128

extern const struct feature features[];
extern const size_t feature_count;

#define FEATURE_BREAKPOINTS "hardware breakpoints"
#define FEATURE_JIT "BPF JIT"
#define FEATURE_LOCKDOWN "lockdown"

/* Tests the feature with this name. Returns FEATURE_MISSING for an unknown name. */
enum feature_status feature__probe(const char *name);

/* Prints a hint for each setting of this machine that makes kernels reject programs. Call it after a failed load. */
void features__hint_at_settings(void);

#define FEATURE_HINT 256

/* Writes the hint for the first of these settings. Returns false if there is none. */
bool features__describe_setting(char text[FEATURE_HINT]);

/* Whether this kernel is known not to support probes of its functions. False without the rights to test it. */
bool features__lack_functions(void);

const char *feature_status_name(enum feature_status status);

#endif /* TALLY_HOST_FEATURES_H */
