// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The directory cache: each path component that is looked up, at the function that queries the cache, lookup_fast(). It
 * returns an entry (possibly a negative one), nothing, or an error, after which the kernel walks the path again in
 * another mode and comes back here.
 *
 * The subject is the task that performs the lookup, which is the current one.
 */
#define SCOPE_UNTYPED
#include "compat.bpf.h"
#include "dcstat.h"
#include "loss.bpf.h"
#include "preempt.bpf.h"
#include "scope.bpf.h"
#include "sums.bpf.h"
#include "task_key.bpf.h"
#include "writer.bpf.h"

SUMS(struct dcstat_key, struct dcstat_sums)

/* Before 6.0, two more arguments preceded the result (commit 7e4745a09426). */
#define LOOKUP_HAS_ONE KERNEL_VERSION(6, 0, 0)

/* Returns an argument as a number, because the verifier forbids arithmetic on typed pointers. */
static __always_inline u64 argument(u64 *ctx, u32 n)
{
	u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), ctx + n);
	return value;
}

/* Copies the component, which ends at the next slash or at the end of the path. */
static __always_inline void name_of(char name[DCSTAT_NAME_LEN], u64 nd)
{
	const unsigned char *text = BPF_CORE_READ((struct nameidata *)nd, last.name);
	u64 len = BPF_CORE_READ((struct nameidata *)nd, last.hash_len) >> 32;

	if (len > DCSTAT_NAME_LEN - 1)
		len = DCSTAT_NAME_LEN - 1;
	barrier_var(len);
	if (len < DCSTAT_NAME_LEN)
		bpf_probe_read_kernel(name, len, text);
}

static __always_inline void count(u64 nd, u32 what)
{
	struct dcstat_key key = { .writer = shared_writer() };
	struct dcstat_sums *e;

	if (by & BY_LOOKUP_NAME)
		name_of(key.file, nd);
	task_key_of(&key.task, NULL);
	e = sums_of(&key);
	if (!e)
		return;
	if (what == DCSTAT_HIT)
		__sync_fetch_and_add(&e->sum[DCSTAT_HIT], 1);
	else if (what == DCSTAT_NEGATIVE)
		__sync_fetch_and_add(&e->sum[DCSTAT_NEGATIVE], 1);
	else
		__sync_fetch_and_add(&e->sum[DCSTAT_MISS], 1);
	task_key_name(e->name, &e->name_stamp, NULL, bpf_ktime_get_ns());
}

SEC("fexit/lookup_fast")
int UNPREEMPTED(PREEMPT_FUNCTION, on_lookup, u64 *, ctx)
{
	u64 found = argument(ctx, LINUX_KERNEL_VERSION >= LOOKUP_HAS_ONE ? 1 : 3);

	if (found >= (u64)-MAX_ERRNO || !armed || !in_scope(NULL))
		return 0;
	if (!found)
		count(argument(ctx, 0), DCSTAT_MISS);
	else if (BPF_CORE_READ((struct dentry *)found, d_inode))
		count(argument(ctx, 0), DCSTAT_HIT);
	else
		count(argument(ctx, 0), DCSTAT_NEGATIVE);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
