/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of system calls: a line for each call in table.c. It determines what the BPF
 * program reads (syscall_fetches()) and how the data is shown (calls/syscall/decode.h).
 */
#ifndef TALLY_SYSCALL_TABLE_H
#define TALLY_SYSCALL_TABLE_H

#include "base/types.h"
#include "host/syscalls.h"
#include "calls/syscall/names.h"

#include "bpf/calls/trace.h"

enum argument_kind {
	ARG_NONE,               /* marks the end of the arguments */
	/* Values. */
	ARG_INT,                /* signed, 32 bits: numbers, pids, uids */
	ARG_LONG,
	ARG_UINT,
	ARG_SIZE,
	ARG_HEX,
	ARG_HEX32,
	ARG_SIZE32,
	ARG_POINTER,
	ARG_FD,
	ARG_DIRFD,
	ARG_MODE,	 /* octal */
	ARG_CREATE_MODE,        /* present if the flags before it create a file */
	ARG_OPEN_FLAGS,
	ARG_NAMES,              /* named by argument.names */
	ARG_FCNTL,              /* fcntl's third argument: depends on the second; may be a struct flock */
	ARG_PRCTL,              /* prctl's second argument: depends on the first; may be a string */
	ARG_FUTEX_OP,
	ARG_FUTEX_VALUE,        /* futex's sixth argument: depends on the second */
	ARG_SOCKET_OPTION,      /* setsockopt's third argument: depends on the second */
	ARG_CLONE_FLAGS,        /* has a signal in the lowest byte */
	ARG_SIGNAL,
	ARG_MAKEDEV,
	ARG_MKNOD_MODE,         /* has a file type; for device types the next argument is a device */
	ARG_PROTOCOL,           /* socket's third argument: depends on the first */
	ARG_QUOTA_COMMAND,
	ARG_MOUNT_FLAGS,
	ARG_HUGE_NAMES,         /* ARG_NAMES with a page size */
	ARG_NAMED_NUMBER,
	ARG_IO_PRIORITY,
	ARG_SIGNAL_OF_LONG,
	ARG_IPC_FLAGS,          /* of shmget and the like: with permissions */
	ARG_UNUSED,             /* not shown */
	/* Pointers to data that are read. */
	ARG_STRING,
	ARG_STRINGS,            /* argv */
	ARG_BUFFER,
	ARG_MESSAGE_DATA,       /* the same for a socket: the first argument is the socket, the fifth an address */
	ARG_SOCKADDR,
	ARG_STRUCT,             /* layout in argument.layout; an array if it has a length */
	ARG_FD_SET,
	ARG_CPU_SET,
	ARG_NODE_SET,           /* the next argument is the number of bits, plus one */
	ARG_FUTEX_TIMEOUT,      /* STRUCT_TIMESPEC, or a number: depends on the second argument */
	ARG_SOCKET_VALUE,       /* depends on the second and third arguments */
	ARG_IPC_MESSAGE,        /* struct msgbuf: a type, and a text of the given length */
	ARG_SET_AND_SIZE,       /* a struct trace_iovec that describes a signal set */
	/* Pointers to descriptions of buffers: TRACE_VECTOR_ARG of the call. */
	ARG_VECTOR,             /* an array of struct iovec; the next argument is its length */
	ARG_MESSAGE,            /* struct msghdr */
	ARG_MESSAGES,           /* an array of struct mmsghdr; the next argument is its length */
};

