/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snap --waits: which thread waits for which. A pass lists the threads (waits.c). The kernel's own records
 * (wait_tasks.c, wait_kernel.c, wait_sockets.c), the memory of processes (wait_futex.c, wait_polls.c), /proc
 * (wait_files.c, wait_locks.c) and stacks (wait_servers.c) say what each waits for. A second pass shows which threads
 * have run meanwhile (wait_passes.c). wait_graph.c finds threads that cannot proceed; wait_rows.c and wait_row.c show
 * them.
 *
 * Functions of type int return 0 or a negative errno.
 */
#ifndef TALLY_SNAP_WAITS_H
#define TALLY_SNAP_WAITS_H

#include "calls/snap/snap.h"

/* Limits of one picture; the report says if one was reached. */
#define WAITS_MOST_READS 50000		  /* reads of memory, for owners of futexes and descriptors of polls */
#define WAITS_MAPS_NS (2 * NSEC_PER_SEC)  /* CPU time for all lists of mappings together */
#define WAITS_GRAPH_NS (2 * NSEC_PER_SEC) /* CPU time to find stuck threads */
#define WAITS_MOST_DESCRIPTORS 500000
#define WAITS_MOST_TARGETS 200000

#define WAITS_NOBODY UINT32_MAX

enum wait_why {
	WAIT_NONE, /* no wait for a thread is known */
	WAIT_MUTEX,
	WAIT_FUTEX, /* a futex of another kind, which has no owner */
	WAIT_JOIN,
	WAIT_FLOCK,
	WAIT_FCNTL,
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_CHILD,
	WAIT_VFORK,
	WAIT_TRACER,
	WAIT_FUSE, /* a file server: wait_servers.h */
	WAIT_NFS,
	WAIT_KERNEL_MUTEX,
	WAIT_RWSEM_READ,
	WAIT_RWSEM_WRITE,
	WAIT_SEMAPHORE,
	WAIT_WHYS,
};

extern const char *const wait_why_names[WAIT_WHYS];

/* Whether only some kinds of waits were requested. */
static inline bool snap__is_partial(const struct snap *s)
{
	return s->deadlocks || s->servers || s->locks;
}

/* Threads are numbered by ascending pid and tid; the number of a process is that of its first thread. */
struct wait_target {
	u32 thread;
	bool whole_process; /* any of its threads */
};

struct wait_thread {
	const struct snap_thread *of;
	u32 process, nthreads; /* the number of its process, and the number of threads in that process */
	enum wait_why why;
	u32 first, n;			  /* its targets */
	bool complete;			  /* no other thread and no timeout can end the wait */
	bool moved;			  /* it has run between the two passes */
	bool stuck;			  /* the wait is complete, and all threads that could end it are stuck */
	u32 next;			  /* the thread of the first target, or WAITS_NOBODY */
	u32 cycle;			  /* 1 + number of the cycle it is in; 0: none */
	const struct wait_server *server; /* NULL: a thread */
	bool leads_to_server;		  /* a server waits for it, or it is one */
	u64 lock_wait_ns; /* end of a chain: the longest wait in state D for a kernel lock that it holds */
	u32 waiters;	  /* in scope and not moved, direct or indirect; without threads of its own cycle */
};

/* Sorted by key. */
struct wait_index {
	u64 key;
	u32 thread;
};

enum wait_order {
	WAITS_BY_OWN_TID,   /* pid namespace << 32 | tid in it */
	WAITS_BY_SEEN_PID,  /* pid in /proc: first threads */
	WAITS_BY_PARENT,    /* pid of the parent: first threads */
	WAITS_BY_CLEAR_TID, /* the address, for threads of all address spaces */
	WAITS_BY_TASK,	    /* the address of its task_struct */
	WAITS_BY_MEMORY,    /* first threads */
	WAITS_ORDERS,
};

struct snap_waits {
	struct snap *snap;
	struct wait_thread *thread;
	size_t n;
	struct wait_index *index[WAITS_ORDERS];
	size_t nindex[WAITS_ORDERS];
	struct wait_target *target;
	size_t ntargets;
	u32 ncycles;
	struct wait_server **server; /* wait_servers.h */
	size_t nservers;
	u64 reads, maps_ns, descriptors; /* used so far */
	u64 unread;			 /* waits whose reason could not be read */
	bool too_many;			 /* a limit above was reached */
	u64 moved;
};

/* --- waits.c ---------------------------------------------------------------------------------- */

/* Numbers the threads of the pass. */
int snap_waits__init(struct snap_waits *w, struct snap *s);
void snap_waits__free(struct snap_waits *w);

struct wait_thread *snap_waits__thread(struct snap_waits *w, u32 pid, u32 tid);

/* The position after the last element whose key is at most this one, so that such an element, if any, precedes it. */
size_t snap_waits__up_to(const struct snap_waits *w, enum wait_order order, u64 key);

