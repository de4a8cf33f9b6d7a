// SPDX-License-Identifier: BSD-2-Clause
#include "probe/starts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg/elements.h"

#include "bpf/probe.h"

#define INITIAL_PIDNS 0xeffffffc        /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

static bool knows_all_threads(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_PIDNS;
}

static bool is_gone(u32 tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tid);
	return access(path, F_OK) && errno == ENOENT;
}

int starts__sweep(const struct starts_plan *plan, size_t *deleted)
{
	struct elements e = { .key_size = plan->key_size, .value_size = plan->value_size };
	struct probe_begin begin;
	size_t n = 0, i;
	int err = 0;

	if (plan->value_size < sizeof(begin) || !plan->in_thread || !knows_all_threads())
		goto out;
	err = elements__read(&e, plan->fd);
	for (i = 0; !err && e.n > plan->max_entries / 2 && i < e.n; i++) {
		memcpy(&begin, elements__value(&e, i), sizeof(begin));
		if (is_gone(begin.tid) && !bpf_map_delete_elem(plan->fd, elements__key(&e, i)))
			n++;
	}
out:
	elements__free(&e);
	if (deleted)
		*deleted = n;
	return err;
}
