/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that exitsnoop's programs send about the end of processes or threads. */
#ifndef TALLY_EXITSNOOP_H
#define TALLY_EXITSNOOP_H

struct exit_record {
	__u64 time_ns;          /* CLOCK_MONOTONIC, of the exit */
	__u64 age_ns;           /* since the fork */
	__u64 cpu_time_ns;      /* total, including the exit; in the program's map only that of other threads */
	__u32 code;             /* as in wait(2): status << 8, or signal, 0x80 with a core dump */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 uid;
	__u32 cpu;
	__u8 comm[16];
};

#endif /* TALLY_EXITSNOOP_H */
