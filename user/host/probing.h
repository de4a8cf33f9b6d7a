/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of the kernel by which probes of its functions are attached without an error, and do not run:
 * kernel.ftrace_enabled (fentry, fexit, kprobe.multi, and kprobes at the start of a function), and the file
 * kprobes/enabled of debugfs (kprobes). Probes are refused then: attaching with ftrace_enabled 0 also makes kernels
 * warn when the probe is detached (ftrace_shutdown()).
 */
#ifndef TALLY_HOST_PROBING_H
#define TALLY_HOST_PROBING_H

#include "base/types.h"

/* Each is false as well if the kernel has no such setting, or if it cannot be read. */
bool ftrace_is_off(void);
bool kprobes_are_off(void);

/* A sentence that says why probes of that kind do not run now, or NULL; and what to type. */
struct probing_refusal {
	const char *why, *hint;
	bool is_kprobe;         /* it is about kprobes, not about ftrace */
};

/* needs_ftrace: there are probes by ftrace; has_kprobes: there are kprobes. */
struct probing_refusal probing__refusal(bool needs_ftrace, bool has_kprobes);

#define FTRACE_ON "sysctl kernel.ftrace_enabled=1"
#define KPROBES_ON "echo 1 > /sys/kernel/debug/kprobes/enabled"

#endif /* TALLY_HOST_PROBING_H */