enum struct_layout {
	STRUCT_INT,	 /* [3] */
	STRUCT_FD_PAIR,         /* [3, 4] */
	STRUCT_OFFSET,
	STRUCT_TIMESPEC,
	STRUCT_TIMESPEC_PAIR,
	STRUCT_TIMEVAL,
	STRUCT_ITIMERSPEC,
	STRUCT_ITIMERVAL,
	STRUCT_STAT,
	STRUCT_STATX,
	STRUCT_RLIMIT,
	STRUCT_SIGSET,
	STRUCT_SIGACTION,
	STRUCT_WAIT_STATUS,
	STRUCT_POLLFD,
	STRUCT_EPOLL_EVENT,
	STRUCT_CLONE_ARGS,
	STRUCT_OPEN_HOW,
	STRUCT_PAGE,            /* an address, "NULL" for 0 */
	STRUCT_NODE,            /* a node number */
	STRUCT_PAGE_STATUS,     /* a node number, or the error of the page: "-EFAULT" */
	STRUCT_ID,              /* 3 */
	STRUCT_RUSAGE,
	STRUCT_TMS,
	STRUCT_SYSINFO,
	STRUCT_UTSNAME,
	STRUCT_STATFS,
	STRUCT_CAP_HEADER,
	STRUCT_CAPS,
	STRUCT_SCHED_ATTR,
	STRUCT_FLOCK,
	STRUCT_SIGINFO,
	STRUCT_SIGEVENT,
	STRUCT_SIGSTACK,
	STRUCT_OF_MEMBERS,      /* from here on, see calls/syscall/layouts.h */
	STRUCT_TERMIOS = STRUCT_OF_MEMBERS,
	STRUCT_WINSIZE,
	STRUCT_OWNER,
	STRUCT_U64,
	STRUCT_FILTER,
	STRUCT_IOVEC,
	STRUCT_WAITER,
	STRUCT_UTIMES,
	STRUCT_MQ_ATTR,
	STRUCT_SEMBUF,
	STRUCT_PERF_ATTR,
	STRUCT_RING,
	STRUCT_MOUNT_ATTR,
	STRUCT_RULESET,
	STRUCT_PATH_BENEATH,
	STRUCT_NET_PORT,
	STRUCT_HANDLE,
	STRUCT_TIMEX,
	STRUCT_FAULTS_API,
	STRUCT_BPF_MAP,
	STRUCT_BPF_ELEMENT,
	STRUCT_BPF_NEXT_KEY,
	STRUCT_BPF_PROGRAM,
	STRUCT_BPF_OBJECT,
	STRUCT_BPF_ATTACH,
	STRUCT_BPF_NEXT_ID,
	STRUCT_BPF_ID,
	STRUCT_BPF_INFO,
	STRUCT_BPF_TRACEPOINT,
	STRUCT_BPF_BTF,
	STRUCT_BPF_LINK,
	STRUCT_BPF_MAP_FD,
	STRUCT_BPF_LINK_FD,
	STRUCT_BPF_STATS,
	STRUCT_BPF_ITERATOR,
	STRUCT_BPF_BIND,
	STRUCT_HINT,            /* [RWH_WRITE_LIFE_SHORT] */
	STRUCT_SECCOMP_ACTION,
	STRUCT_INODE_FLAGS,
	STRUCT_TCP_INFO,
	STRUCT_SHM_STATUS,
	STRUCT_SEM_STATUS,
	STRUCT_MSG_STATUS,
	STRUCT_CACHE_RANGE,
	STRUCT_CACHE_PAGES,
	STRUCT_SIGNAL_FRAME,    /* {mask=[HUP]} */
	STRUCT_INTERFACE_INDEX,
	STRUCT_INTERFACE_MTU,
	STRUCT_INTERFACE_FLAGS,
	STRUCT_INTERFACE_ADDRESS,
	STRUCT_CLONE_RANGE,
	STRUCT_TRIM,
	STRUCT_EXTENTS,
	STRUCT_FAULTS_REGISTER,
	STRUCT_FAULTS_RANGE,
	STRUCT_FAULTS_COPY,
	STRUCT_FAULTS_ZERO,
	STRUCT_BPF_QUERY,
	STRUCT_BPF_LINK_UPDATE,
	STRUCT_BPF_BATCH,
	STRUCT_BPF_RUN,
	STRUCT_TIMEVAL_PAIR,
	STRUCTS,
};

struct argument {
	u8 kind;                /* enum argument_kind */
	u8 layout;              /* enum struct_layout */
	u8 out;                 /* enum trace_when: written by the call, and read at this point */
	u8 after;               /* enum trace_when: read at entry, and again at this point (PART_AFTER) */
	u8 changed;             /* read by the call, then changed by it */
	u8 length;              /* enum trace_value: number of bytes, or of array elements */
	u8 pointed;             /* `length` points to the length */
	u8 array;
	u8 sized;               /* a struct of which only `length` bytes are present */
	u8 told;                /* the second value is shown after the first, not with the result */
	u8 within;              /* struct trace_fetch */
	u8 wide;                /* ARG_NAMES: has 64 bits */
	u8 if_arg;              /* struct trace_fetch */
	u8 if_small;
	u32 if_values;
	u32 after_values;       /* if_values for the second read */
	const struct value_names *names;        /* ARG_SOCKET_OPTION: names that precede those common to both calls */
};

/* Whether the kernel uses only the lower 32 bits of the register. */
bool argument_is_narrow(const struct argument *a);

enum result_kind {
	RESULT_NUMBER,
	RESULT_POINTER,
	RESULT_OCTAL,
	RESULT_FD,
	RESULT_FD_BY_COMMAND,   /* of fcntl: only for some commands */
	RESULT_SIGNAL,
	RESULT_SCHEDULER,
	RESULT_NAMES,           /* flags named by signature.result_names */
	RESULT_IO_PRIORITY,
	RESULT_LOCK_TYPE,
};

struct signature {
	const char *name;
	struct argument arg[TRACE_ARGUMENTS];
	u8 result;              /* enum result_kind */
	u8 native;              /* 32-bit calls have other arguments */
	u8 no_return;
	u8 exec;
	u8 by;                  /* index of the argument that is its command, plus 1; 0: none */
	u32 frame;              /* see struct trace_call */
	u32 command;            /* for lines of commands: their command */
	const struct value_names *result_names;
};

/* Returns the line of the call, or NULL. */
const struct signature *syscall_signature(const char *name);

/* All lines of calls; *n: their number. */
const struct signature *syscall_signatures(size_t *n);

/* All lines of commands; *n: their number. */
const struct signature *syscall_commands(size_t *n);

/* The line for these arguments: s itself, or the line of its command. */
const struct signature *syscall_commanded(const struct signature *s, const u64 *value);

/* Size of one such struct. */
u32 struct_layout_size(enum struct_layout layout);

/*
 * Describes in c->fetch, vector and descriptors what the BPF program reads of a call: at most
 * buffers_most bytes of buffers. Structs differ between the two call tables. Structs of 32-bit
 * calls are read only if their layout is the same.
 */
void syscall_fetches(struct trace_call *c, const struct signature *s, enum syscall_abi abi,
		     u32 buffers_most);

#endif /* TALLY_SYSCALL_TABLE_H */
