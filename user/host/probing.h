/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of the kernel by which probes of its functions are attached without an error, and do not run:
 * kernel.ftrace_enabled (fentry, fexit, kprobe.multi, and kprobes at the start of a function), and the file
 * kprobes/enabled of debugfs (kprobes).
 */
#ifndef TALLY_HOST_PROBING_H
#define TALLY_HOST_PROBING_H

#include "base/types.h"

/* Each is false as well if the kernel has no such setting, or if it cannot be read. */
bool ftrace_is_off(void);
bool kprobes_are_off(void);

/* Why probes of kernel functions do not run now, or NULL: a sentence. has_kprobes: some are kprobes. */
const char *probing_is_off(bool has_kprobes);

/* What to type to switch it on. */
#define FTRACE_ON "sysctl kernel.ftrace_enabled=1"
#define KPROBES_ON "echo 1 > /sys/kernel/debug/kprobes/enabled"

/* Warns of what is off, with what to type. */
void probing_warn(bool has_kprobes);

#endif /* TALLY_HOST_PROBING_H */
