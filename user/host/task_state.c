// SPDX-License-Identifier: BSD-2-Clause
#include "host/task_state.h"

#include <errno.h>
#include <stdio.h>

#include "agg/variable.h"

/*
 * The hash is preallocated for four times the current number of threads, and at least for this many (2 MiB). Tasks that
 * do not fit are counted as lost.
 */
#define LEAST_TASKS 16384

/* True for storage, depending on the version. A kernel with a backport uses the hash, which works on all kernels. */
bool task_state__in_storage(const struct host *host)
{
	return host->version >= KERNEL_VERSION(5, 13, 0);
}

/* The parts of TASK_STATE(name, ...). */
struct parts {
	struct bpf_map *storage, *hash;
	struct bpf_program *on_free;
};

static int find_parts(struct parts *p, struct bpf_object *obj, const char *name)
{
	char hash_name[64], program_name[64];

	snprintf(hash_name, sizeof(hash_name), "%s_hash", name);
	snprintf(program_name, sizeof(program_name), "%s_hash_on_free", name);
	p->storage = bpf_object__find_map_by_name(obj, name);
	p->hash = bpf_object__find_map_by_name(obj, hash_name);
	p->on_free = bpf_object__find_program_by_name(obj, program_name);
	return p->storage && p->hash && p->on_free ? 0 : -ENOENT;
}

int task_state__prepare(struct bpf_object *obj, const char *name, const struct host *host)
{
	u64 tasks = 4 * host__threads();
	bool modern = task_state__in_storage(host);
	struct parts p;
	int err = find_parts(&p, obj, name);

	if (!err)
		err = bpf_map__set_autocreate(modern ? p.hash : p.storage, false);
	if (!err)
		err = bpf_program__set_autoload(p.on_free, !modern);
	if (!err && !modern)
		err = bpf_map__set_max_entries(p.hash, tasks > LEAST_TASKS ? tasks : LEAST_TASKS);
	return err ?: object_set(obj, "have_task_storage", modern);
}

int task_state__leave_out(struct bpf_object *obj, const char *name)
{
	struct parts p;
	int err = find_parts(&p, obj, name);

	if (!err)
		err = bpf_map__set_autocreate(p.storage, false);
	if (!err)
		err = bpf_map__set_autocreate(p.hash, false);
	return err ?: bpf_program__set_autoload(p.on_free, false);
}
