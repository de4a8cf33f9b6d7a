/* SPDX-License-Identifier: BSD-2-Clause */
/* Key parts of page faults in addition to their task: kind, file, access, mode (bpf/memory/faults.h). */
#ifndef TALLY_MEMORY_FAULT_KEYS_H
#define TALLY_MEMORY_FAULT_KEYS_H

#include "cli/complete.h"
#include "cli/task_key.h"
#include "files/name.h"

#include "bpf/memory/faults.h"

/* For spec.own_parts. fault_parts__add() adds the names of the files. */
extern const struct own_parts fault_own_parts;

/* Appends the parts selected by `by` to a row. Returns 0 or -ENOMEM. */
int fault_parts__add(struct report_row *row, const struct faults_parts *parts, u32 by,
		     const struct file_names *files);

/* Indexed by enum fault_kind. */
extern const char *const fault_kind_names[FAULT_KINDS];

#endif /* TALLY_MEMORY_FAULT_KEYS_H */
