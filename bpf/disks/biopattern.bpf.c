// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads and writes that begin where the disk's previous request ended, and those that do not. Requests are compared in
 * the order of issue, regardless of submitter and direction.
 */
#define REQUEST_AT_ISSUE
#include "compat.bpf.h"
#include "biopattern.h"
#include "element.bpf.h"
#include "request.bpf.h"

#define SECTOR_SHIFT 9
#define MOST_DISKS 1024

/* The first sector after a disk's last request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_DISKS);
	__type(key, u32);
	__type(value, u64);
} positions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * MOST_DISKS);
	__type(key, struct biopattern_key);
	__type(value, struct biopattern_sums);
} patterns SEC(".maps");

const struct biopattern_sums no_sums = {};

/* Returns true if the request follows the previous one, and advances the position. False for a disk's first request. */
static __always_inline bool follows(const struct request_state *st)
{
	u64 next = st->sector + (st->bytes >> SECTOR_SHIFT), *position;
	u32 disk = st->disk;
	bool yes;
	long err;

	position = bpf_map_lookup_elem(&positions, &disk);
	if (!position) {
		err = bpf_map_update_elem(&positions, &disk, &next, BPF_ANY);
		if (err)
			count_lost(LOSS_INCOMPLETE);    /* counted as random */
		return false;
	}
	yes = *position == st->sector;
	*position = next;
	return yes;
}

static __always_inline struct biopattern_sums *sums_of(const struct request_state *st)
{
	struct biopattern_key key = { .disk = st->disk, .op = st->op };

	return element_of(&patterns, &key, &no_sums);
}

/* Several CPUs issue requests to one disk, so adds are atomic. */
static __always_inline void request_issued(const struct request_state *st)
{
	struct biopattern_sums *s;
	bool sequential;

	if (st->op != REQUEST_READ && st->op != REQUEST_WRITE)
		return;
	sequential = follows(st);
	if (!armed || st->standing == REQUEST_BEFORE)
		return;
	if (!request_counts(st)) {
		count_filtered();
		return;
	}
	s = sums_of(st);
	if (!s)
		return;
	__sync_fetch_and_add(sequential ? &s->sequential : &s->random, 1);
	__sync_fetch_and_add(sequential ? &s->sequential_bytes : &s->random_bytes, st->bytes);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
