// SPDX-License-Identifier: BSD-2-Clause
#include "base/clock.h"

#include <stdio.h>

/* CLOCK_MONOTONIC of this process's time namespace minus that of the host. Constant. */
static s64 namespace_ns;
static u64 began;

/*
 * Reads the offset of the time namespace. The first line of the file is "monotonic SECONDS NANOSECONDS"; kernels before
 * 5.6 do not have the file.
 */
static void read_namespace(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;

	if (!f)
		return;
	if (fscanf(f, "monotonic %lld %lld", &seconds, &ns) == 2)
		namespace_ns = seconds * (s64)NSEC_PER_SEC + ns;
	fclose(f);
}

__attribute__((constructor)) static void begin(void)
{
	read_namespace();
	began = monotonic_ns();
}

u64 began_ns(void)
{
	return began;
}

u64 monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - namespace_ns;
}

struct timespec own_monotonic(u64 moment_ns)
{
	u64 ns = moment_ns + namespace_ns;

	return (struct timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}
