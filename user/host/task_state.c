// SPDX-License-Identifier: BSD-2-Clause
#include "host/task_state.h"

#include <errno.h>
#include <stdio.h>

#include "agg/variable.h"

/*
 * The hash is preallocated: four times the current number of threads, at least this many (2 MiB).
 * Tasks that do not fit are counted as lost.
 */
#define LEAST_TASKS 16384

/* Decided by version: a kernel with a backport uses the hash, which works everywhere. */
bool task_state__in_storage(const struct host *host)
{
	return host->version >= KERNEL_VERSION(5, 13, 0);
}

int task_state__prepare(struct bpf_object *obj, const char *name, const struct host *host)
{
	char hash_name[64], program_name[64];
	struct bpf_program *on_free;
	struct bpf_map *storage, *hash;
	u64 tasks = 4 * host__threads();
	bool modern = task_state__in_storage(host);
	int err;

	snprintf(hash_name, sizeof(hash_name), "%s_hash", name);
	snprintf(program_name, sizeof(program_name), "%s_hash_on_free", name);
	storage = bpf_object__find_map_by_name(obj, name);
	hash = bpf_object__find_map_by_name(obj, hash_name);
	on_free = bpf_object__find_program_by_name(obj, program_name);
	if (!storage || !hash || !on_free)
		return -ENOENT;
	err = bpf_map__set_autocreate(modern ? hash : storage, false);
	if (!err)
		err = bpf_program__set_autoload(on_free, !modern);
	if (!err && !modern)
		err = bpf_map__set_max_entries(hash, tasks > LEAST_TASKS ? tasks : LEAST_TASKS);
	return err ?: object_set(obj, "have_task_storage", modern);
}
