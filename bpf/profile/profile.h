/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by profile.bpf.c and its loader. */
#ifndef TALLY_PROFILE_H
#define TALLY_PROFILE_H

#include "stack.h"

/* Maximum number of events that one run can sample, each under its slot (bpf/lib/event.h). */
#define PROFILE_EVENTS 8

/* Numbers for one event, per CPU, since the programs were loaded. */
struct profile_samples {
	__u64 taken;            /* all samples, counted or not */
	__u64 idle;             /* samples of an idle CPU */
	__u64 events;           /* events reported to the program, including those from before the gate was opened */
	__u64 filtered;         /* events whose samples were out of scope */
};

#endif /* TALLY_PROFILE_H */
