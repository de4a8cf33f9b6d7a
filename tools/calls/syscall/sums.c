// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/sums.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg/elements.h"

static void add_cpus(struct call_sum *sum, const struct trace_sum *cpu, int cpus)
{
	u64 min_inv = 0;
	int i;

	*sum = (struct call_sum){};
	for (i = 0; i < cpus; i++) {
		sum->count += cpu[i].count;
		sum->errors += cpu[i].errors;
		sum->ns += cpu[i].ns;
		sum->squares += (unsigned __int128)cpu[i].squares[1] << 64 | cpu[i].squares[0];
		if (cpu[i].min_inv > min_inv)
			min_inv = cpu[i].min_inv;
		if (cpu[i].max_ns > sum->max_ns)
			sum->max_ns = cpu[i].max_ns;
	}
	if (sum->count)
		sum->min_ns = ~min_inv;
}

/* Reads a slot and clears it. */
static int take_slot(struct call_sum *sum, int map_fd, u32 at, struct trace_sum *cpu, int cpus)
{
	int err = bpf_map_lookup_elem(map_fd, &at, cpu);

	if (err)
		return err;
	add_cpus(sum, cpu, cpus);
	if (!sum->count)
		return 0;
	memset(cpu, 0, cpus * sizeof(*cpu));
	return bpf_map_update_elem(map_fd, &at, cpu, BPF_ANY);
}

int call_sums__take(struct call_sum *sum, int map_fd, int cpus, volatile u32 *generation)
{
	struct trace_sum *cpu = calloc(cpus, sizeof(*cpu));
	int err = cpu ? 0 : -ENOMEM;
	u32 slot, next;

	if (!err)
		err = elements__next_generation(generation, &next);
	for (slot = 0; slot < TRACE_SLOTS && !err; slot++)
		err = take_slot(&sum[slot], map_fd, 2 * slot + !(next & 1), cpu, cpus);
	free(cpu);
	return err;
}

double call_sum__error(const struct call_sum *sum)
{
	unsigned __int128 of_mean = (unsigned __int128)sum->ns * sum->ns / sum->count;

	return sqrt((double)(sum->squares - of_mean) / (sum->count - 1) / sum->count);
}
