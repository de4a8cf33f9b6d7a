/* SPDX-License-Identifier: BSD-2-Clause */
/* The loader's half of bpf/task_state.bpf.h. */
#ifndef TALLY_HOST_TASK_STATE_H
#define TALLY_HOST_TASK_STATE_H

#include <bpf/libbpf.h>

#include "host/host.h"

/*
 * Picks how the state called name is kept on this kernel: drops the map and the program of the
 * other way from the opened object and sizes the hash. *have_task_storage is what the program's
 * constant of that name must be set to. Returns 0 or a negative errno.
 */
int task_state__prepare(struct bpf_object *obj, const char *name, const struct host *host,
			bool *have_task_storage);

#endif /* TALLY_HOST_TASK_STATE_H */
