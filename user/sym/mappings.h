/* SPDX-License-Identifier: BSD-2-Clause */
/* A process and its memory, from /proc. */
#ifndef TALLY_SYM_MAPPINGS_H
#define TALLY_SYM_MAPPINGS_H

#include "base/types.h"

/* One line of /proc/PID/maps. */
struct mapping_line {
	u64 start, end;         /* end is exclusive */
	u64 offset;             /* in the file */
	u64 inode;              /* 0: not a file */
	u64 device;             /* kernel's device number, from which stat(2) may differ: major << 32 | minor */
	u64 generation;         /* of the inode if from a record; else 0 */
	bool executable;
	bool shared;            /* with others that have mapped the file */
	bool deleted;           /* its file was deleted, now or when it was mapped */
	const char *name;       /* as the process sees it; "[heap]"; "": anonymous. Valid during the visit */
};

/*
 * Calls visit for each mapping in order of address, until it returns non-zero; that value is returned. -ESRCH: the
 * process has exited, or is a kernel thread. The kernel may take minutes to list the mappings of a process that has
 * very many with very long names. Returns -ETIME after MAPPINGS_TIME_NS of CPU time (time spent waiting on a busy
 * machine does not count), and -EINTR after 50 ms if a signal is pending (see base/confined.h).
 */
#define MAPPINGS_TIME_NS (2 * NSEC_PER_SEC)
typedef int (*mapping_visit)(void *arg, const struct mapping_line *line);
int mappings__each(u32 pid, mapping_visit visit, void *arg);
/* Same, until end_ns of CLOCK_THREAD_CPUTIME_ID. */
int mappings__each_until(u32 pid, u64 end_ns, mapping_visit visit, void *arg);

/* Writes the path of a process's executable, in that process's root. Returns 0 or a negative errno. */
int mappings__program(u32 pid, char *name, size_t size);

/*
 * Writes a path that opens a mapped file, even if its name refers to another file by now or in our mount namespace.
 * Opening needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. The path is valid as long as the mapping.
 */
#define MAPPED_PATH 80
void mapping__path(char path[MAPPED_PATH], u32 pid, u64 start, u64 end);

/* Parses a line, in place. False: malformed. */
bool mapping__parse(struct mapping_line *m, char *line);

/*
 * Changes after an exec, when the PID is reused, or when mappings change. Mappings are compared by total size only:
 * replacing a mapping by another of the same size and kind goes unnoticed.
 */
struct process_stamp {
	u64 start_time;         /* changes when the pid is reused */
	u64 code, stack;        /* change on exec */
	u64 size;               /* of all its mappings */
	u64 data;               /* of writable mappings: reserved memory can become code */
};

int process_stamp__read(struct process_stamp *p, u32 pid);      /* -ESRCH */

/*
 * Sets *share to the CPU time of all threads of a process, in millionths of its age. -ESRCH: the process has exited, or
 * is a kernel thread.
 */
int process_cpu_share(u32 pid, u64 *share);

/* Sets *real_ns to the start time of a process, by the current CLOCK_REALTIME. -ESRCH. */
int process_began(u32 pid, s64 *real_ns);

/* A process's own view of its identity. */
struct process_self {
	u32 uid;                /* effective, in our user namespace */
	u32 pid;                /* in its own pid namespace */
};

int process_self__read(struct process_self *p, u32 pid);        /* -ESRCH */

#endif /* TALLY_SYM_MAPPINGS_H */
