/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel settings with which probes of kernel functions attach without an error but never run: kernel.ftrace_enabled
 * (fentry, fexit, kprobe.multi, and kprobes at the start of a function), and the file kprobes/enabled of debugfs
 * (kprobes). tally rejects such probes. If ftrace_enabled is 0 when a probe is attached, the kernel also warns when it
 * is detached (ftrace_shutdown()).
 */
#ifndef TALLY_HOST_PROBING_H
#define TALLY_HOST_PROBING_H

#include "base/types.h"

/* Both are also false if the kernel lacks the setting, or if it cannot be read. */
bool ftrace_is_off(void);
bool kprobes_are_off(void);

/* why: a sentence why probes of that kind do not run now, or NULL if they run. hint: a command that enables them. */
struct probing_refusal {
	const char *why, *hint;
	bool is_kprobe;         /* the reason is the setting of kprobes, not of ftrace */
};

/* needs_ftrace: some probes use ftrace. has_kprobes: some probes are kprobes. */
struct probing_refusal probing__refusal(bool needs_ftrace, bool has_kprobes);

#define FTRACE_ON "sysctl kernel.ftrace_enabled=1"
#define KPROBES_ON "echo 1 > /sys/kernel/debug/kprobes/enabled"

#endif /* TALLY_HOST_PROBING_H */
