/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What probe's program and its loader share. */
#ifndef TALLY_PROBE_H
#define TALLY_PROBE_H

#include "hist.h"
#include "task_key.h"

struct probe_key {
	struct hist_slot slot;          /* first: hist_add_key() fills it */
	struct task_key task;
};

#endif /* TALLY_PROBE_H */
