/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine, its kernel, and the rights of this process. */
#ifndef TALLY_HOST_HOST_H
#define TALLY_HOST_HOST_H

#include <linux/version.h>
#include <sys/utsname.h>

#include "base/types.h"

struct host {
	struct utsname uts;
	u32 version;            /* KERNEL_VERSION(a, b, c) of uts.release */
	int cpus_online;
	int cpus_possible;      /* size of per-CPU maps */
	bool initial_pidns;     /* our pids are the kernel's global pids */
	bool initial_cgroupns;
};

/* Returns 0 or a negative errno. Reports the error if the number of CPUs is unknown. */
int host__read(struct host *host);

/*
 * Rights: capabilities(7). A right is held if any of its capabilities is in the effective set;
 * CAP_SYS_ADMIN includes those that were split from it in 5.8.
 */
enum right {
	RIGHT_BPF,              /* CAP_BPF: load programs, create maps */
	RIGHT_PERFMON,          /* CAP_PERFMON: tracing programs, kernel memory */
	RIGHT_SYS_RESOURCE,     /* CAP_SYS_RESOURCE: locked memory for maps, before 5.11 */
	RIGHT_SYS_PTRACE,       /* CAP_SYS_PTRACE: other users' /proc/PID */
	RIGHT_DAC_READ_SEARCH,  /* CAP_DAC_READ_SEARCH: cgroup names by id */
	RIGHT_SYSLOG,           /* CAP_SYSLOG: kernel addresses */
	/*
	 * CAP_SYS_ADMIN: /proc/PID/map_files; on some kernels (6.18) also uprobes through perf
	 * events.
	 */
	RIGHT_SYS_ADMIN,
	RIGHTS,
};

bool right_held(enum right r);
const char *right_name(enum right r);

/*
 * Checks the rights to load tracing programs. Returns 0, or -EPERM after reporting the missing
 * capability.
 */
int host__check_rights(const struct host *host);

/* Number of threads on the machine (/proc/loadavg); 0 if unknown. */
u64 host__threads(void);

/*
 * Number of bits of user addresses that the kernel's configuration and the processor support: 36 to 48 on arm64, or 52,
 * in which case programs must request addresses above 48 bits explicitly.
 */
u32 host__address_bits(void);

/*
 * Raises the soft limit on open files to the hard limit if it is below n, and the hard limit to n
 * if privileged (each event and counter needs one file). Best effort: later opens may fail with
 * EMFILE.
 */
void host__allow_files(size_t n);

/*
 * Checks that n more files can be opened, and raises the limit like host__allow_files(). Returns 0, or -EMFILE after
 * reporting the limit.
 */
int MUST_CHECK host__need_files(size_t n);

/* Like host__need_files(), without raising the limit. */
int MUST_CHECK host__check_files(size_t n);

/*
 * Checks that the kernel provides its types (BTF), which programs need. Returns 0, or -EOPNOTSUPP after reporting what
 * is missing.
 */
int MUST_CHECK host__check_types(void);

/* Reports that too many files are open, and the limit. Returns -EMFILE. */
int host__complain_of_files(void);

/* Reads the first line of a small file, without its newline. Returns 0 or a negative errno. */
int read_line(const char *path, char *line, size_t size);

#endif /* TALLY_HOST_HOST_H */
