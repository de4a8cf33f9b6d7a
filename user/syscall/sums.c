// SPDX-License-Identifier: BSD-2-Clause
#include "syscall/sums.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void add_extremes(struct call_sum *sum, const struct trace_extremes *e, bool *first)
{
	if (*first || e->min_ns < sum->min_ns)
		sum->min_ns = e->min_ns;
	if (*first || e->max_ns > sum->max_ns)
		sum->max_ns = e->max_ns;
	*first = false;
}

static void add_cpus(struct call_sum *sum, const struct trace_sum *cpu, int cpus, u64 interval)
{
	bool first = true;
	int i;

	*sum = (struct call_sum){};
	for (i = 0; i < cpus; i++) {
		sum->count += cpu[i].count;
		sum->errors += cpu[i].errors;
		sum->ns += cpu[i].ns;
		sum->squares += (unsigned __int128)cpu[i].squares[1] << 64 | cpu[i].squares[0];
		if (cpu[i].extremes[interval & 1].interval == interval)
			add_extremes(sum, &cpu[i].extremes[interval & 1], &first);
	}
}

int call_sums__read(struct call_sum *sum, int map_fd, int cpus, u64 interval)
{
	struct trace_sum *cpu = calloc(cpus, sizeof(*cpu));
	int err = cpu ? 0 : -ENOMEM;
	u32 slot;

	for (slot = 0; slot < TRACE_SLOTS && !err; slot++) {
		err = bpf_map_lookup_elem(map_fd, &slot, cpu);
		if (!err)
			add_cpus(&sum[slot], cpu, cpus, interval);
	}
	free(cpu);
	return err;
}

struct call_sum call_sum__difference(const struct call_sum *later, const struct call_sum *earlier)
{
	struct call_sum d = *later;

	d.count -= earlier->count;
	d.errors -= earlier->errors;
	d.ns -= earlier->ns;
	d.squares -= earlier->squares;
	return d;
}

double call_sum__error(const struct call_sum *sum)
{
	unsigned __int128 of_mean = (unsigned __int128)sum->ns * sum->ns / sum->count;

	/* Between two readings of one element a call may have come: see above. */
	if (sum->squares < of_mean)
		return 0;
	return sqrt((double)(sum->squares - of_mean) / (sum->count - 1) / sum->count);
}
