// SPDX-License-Identifier: BSD-2-Clause
#include "host/interrupt.h"

#include "agg/variable.h"
#include "sym/kallsyms.h"
#include "types/kernel_btf.h"

#if defined(__x86_64__)
/* Finds the distance in bytes from one per-CPU variable to another. Debian's BTF of 5.10 has no such variables. */
static bool find_between(const char *from, const char *to, s64 *distance)
{
	const char *const names[] = { from, to };
	s64 first = kernel_btf_per_cpu_place(from), second = kernel_btf_per_cpu_place(to);
	u64 address[2];

	*distance = second - first;
	if (first >= 0)
		return second >= 0;
	if (kernel_symbols__locate(names, 2, address))
		return false;
	*distance = address[1] - address[0];
	return true;
}

/*
 * Finds the distance from a CPU's run queue, which se.cfs_rq leads to, to its preempt_count or to the variable that
 * contains it.
 */
static bool find_distance(s64 *distance)
{
	if (!kernel_btf_has_member("sched_entity", "cfs_rq") || !kernel_btf_has_member("cfs_rq", "rq"))
		return false;
	return find_between("runqueues", "pcpu_hot", distance) ||
	       find_between("runqueues", "__preempt_count", distance);
}
#else
static bool find_distance(s64 *distance)
{
	*distance = 0;
	return true;
}
#endif

int interrupt__prepare(struct bpf_object *obj, bool *knows)
{
	s64 distance;
	int err;

	*knows = find_distance(&distance);
	err = object_set(obj, "knows_interrupts", *knows);
	return err ?: object_set(obj, "count_from_queue", *knows ? distance : 0);
}
