/* SPDX-License-Identifier: BSD-2-Clause */
/* What machine and kernel this is, and what this process may do on it. */
#ifndef TALLY_HOST_HOST_H
#define TALLY_HOST_HOST_H

#include <linux/version.h>
#include <sys/utsname.h>

#include "base/types.h"

struct host {
	struct utsname uts;
	u32 version;            /* KERNEL_VERSION(a, b, c) of uts.release */
	int cpus_online;
	int cpus_possible;      /* what per-CPU maps are sized by */
	bool initial_pidns;     /* pids here are those the kernel counts by */
	bool initial_cgroupns;
};

/* Returns 0 or a negative errno, and has said so if it is the number of CPUs that is not known. */
int host__read(struct host *host);

/*
 * Rights: capabilities(7). A need is met by any one of its capabilities in the effective set;
 * CAP_SYS_ADMIN meets those that were split from it in 5.8.
 */
enum right {
	RIGHT_BPF,              /* CAP_BPF: load programs, make maps */
	RIGHT_PERFMON,          /* CAP_PERFMON: tracing programs, kernel memory */
	RIGHT_SYS_RESOURCE,     /* CAP_SYS_RESOURCE: locked memory for maps, before 5.11 */
	RIGHT_SYS_PTRACE,       /* CAP_SYS_PTRACE: other users' /proc/PID */
	RIGHT_DAC_READ_SEARCH,  /* CAP_DAC_READ_SEARCH: cgroup names by id */
	RIGHT_SYSLOG,           /* CAP_SYSLOG: kernel addresses */
	/* CAP_SYS_ADMIN: /proc/PID/map_files; on some kernels (6.18) also uprobes by perf events. */
	RIGHT_SYS_ADMIN,
	RIGHTS,
};

bool right_held(enum right r);
const char *right_name(enum right r);

/*
 * Are the rights to load tracing programs there? If not, says which capability is missing.
 * Returns 0 or -EPERM.
 */
int host__check_rights(const struct host *host);

/* Threads on the whole machine now (/proc/loadavg), 0 if unknown. */
u64 host__threads(void);

/*
 * Raises the limit on open files to what the hard limit allows if n do not fit (each event and
 * counter takes one). Best effort: opening too many then fails with EMFILE.
 */
void host__allow_files(size_t n);

/*
 * Can n more files be opened? Raises the limit for it as host__allow_files() does. Returns 0, or says
 * what the limit is and returns -EMFILE.
 */
int MUST_CHECK host__need_files(size_t n);

/* The same without raising anything. */
int MUST_CHECK host__check_files(size_t n);

/*
 * Are the kernel's types (BTF) known, which programs need? Returns 0, or says what is missing and
 * returns -EOPNOTSUPP.
 */
int MUST_CHECK host__check_types(void);

/* Says that too many files are open, and what the limit is. Returns -EMFILE. */
int host__complain_of_files(void);

/* The first line of a small file, without its newline. Returns 0 or a negative errno. */
int read_line(const char *path, char *line, size_t size);

#endif /* TALLY_HOST_HOST_H */
