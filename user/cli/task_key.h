/* SPDX-License-Identifier: BSD-2-Clause */
/* --by: from its text to the parts of bpf/task_key.h, and from a key to the fields of a report. */
#ifndef TALLY_CLI_TASK_KEY_H
#define TALLY_CLI_TASK_KEY_H

#include "agg/hist_set.h"
#include "out/report.h"
#include "base/types.h"

#include "bpf/scope.h"
#include "bpf/task_key.h"

/* "pid", "comm", ...; all of them with commas between, for messages. */
const char *task_key_parts(void);

/*
 * Parses pid,comm,... into enum task_key_part bits. Returns 0, or -EINVAL with the culprit in
 * bad[bad_size].
 */
int task_key__parse(const char *text, u32 *by, char *bad, size_t bad_size);

/*
 * Adds a group for each key of the set to the report: the histograms move from the set into the
 * report. hierarchy is that of the cgroup ids. Returns 0 or -ENOMEM.
 */
int task_key__report(struct report *r, struct hist_set *set, u32 by,
		     enum scope_hierarchy hierarchy);

#endif /* TALLY_CLI_TASK_KEY_H */
