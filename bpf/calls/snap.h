/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a thread at this moment, as snap.bpf.c writes it: one record for each thread in scope. Records are
 * written to the iterator's own file, so none can be lost.
 */
#ifndef TALLY_SNAP_H
#define TALLY_SNAP_H

#include "file.h"
#include "task_key.h"
#include "trace.h"
#include "walk_regs.h"

/* Number of frames of a kernel stack to examine. */
#define SNAP_FRAMES 64

/* The position of a thread that is not in a system call. */
enum snap_place {
	SNAP_IN_CALL,
	SNAP_ON_CPU,            /* on a CPU, so its registers are in use: it may be in a call or in user mode */
	SNAP_KERNEL_THREAD,     /* or a thread that the kernel started for a process: it makes no calls */
	SNAP_OUTSIDE,           /* interrupted in user mode, or in a page fault, as the outermost function shows */
	SNAP_ENDED,             /* exited, but not reaped yet */
};

enum snap_flag {
	SNAP_OUT_OF_SCOPE = 1,  /* written because other threads may wait for it */
	SNAP_VFORKED = 2,       /* its parent waits until it calls exec or exit */
};

/* Locks of the kernel for which a thread sleeps. */
enum snap_lock {
	SNAP_NO_LOCK,           /* none, or the kernel does not record it */
	SNAP_KERNEL_MUTEX,
	SNAP_RWSEM_READ,
	SNAP_RWSEM_WRITE,
	SNAP_SEMAPHORE,
};

/* Addresses in the kernel, for the loader to compare. */
struct snap_lock_wait {
	__u64 lock;
	__u64 owner;            /* a task (snap_relations.task); 0: not known */
	__u64 memory;           /* if the lock is the mmap lock of a process: its snap_relations.memory */
	__u32 kind;             /* enum snap_lock */
	__u32 pad;
};

/* Read for --waits and stacks; zeros without them. */
struct snap_relations {
	__u64 began;            /* when it was started */
	__u64 switches;         /* how often it has left a CPU: the same number later means that it has not run */
	__u64 memory;           /* equal for tasks that share it; 0: none */
	__u64 task;             /* the address of its task_struct */
	__u64 clear_tid;        /* where the kernel clears its tid and wakes a futex when it ends; 0: nowhere */
	__u32 parent, tracer;   /* pids in the initial pid namespace; tracer 0: none */
	__u32 own_tid;          /* in its own pid namespace */
	__u32 seen_pid;         /* of its process, in the loader's pid namespace: /proc/PID */
	struct snap_lock_wait lock;
};

struct snap_thread {
	__u64 at_ns;            /* time of the examination, CLOCK_MONOTONIC */
	/*
	 * The time at which it entered its state, by the scheduler's clock (0: unknown), and by how much the true time
	 * may be later. The loader converts it with snap_clock_ahead.
	 */
	__u64 since, doubt_ns;
	__u64 value[TRACE_VALUES];      /* the arguments of the call; the rest is zero */
	/* Kernel addresses: the innermost frame outside of the scheduler, and the outermost one. 0: unknown. */
	__u64 waits_in, entry;
	struct task_key task;   /* all parts; cpu: its current CPU, or its last one */
	__u32 number;           /* of the call */
	__u32 slot;             /* abi * SYSCALL_NUMBERS + number, or the abi's last */
	char state;             /* as in /proc/PID/stat */
	__u8 place;             /* enum snap_place */
	__u16 used;             /* of data */
	__u16 frames;           /* kernel addresses at the start of data, innermost first; only if requested */
	__u16 flags;            /* enum snap_flag, ORed */
	struct snap_relations relations;
	struct walk_regs regs;  /* of user mode, for user stacks; ip 0: none, or not those of a 64-bit program */
	__u64 pthread;          /* its pthread_self(), set together with regs; 0: unknown */
	/* Followed by the frames, then by chunks (struct trace_chunk) with the files of the call's descriptors. */
};

/* The address and port of one end of a TCP connection. */
struct snap_end {
	__u8 ip[16];            /* IPv4 addresses are mapped to IPv6: ::ffff:192.0.2.1 */
	__u32 port;
	__u32 pad;
};

/*
 * A connected socket, for --waits: one record for each descriptor of a connected UNIX or TCP socket. Two sockets are
 * the ends of a TCP connection if the local end of each is the remote end of the other.
 */
struct snap_socket {
	__u64 inode;
	__u64 peer;             /* UNIX: inode of the other end; 0: unknown */
	__u64 netns;            /* TCP: equal for all sockets of a network namespace */
	__u32 is_tcp;
	__u32 type;             /* SOCK_ */
	struct snap_end local, remote;
};

#define SNAP_ROOM (SNAP_FRAMES * sizeof(__u64) + TRACE_FDS * (sizeof(struct trace_chunk) + sizeof(struct file_name)))

struct snap_record {
	struct snap_thread thread;
	__u8 data[SNAP_ROOM];
};

#endif /* TALLY_SNAP_H */
