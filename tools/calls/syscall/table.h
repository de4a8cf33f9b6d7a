/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the arguments of system calls are: a line for each call in table.c. From that follows what
 * the kernel's side reads (syscall_fetches()) and how it is shown (calls/syscall/decode.h).
 */
#ifndef TALLY_SYSCALL_TABLE_H
#define TALLY_SYSCALL_TABLE_H

#include "base/types.h"
#include "host/syscalls.h"
#include "calls/syscall/names.h"

#include "bpf/calls/trace.h"

enum argument_kind {
	ARG_NONE,               /* there are no more */
	/* Values. */
	ARG_INT,                /* 32 bits with a sign: numbers, pids, uids */
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
	ARG_CREATE_MODE,        /* there if the flags before it create a file */
	ARG_OPEN_FLAGS,
	ARG_NAMES,              /* of argument.names */
	ARG_FCNTL,              /* the third of fcntl: by its second; of some, a struct flock */
	ARG_PRCTL,              /* the second of prctl: by its first; of some, a string */
	ARG_FUTEX_OP,
	ARG_FUTEX_VALUE,        /* its sixth: by its second */
	ARG_SOCKET_OPTION,      /* the third of setsockopt: by its second */
	ARG_CLONE_FLAGS,        /* with a signal in the lowest byte */
	ARG_SIGNAL,
	ARG_MAKEDEV,
	ARG_MKNOD_MODE,         /* with a file type; the next is a device if that is one */
	ARG_PROTOCOL,           /* the third of socket: by its first */
	ARG_QUOTA_COMMAND,
	ARG_MOUNT_FLAGS,
	ARG_HUGE_NAMES,         /* ARG_NAMES, and a page size */
	ARG_NAMED_NUMBER,
	ARG_IO_PRIORITY,
	ARG_SIGNAL_OF_LONG,
	ARG_IPC_FLAGS,          /* of shmget and its like: with permissions */
	ARG_UNUSED,             /* not shown */
	/* Pointers to what is read. */
	ARG_STRING,
	ARG_STRINGS,            /* argv */
	ARG_BUFFER,
	ARG_SOCKADDR,
	ARG_STRUCT,             /* of argument.layout, an array where there is a length */
	ARG_FD_SET,
	ARG_CPU_SET,
	ARG_NODE_SET,           /* the next argument: how many bits, and one */
	ARG_FUTEX_TIMEOUT,      /* STRUCT_TIMESPEC, or a number: by the second of its call */
	ARG_SOCKET_VALUE,       /* by the second and third */
	/* Pointers to what tells of buffers, TRACE_VECTOR_ARG of its call. */
	ARG_VECTOR,             /* an array of struct iovec; the next argument: how many */
	ARG_MESSAGE,            /* struct msghdr */
	ARG_MESSAGES,           /* an array of struct mmsghdr; the next argument: how many */
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
	STRUCT_OF_MEMBERS,      /* from here on: calls/syscall/layouts.h */
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
	STRUCT_SET_AND_SIZE,
	STRUCT_IPC_MESSAGE,
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
	u8 out;                 /* enum trace_when: written by the call, and read then */
	u8 after;               /* likewise: read at the begin, and again then (PART_AFTER) */
	u8 changed;             /* read by the call, and then written */
	u8 length;              /* enum trace_value: bytes, or elements of an array */
	u8 pointed;             /* that value points to the length */
	u8 array;
	u8 sized;               /* a struct: no more of it than the length is there */
	u8 told;                /* what is read again stands behind it, not with the result */
	u8 within;              /* struct trace_fetch */
	u8 wide;                /* ARG_NAMES: of 64 bits */
	u8 if_arg;              /* struct trace_fetch */
	u8 if_small;
	u32 if_values;
	u32 after_values;       /* if_values of what is read again */
	const struct value_names *names;
};

/* Has the kernel a value of 32 bits there? Then the upper half of the register is not looked at. */
bool argument_is_narrow(const struct argument *a);

enum result_kind {
	RESULT_NUMBER,
	RESULT_POINTER,
	RESULT_OCTAL,
	RESULT_FD,
	RESULT_FD_BY_COMMAND,   /* fcntl: of some commands */
	RESULT_SIGNAL,
	RESULT_SCHEDULER,
	RESULT_NAMES,           /* flags, of signature.result_names */
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
	u8 by;                  /* the argument that is its command, and 1; 0: it has none */
	u32 frame;              /* struct trace_call */
	u32 command;            /* of a line of a command */
	const struct value_names *result_names;
};

/* Of the call of that name, or NULL. */
const struct signature *syscall_signature(const char *name);

/* All of them: n is their number. */
const struct signature *syscall_signatures(size_t *n);

/* All lines of commands. */
const struct signature *syscall_commands(size_t *n);

/* What the call of these arguments is: s, or the line of its command. */
const struct signature *syscall_commanded(const struct signature *s, const u64 *value);

/* Bytes of one such struct. */
u32 struct_layout_size(enum struct_layout layout);

/*
 * What the kernel's side is to read of a call: c->fetch, vector, descriptors; of buffers, at most
 * so many bytes. Structs differ between the two tables; those of 32-bit calls are not read.
 */
void syscall_fetches(struct trace_call *c, const struct signature *s, enum syscall_abi abi,
		     u32 buffers_most);

#endif /* TALLY_SYSCALL_TABLE_H */
