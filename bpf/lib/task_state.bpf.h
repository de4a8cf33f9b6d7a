/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Per-task state that is freed with the task.
 *
 *   TASK_STATE(NAME, TYPE)          defines the maps, and:
 *   TYPE *NAME_get(task, init)      the state, created from *init if there is none (NULL: zeroes);
 *                                   NULL if there is no room or memory, or if the storage was busy
 *                                   at that moment. The caller counts the loss.
 *   TYPE *NAME_find(task)           the state, NULL if there is none
 *
 * Uses task storage where tracing programs can use it (5.13, commit a10787e6d58c). On older kernels it uses a hash
 * keyed by the task's address, whose elements sched_process_free deletes. Unlike the pid, the address is not reused
 * before that hook has run. The loader chooses (user/host/task_state.h): it sets have_task_storage and drops the maps
 * and programs of the alternative.
 */
#ifndef TALLY_TASK_STATE_BPF_H
#define TALLY_TASK_STATE_BPF_H

#include "compat.bpf.h"

const volatile bool have_task_storage = true;

#define TASK_STATE(name, value_type)                                                                                   \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                                               \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                                                  \
		__type(key, int);                                                                                      \
		__type(value, value_type);                                                                             \
	} name SEC(".maps");                                                                                           \
                                                                                                                       \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_HASH);                                                                       \
		__uint(max_entries, 1); /* set by the loader */                                                        \
		__type(key, u64);                                                                                      \
		__type(value, value_type);                                                                             \
	} name##_hash SEC(".maps");                                                                                    \
                                                                                                                       \
	static __always_inline value_type *name##_get(struct task_struct *t, value_type *init)                         \
	{                                                                                                              \
		value_type zero = {}, *v;                                                                              \
		u64 key = (u64)t;                                                                                      \
                                                                                                                       \
		if (have_task_storage)                                                                                 \
			return bpf_task_storage_get(&name, t, init, BPF_LOCAL_STORAGE_GET_F_CREATE);                   \
		v = bpf_map_lookup_elem(&name##_hash, &key);                                                           \
		if (v)                                                                                                 \
			return v;                                                                                      \
		bpf_map_update_elem(&name##_hash, &key, init ?: &zero, BPF_NOEXIST);                                   \
		return bpf_map_lookup_elem(&name##_hash, &key);                                                        \
	}                                                                                                              \
                                                                                                                       \
	static __always_inline value_type *name##_find(struct task_struct *t)                                          \
	{                                                                                                              \
		u64 key = (u64)t;                                                                                      \
                                                                                                                       \
		if (have_task_storage)                                                                                 \
			return bpf_task_storage_get(&name, t, NULL, 0);                                                \
		return bpf_map_lookup_elem(&name##_hash, &key);                                                        \
	}                                                                                                              \
                                                                                                                       \
	SEC("tp_btf/sched_process_free")                                                                               \
	int BPF_PROG(name##_hash_on_free, struct task_struct *t)                                                       \
	{                                                                                                              \
		u64 key = (u64)t;                                                                                      \
                                                                                                                       \
		bpf_map_delete_elem(&name##_hash, &key);                                                               \
		return 0;                                                                                              \
	}

#endif /* TALLY_TASK_STATE_BPF_H */
