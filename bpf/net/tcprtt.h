/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TALLY_TCPRTT_H
#define TALLY_TCPRTT_H

#include "hist.h"
#include "task_key.h"
#include "tcp.h"

struct tcprtt_key {
	struct hist_slot slot;          /* first; filled in by hist_add_key() */
	struct task_key task;           /* only its CPU */
	struct tcp_flow flow;
};

#endif /* TALLY_TCPRTT_H */
