/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All time of threads, by what they did: shared by why.bpf.c and tools/calls/why.c.
 *
 * A thread is in one phase at a time, from its creation to its last switch-out. Phases follow each other without a gap,
 * so their times add up to the time that the thread existed. Time that could not be told is a phase of its own.
 */
#ifndef TALLY_WHY_H
#define TALLY_WHY_H

#include "hist.h"
#include "maximum.h"
#include "task_key.h"
#include "trace.h"

enum why_phase {
	WHY_UNKNOWN, /* its existence less its phases: switches that no program saw */
	WHY_ON_CPU,
	WHY_USER, /* WHY_ON_CPU, divided by the loader: the kernel sends neither */
	WHY_SYSTEM,
	WHY_WOKEN,     /* waits for a CPU since its wakeup */
	WHY_PREEMPTED, /* waits for a CPU: it was preempted, or yielded */
	WHY_THROTTLED, /* the same, of a cgroup that had used up its CPU quota when the wait began */
	WHY_STARTING,  /* from its creation until it is first runnable: its parent copies */
	WHY_MEMORY,    /* blocked for memory (in_memstall): reclaim, compaction, thrashing, memory.high */
	WHY_IO,	       /* blocked in io_schedule(): in_iowait */
	WHY_LOCK,      /* blocked for a lock of the kernel: lock:contention_begin, from 5.19 */
	WHY_SLEEP,     /* interruptible */
	WHY_DISK,      /* uninterruptible, and none of the above */
	WHY_IDLE,      /* a kernel thread without work */
	WHY_STOPPED,
	WHY_TRACED,
	WHY_OTHER, /* a state without a name */
	WHY_PHASES,
};

/* The file of the descriptor that a blocked call is about. */
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
	WHY_ANYWHERE, /* not told: the thread is not blocked */
};

/* Keys of the map end after the last part of task that is asked for. */
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
	__u64 count;	    /* phases, those that go on included */
	__u64 phases;	    /* set by the loader: the same, without those that another row counts */
	__u64 user, system; /* WHY_ON_CPU: what the kernel charged to the two modes, by its own clock */
	struct interval_maximum longest[MAXIMUM_SLOTS];
	__u64 name_stamp;
	char name[TASK_KEY_COMM_LEN];
};

/* The same for the lengths of phases off a CPU that have ended. */
struct why_wait_key {
	struct hist_slot slot;  /* first; filled in by hist_add_key() */
	__u32 call;             /* as slot, phase and kind of struct why_key */
	__u16 phase, kind;
	struct task_key task;
};

/* Turns on a CPU that are remembered, a power of two; and the last ones, each of which is charged. */
#define WHY_TURNS 256
#define WHY_LAST_TURNS 8

/* The same for the time of waits for a CPU in which threads of that process ran on it. The value is a u64, in ns. */
struct why_behind_key {
	__u32 writer;
	__u32 phase;
	char comm[TASK_KEY_COMM_LEN];
	struct task_key task;
};

/* A phase that goes on, for reports. */
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
	OBJECT_LOCAL,     /* the same of a socket without a peer: its own address */
	OBJECT_FUTEX,     /* id: its address, and the process */
	OBJECT_LOCK,      /* id: the address of a lock of the kernel */
	OBJECT_MMAP_LOCK, /* the same, of the mmap lock of the thread's process */
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

/* The begin of a struct file_name, whose size is that of the whole name. */
struct why_object_name {
	__u32 flags, mode;
	__u64 inode;
	__u32 size, zero;
	char names[152]; /* OBJECT_UNIX: a struct socket_address */
};

/* ns is cumulative, as in struct why_sums. The rest is written once. */
struct why_object_sums {
	__u64 ns;
	__u32 device, zero; /* of a block device: its number */
	struct why_object_name name;
};

/* A wait that goes on, for reports. */
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
