/* SPDX-License-Identifier: BSD-2-Clause */
/* The loader's half of bpf/lib/task_state.bpf.h. */
#ifndef TALLY_HOST_TASK_STATE_H
#define TALLY_HOST_TASK_STATE_H

#include <bpf/libbpf.h>

#include "host/host.h"

/*
 * Picks how the state called name is kept on this kernel: drops the map and the program of the
 * other way from the opened object, sizes the hash and sets the constant have_task_storage. Returns
 * 0 or a negative errno.
 */
int task_state__prepare(struct bpf_object *obj, const char *name, const struct host *host);

/* What have_task_storage is set to: task storage there is; no hash is needed. */
bool task_state__in_storage(const struct host *host);

#endif /* TALLY_HOST_TASK_STATE_H */
