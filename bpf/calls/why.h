/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole time of threads, by activity: shared by why.bpf.c and tools/calls/why.c.
 *
 * A thread is in one phase at a time, from its creation to its last switch-out. Phases follow each other without a gap,
 * so their times add up to the lifetime of the thread. Time that cannot be attributed is a phase of its own.
 */
#ifndef TALLY_WHY_H
#define TALLY_WHY_H

#include "hist.h"
#include "maximum.h"
#include "task_key.h"
#include "trace.h"

enum why_phase {
	WHY_UNKNOWN, /* its lifetime minus its phases: switches that no program saw */
	WHY_ON_CPU,
	WHY_USER, /* WHY_ON_CPU, divided by the loader: the kernel sends neither */
	WHY_SYSTEM,
	WHY_WOKEN,     /* waits for a CPU since its wakeup */
	WHY_PREEMPTED, /* waits for a CPU: it was preempted, or yielded */
	WHY_THROTTLED, /* waits for a CPU: its cgroup has used up its CPU quota */
	WHY_STARTING,  /* from its creation until it is first runnable: its parent copies */
	WHY_MEMORY,    /* blocked for memory (in_memstall): reclaim, compaction, thrashing, memory.high */
	WHY_IO,	       /* blocked in io_schedule(): in_iowait */
	WHY_LOCK,      /* blocked on a kernel lock: lock:contention_begin, since 5.19 */
	WHY_SLEEP,     /* interruptible */
	WHY_DISK,      /* uninterruptible, and none of the above */
	WHY_IDLE,      /* a kernel thread without work */
	WHY_STOPPED,
	WHY_TRACED,
	WHY_OTHER, /* a state without a name */
	WHY_PHASES,
};

/* The kind of file behind the descriptor that a blocked call uses. */
enum why_kind {
	KIND_NONE, /* no descriptor, or one that is not open */
	KIND_FILE,
	KIND_DIRECTORY,
	KIND_BLOCK,	/* a block device */
	KIND_CHARACTER, /* a terminal, mostly */
	KIND_PIPE,
	KIND_UNIX,
	KIND_TCP,
	KIND_UDP,
	KIND_SOCKET,	/* of another protocol */
	KIND_ANONYMOUS, /* epoll, eventfd, timerfd, inotify, io_uring, ... */
	WHY_KINDS,
};

/* In the table of descriptors: the call takes a path, too, or instead. */
#define WHY_TAKES_PATH 0x80

/* The code of functions in which threads wait for file servers: FUSE daemons and NFS servers. */
#define WHY_SERVER_CODE 32

struct why_code {
	__u64 start, end;
};

/* why_key.slot, where a blocked thread is in no system call. */
enum why_place {
	WHY_NO_CALL = TRACE_SLOTS, /* in a page fault or another exception */
	WHY_KERNEL_THREAD,
	WHY_ANYWHERE, /* not determined, because the thread is not blocked */
};

/* Keys of the map end after the last requested part of task. */
struct why_key {
	__u32 writer;
	__u32 slot;  /* of the system call (trace.h), or enum why_place */
	__u16 phase; /* enum why_phase */
	__u16 kind;  /* enum why_kind */
	__u32 whole; /* asleep since the run began: only in the last report of a run without intervals */
	struct task_key task;
};

/* Cumulative since the run began. Each element belongs to one CPU, so plain adds are exact. */
struct why_sums {
	__u64 ns;
	__u64 count;	    /* number of phases, including those in progress */
	__u64 phases;	    /* set by the loader: the same, without phases counted in another row */
	__u64 user, system; /* WHY_ON_CPU: time that the kernel charged to the two modes, by its own clock */
	struct interval_maximum longest[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* Like struct why_key, for histograms of the lengths of completed off-CPU phases. */
struct why_wait_key {
	struct hist_slot slot;  /* first; filled in by hist_add_key() */
	__u32 call;             /* as slot, phase and kind of struct why_key */
	__u16 phase, kind;
	struct task_key task;
};

/* Number of turns on a CPU that are kept, a power of two; and number of the last ones, each of which is charged. */
#define WHY_TURNS 256
#define WHY_LAST_TURNS 8

/*
 * Like struct why_key, for the part of waits for a CPU in which threads of that process ran on it. The value is a u64
 * in ns.
 */
struct why_behind_key {
	__u32 writer;
	__u32 phase;
	char comm[TASK_KEY_COMM_LEN];
	struct task_key task;
};

/* A phase in progress, for reports. */
struct why_element {
	struct why_key key;
	struct why_sums sums;
};

/* The kind of object that a thread waits for, and the members of struct why_object that identify it. */
enum why_object_type {
	OBJECT_NONE,
	OBJECT_FILE,      /* id: number, device and generation of an inode; or the operations of an anonymous file */
	OBJECT_UNIX,      /* a UNIX socket; id: its inode */
	OBJECT_REMOTE,    /* id, family, port: the address of a peer */
	OBJECT_LOCAL,     /* a socket without a peer; id, family, port: its own address */
	OBJECT_FUTEX,     /* id: its address, and the process */
	OBJECT_LOCK,      /* id: the address of a kernel lock */
	OBJECT_MMAP_LOCK, /* the mmap lock of the thread's process; id: its address */
};

/* Equal for waits for the same object. The port is in host byte order. */
struct why_object {
	__u64 id[2];
	__u16 type; /* enum why_object_type */
	__u16 family, port, zero;
};

/* The time of waits for an object, by row: the members between writer and object are those of struct why_key. */
struct why_object_key {
	__u32 writer;
	__u32 slot;
	__u16 phase, kind;
	__u32 whole;
	struct why_object object;
	struct task_key task;
};

/* The head of a struct file_name; size is that of the whole name. */
struct why_object_name {
	__u32 flags, mode;
	__u64 inode;
	__u32 size, zero;
	char names[152]; /* OBJECT_UNIX: a struct socket_address */
};

/* ns is cumulative, as in struct why_sums. The other members are written once. */
struct why_object_sums {
	__u64 ns;
	__u32 device, zero; /* number of a block device */
	struct why_object_name name;
};

/* A wait in progress, for reports. */
struct why_object_element {
	struct why_object_key key;
	struct why_object_sums sums;
};

_Static_assert(sizeof(struct why_behind_key) == sizeof(struct task_key) + 24, "why_behind_key has padding");
_Static_assert(sizeof(struct why_object) == 24, "why_object has padding");
_Static_assert(sizeof(struct why_object_key) == sizeof(struct task_key) + 40, "why_object_key has padding");
_Static_assert(sizeof(struct why_object_sums) == 192, "why_object_sums has padding");
_Static_assert(sizeof(((struct why_object_name *)0)->names) >= sizeof(struct socket_address), "no room for an address");
_Static_assert(sizeof(struct why_wait_key) == sizeof(struct task_key) + 16, "why_wait_key has padding");
_Static_assert(sizeof(struct why_key) == sizeof(struct task_key) + 16, "why_key has padding");

#endif /* TALLY_WHY_H */
