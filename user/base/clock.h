/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of bpf_ktime_get_ns(). */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H

#include <time.h>

#include "base/types.h"

static inline u64 monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif /* TALLY_BASE_CLOCK_H */
