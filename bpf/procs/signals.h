/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that signals.bpf.c sends about signals. */
#ifndef TALLY_SIGNALS_H
#define TALLY_SIGNALS_H

#include "stack.h"

struct signal_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC */
	__u32 pid;              /* the receiver */
	__u32 tid;
	__u32 sender_pid;       /* the current task: the sender, if code indicates that there is one */
	__u32 sender_tid;
	__u32 cpu;
	__s32 signal;
	__s32 code;             /* si_code */
	__s32 result;           /* include/trace/events/signal.h: TRACE_SIGNAL_ */
	__u8 group;             /* for the whole process, not only for that thread */
	__u8 padding[7];
	__u8 comm[16];
	__u8 sender_comm[16];
	struct stack_id stack;  /* stack of the sender; zero if not taken */
};

#endif /* TALLY_SIGNALS_H */
