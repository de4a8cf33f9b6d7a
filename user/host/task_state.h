/* SPDX-License-Identifier: BSD-2-Clause */
/* The user-space half of bpf/lib/task_state.bpf.h. */
#ifndef TALLY_HOST_TASK_STATE_H
#define TALLY_HOST_TASK_STATE_H

#include <bpf/libbpf.h>

#include "host/host.h"

/*
 * Selects how the state called name is stored on this kernel: disables the map and the program of the
 * other method in the opened object, sizes the hash and sets the constant have_task_storage. Returns
 * 0 or a negative errno.
 */
int task_state__prepare(struct bpf_object *obj, const char *name, const struct host *host);

/* Disables the maps and the program of a state that no program of the run uses. Returns 0 or a negative errno. */
int task_state__leave_out(struct bpf_object *obj, const char *name);

/* The value of have_task_storage: whether the kernel has task storage, so that no hash is needed. */
bool task_state__in_storage(const struct host *host);

#endif /* TALLY_HOST_TASK_STATE_H */