/* The only thread or process with this key, or WAITS_NOBODY. */
u32 snap_waits__find(const struct snap_waits *w, enum wait_order order, u64 key);
u32 snap_waits__by_own_tid(const struct snap_waits *w, const struct snap_thread *beside, u32 tid);

/* Reads words from the memory of the thread's process. Returns false, and counts that, if they cannot be read. */
bool snap_waits__read(struct snap_waits *w, const struct wait_thread *t, u64 address, void *to, size_t size);

/* Starts the target list of a thread, and adds a target. */
void snap_waits__begin(struct snap_waits *w, struct wait_thread *t, enum wait_why why, bool complete);
int snap_waits__add(struct snap_waits *w, struct wait_thread *t, u32 thread, bool whole_process);
int snap_waits__add_target(struct snap_waits *w, u32 thread, bool whole_process);

/* "/proc/PID/NAME" of the process of a thread, even if its first thread has ended. */
#define WAITS_PATH 64
void snap_waits__path(char path[WAITS_PATH], const struct wait_thread *t, const char *name);

/* --- targets of a thread: each function ignores other kinds of waits --------------------------- */

int snap_waits__of_tasks(struct snap_waits *w, struct wait_thread *t);
int snap_waits__of_futex(struct snap_waits *w, struct wait_thread *t);
int snap_waits__of_kernel_lock(struct snap_waits *w, struct wait_thread *t);

/* Sets lock_wait_ns of all threads, after snap_waits__find_cycles(). */
void snap_waits__time_kernel_locks(struct snap_waits *w);

/*
 * The lock of the kernel for which a thread sleeps: "rtnl_mutex", "mmap_lock of 812 (java)", or its address, allocated.
 * *text is NULL if it sleeps for none. Returns 0 or -ENOMEM.
 */
int snap_waits__lock_text(const struct snap_waits *w, const struct snap_thread *t, char **text);

/* Each handles all threads in one call. */
int snap_waits__of_locks(struct snap_waits *w);
int snap_waits__of_files(struct snap_waits *w);

/* The kind of file lock that the thread's call waits for, or WAIT_NONE. */
enum wait_why snap_waits__lock_kind(const struct snap_thread *t);

/* --- wait_sockets.c ---------------------------------------------------------------------------- */

/* Initialise to all zeros. */
struct wait_sockets {
	struct snap_socket *socket; /* sorted by inode */
	struct snap_socket **by_ends;
	size_t n;
	bool is_cut; /* there are more than WAITS_MOST_DESCRIPTORS */
};

/* Reads the connected sockets of all processes, and sorts them. visitor: show_socket of snap.bpf.c. */
int wait_sockets__read(struct wait_sockets *s, const struct bpf_program *visitor);

/* Sorts socket[n], which may have a socket several times. */
int wait_sockets__sort(struct wait_sockets *s);

/*
 * The inode of the socket at the other end; 0: not known, or on another host. *is_sure: only what holds that socket can
 * send to this one.
 */
u64 wait_sockets__peer(const struct wait_sockets *s, u64 inode, bool *is_sure);
void wait_sockets__free(struct wait_sockets *s);

/* --- wait_polls.c ------------------------------------------------------------------------------ */

/* The only descriptor that a thread in poll(2) or ppoll(2) waits for. */
struct wait_poll {
	u32 fd;
	bool reads, writes;
	bool has_timeout;
};

/* Returns false if the thread is in no such call, or if its memory cannot be read, which is counted. */
bool snap_waits__poll(struct snap_waits *w, const struct wait_thread *t, struct wait_poll *poll);

/* The file of the first descriptor of the thread's call, or NULL. *fd: its number. Valid as long as *r. */
const struct file_name *snap_waits__file(const struct wait_thread *t, struct trace_record *r, u32 *fd);

/* --- wait_passes.c ----------------------------------------------------------------------------- */

/* Does all of this for the first pass; takes the second pass into *again. */
int snap_waits__collect(struct snap_waits *w, struct snap *s, struct snap_pass *again, int link_fd,
			volatile s64 *clock_ahead);

/* --- wait_graph.c, wait_row.c, wait_rows.c ------------------------------------------------------------------ */

void snap_waits__find_cycles(struct snap_waits *w);

/* Whether no thread of the cycle has run meanwhile, and no other thread could end a wait in it. */
bool snap_waits__is_deadlock(const struct snap_waits *w, u32 cycle);

/* Cycles come first, and futexes without a known owner last. */
enum wait_rank {
	RANK_DEADLOCK,
	RANK_CYCLE,
	RANK_CHAIN,
	RANK_UNKNOWN
};

struct wait_row {
	u32 thread, to;		/* to: may be WAITS_NOBODY */
	u32 like;		/* number of threads with this wait, including this one */
	u32 depth, chain, rank; /* rank: enum wait_rank */
};

int wait_row__fill(const struct snap_waits *w, const struct wait_row *row, struct report_row *out);
int snap_waits__report(struct snap_waits *w, struct measurement *m, struct report *r);

#endif /* TALLY_SNAP_WAITS_H */
