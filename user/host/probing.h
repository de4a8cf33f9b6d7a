/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel settings with which probes of kernel functions attach without an error but never run: kernel.ftrace_enabled
 * (fentry, fexit, kprobe.multi, and kprobes at the start of a function), and the file kprobes/enabled of debugfs
 * (kprobes). Such probes are refused. With ftrace_enabled 0, attaching also makes kernels warn when the probe is
 * detached (ftrace_shutdown()).
 */
#ifndef TALLY_HOST_PROBING_H
#define TALLY_HOST_PROBING_H

#include "base/types.h"

/* Both are also false if the kernel has no such setting, or if it cannot be read. */
bool ftrace_is_off(void);
bool kprobes_are_off(void);

/* why: a sentence that says why probes of that kind do not run now, or NULL; hint: what to type. */
struct probing_refusal {
	const char *why, *hint;
	bool is_kprobe;         /* about kprobes, not ftrace */
};

/* needs_ftrace: there are probes that use ftrace; has_kprobes: there are kprobes. */
struct probing_refusal probing__refusal(bool needs_ftrace, bool has_kprobes);

#define FTRACE_ON "sysctl kernel.ftrace_enabled=1"
#define KPROBES_ON "echo 1 > /sys/kernel/debug/kprobes/enabled"

#endif /* TALLY_HOST_PROBING_H */
