/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of a process and its memory. */
#ifndef TALLY_SYM_MAPPINGS_H
#define TALLY_SYM_MAPPINGS_H

#include "base/types.h"

/* One line of /proc/PID/maps. */
struct mapping_line {
	u64 start, end;         /* end: the first byte behind it */
	u64 offset;             /* in the file */
	u64 inode;              /* 0: it is no file */
	u64 device, generation; /* of the inode, where a record tells; else 0 */
	bool executable;
	bool deleted;           /* its file's name is gone, or was when it was mapped */
	const char *name;       /* as the process sees it; "[heap]"; "": anonymous. Not kept */
};

/*
 * Calls visit for each mapping, in order of address, until it returns non-zero, which is passed
 * on. -ESRCH: the process has gone, or is one of the kernel's and has no memory of its own. A process may
 * have mapped so much, by names so long, that the kernel takes minutes to write it all: -ETIME after
 * MAPPINGS_TIME_NS of CPU time (a busy machine is no reason), and -EINTR if a signal waits (see base/confined.h) after 50 ms.
 */
#define MAPPINGS_TIME_NS (2 * NSEC_PER_SEC)
typedef int (*mapping_visit)(void *arg, const struct mapping_line *line);
int mappings__each(u32 pid, mapping_visit visit, void *arg);
/* The same until end_ns, CLOCK_THREAD_CPUTIME_ID. */
int mappings__each_until(u32 pid, u64 end_ns, mapping_visit visit, void *arg);

/* What a process's program is called there. 0 or a negative errno. */
int mappings__program(u32 pid, char *name, size_t size);

/*
 * A mapped file as a path that we can open, whatever its name leads to by now or in our mount namespace.
 * Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, and is good while the mapping is there.
 */
#define MAPPED_PATH 80
void mapping__path(char path[MAPPED_PATH], u32 pid, u64 start, u64 end);

/* Parses a line, which is changed. false: it is none. */
bool mapping__parse(struct mapping_line *m, char *line);

/*
 * What changes when a process becomes another, or its mappings change. Of these it is the sizes
 * that are looked at: what is mapped in the place of something else of the same size and the same
 * use goes unnoticed.
 */
struct process_stamp {
	u64 start_time;         /* another process */
	u64 code, stack;        /* the same process after an exec */
	u64 size;               /* of all its mappings */
	u64 data;               /* of what it can write to: reserved memory becomes code */
};

int process_stamp__read(struct process_stamp *p, u32 pid);      /* -ESRCH */

/* CPU time, in clock ticks. -ESRCH: it has gone, or has no memory of its own, as the kernel's threads. */
int process_cpu_ticks(u32 pid, u64 *ticks);

/* Who a process is to itself. */
struct process_self {
	u32 uid;                /* effective, by our numbers */
	u32 pid;                /* in its own pid namespace, where it knows itself by it */
};

int process_self__read(struct process_self *p, u32 pid);        /* -ESRCH */

#endif /* TALLY_SYM_MAPPINGS_H */
