/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single system calls, as trace.bpf.c sends them: what to read of each call's arguments, which the loader specifies,
 * and what was read.
 */
#ifndef TALLY_TRACE_H
#define TALLY_TRACE_H

#include "file.h"
#include "socket.h"
#include "stack.h"
#include "syscalls.h"

/* For both tables. The last number of each stands for all larger ones. */
#define TRACE_SLOTS (SYSCALL_ABIS * SYSCALL_NUMBERS)

/*
 * Values of a call: its arguments, its result, and 1. With 1, the length of the target of a pointer is always a value
 * times a size.
 */
enum trace_value {
	TRACE_ARGUMENTS = 6,
	TRACE_RESULT = 6,
	TRACE_ONE = 7,
	TRACE_VALUES,
};

enum trace_fetch_kind {
	FETCH_BYTES,
	FETCH_STRING,
	FETCH_BITS,             /* an fd_set: the length is in bits, stored in whole u64s */
};

enum trace_when {
	FETCH_AT_BEGIN,
	FETCH_IF_SUCCEEDED,     /* at the end: the call's output */
	FETCH_IF_FOUND,         /* the same, if the result is above 0 */
	FETCH_IF_INTERRUPTED,   /* the same, if a signal interrupted it: the remainder to continue with */
};

/* How to read one argument. */
struct trace_fetch {
	__u8 kind;
	__u8 id;                /* TRACE_ID() of the chunk; the argument */
	__u8 when;              /* enum trace_when */
	__u8 length;            /* FETCH_BYTES: enum trace_value, times size */
	__u16 size;
	__u16 most;             /* bytes read at most */
	__u8 pointed;           /* the value points to the length, a u32 */
	__u8 changed;           /* the call changes it: at the end it is too late to read it */
	__u8 if_arg;            /* read only if the lower 5 bits of that value are in if_values */
	__u8 if_small;          /* and no other bits of it are set */
	__u32 if_values;        /* a set, as bits; 0: any */
	__u8 within;            /* 1 + enum trace_value: an upper bound of the length; 0: none */
	__u8 described;         /* the target is a struct trace_iovec: its buffer is read, unless that is NULL */
	__u8 head;              /* bytes before the part that the length covers */
	__u8 zeroes[1];
};

#define TRACE_FETCHES 10

/*
 * Calls whose arguments depend on one of them, their command (ioctl, bpf, keyctl): each such command has its own
 * entry, after those of all calls.
 */
struct trace_command {
	__u32 slot, command;
};

#define TRACE_COMMANDS 384      /* of both tables */

/* Buffers described by an array of struct iovec, or messages with such arrays. */
enum trace_vector {
	VECTOR_NONE,
	VECTOR_WRITTEN,         /* (fd, iov, count): read at the begin */
	VECTOR_READ,            /* the call fills them */
	VECTOR_SENT,            /* (fd, msghdr) */
	VECTOR_RECEIVED,
	VECTOR_SENT_MANY,       /* (fd, mmsghdr, count) */
	VECTOR_RECEIVED_MANY,
};

#define TRACE_VECTOR_ARG 1      /* in all calls that have one */
#define TRACE_VECTOR_COUNT 2

/* Descriptors that a call returns, or writes to the target of an argument. */
enum trace_gives {
	GIVES_NO_FD,
	GIVES_FD,
	GIVES_FD_BY_COMMAND,    /* fcntl: for some commands */
	GIVES_FD_PAIR,          /* written to the target of .pair */
};

#define TRACE_FDS 2

/* Descriptors that a call waits for. */
enum trace_waits {
	WAITS_FOR_NONE,
	WAITS_FOR_ARRAY,        /* (pollfd, count) */
	WAITS_FOR_SETS,         /* (count, fd_set, fd_set, fd_set) */
};

/* Bits examined: no more than FD_SETSIZE are in use. */
#define TRACE_SET_BITS 1024

struct trace_call {
	__u8 wanted;            /* to be shown */
	__u8 no_return;         /* exit, exit_group */
	__u8 exec;
	__u8 forks;             /* returns in the child as well, with 0 */
	__u8 argv;              /* the argument that is a NULL-terminated array of strings; 0: none */
	__u8 fetches;
	__u8 vector;            /* enum trace_vector */
	__u8 gives;             /* enum trace_gives */
	__u8 pair;
	__u8 fds;
	__u8 fd[TRACE_FDS];     /* arguments that are descriptors */
	__u8 waits;             /* enum trace_waits */
	__u8 narrow;            /* 32-bit arguments, as bits: their upper half is undefined */
	__u8 command;           /* the argument that is the command, plus 1; 0: none */
	__u8 socket;            /* the first argument is a socket, with messages: PART_NETLINK is wanted */
	__u16 frame;            /* offset of the first argument from the stack pointer; 0: not on the stack */
	struct trace_fetch fetch[TRACE_FETCHES];
};

enum trace_state_of_call {
	TRACE_RETURNED,
	TRACE_ANSWERED,         /* returned without having begun: answered.bpf.h */
	TRACE_RUNNING,          /* when the record was made */
	TRACE_NO_RETURN,        /* a call that never returns */
	TRACE_ENDED,            /* the task ended in it */
	TRACE_SINCE_BEFORE,     /* running since before the trace; only the task is known */
	TRACE_FAULT,            /* not a call but a page fault; see enum trace_fault_value */
};

/* Values of a page fault. */
enum trace_fault_value {
	FAULT_ADDRESS,
	FAULT_IP,
	FAULT_ERROR,            /* bits of enum fault_error */
	FAULT_IN_KERNEL,        /* 1: in kernel code */
};

/* x86: the CPU's error code of a page fault. */
enum fault_error {
	FAULT_PRESENT = 1,      /* the page is present, but the access is not permitted */
	FAULT_WRITE = 2,
	FAULT_INSTRUCTION = 16,
};

enum trace_chunk_flags {
	TRACE_CHUNK_FAULT = 1,  /* could not be read */
	TRACE_CHUNK_CUT = 2,
	TRACE_CHUNK_NO_ROOM = 4,        /* in the record; CUT is set, too */
};

/* The subject of a chunk, in one byte: an argument (or TRACE_RESULT), and a part of it. */
enum trace_part {
	PART_TARGET,            /* the target of the pointer */
	PART_FD,                /* struct file_name: the descriptor's file */
	PART_FD_SECOND,         /* the same for the second of two */
	PART_NAME,              /* of a struct msghdr: an address, */
	PART_VECTOR,            /* an array of struct trace_iovec */
	PART_DATA,              /* its data: struct trace_data */
	PART_CONTROL,           /* of a struct msghdr: control messages */
	PART_LENGTHS,           /* u32: the msg_len of each of many messages */
	PART_AFTER,             /* the target of the pointer after the call */
	PART_NETLINK,           /* of a netlink socket's descriptor: its protocol, a u32 */
	PART_DESCRIBED,         /* the buffer that the pointer's target describes */
};

#define TRACE_ID(arg, part) ((arg) | (part) << 3)

/* Kernel ABI of 64-bit programs: struct iovec, struct user_msghdr. */
struct trace_iovec {
	__u64 base, length;
};

struct trace_message {
	__u64 name;
	__u32 name_length, pad;
	__u64 vector, count;
	__u64 control, control_length;
	__u32 flags, pad2;
};

/* struct mmsghdr */
struct trace_message_of_many {
	struct trace_message message;
	__u32 length, pad;
};

#define TRACE_IOVECS 8
#define TRACE_MESSAGES 8

/* Data read from the buffers of an array, one after the other. */
struct trace_data {
	__u16 bytes[TRACE_IOVECS];      /* of each buffer, or one of: */
	__u8 data[];
};

#define TRACE_DATA_FAULT 0xffff
#define TRACE_DATA_NO_ROOM 0xfffe

/* A socket: follows a struct file_name of mode S_IFSOCK, in place of the names. */
struct trace_socket {
	__u16 protocol, type;   /* IPPROTO_, SOCK_ */
	__u32 pad;
	__u64 peer;             /* AF_UNIX: inode of the socket at the other end; 0: none */
	struct socket_address local, remote;
};

/*
 * Data read for an argument; `bytes` bytes follow, padded to a multiple of 8. If an argument has several chunks of a
 * kind, element identifies each: a descriptor by its number, messages from 1 on. Otherwise it is 0.
 */
struct trace_chunk {
	__u8 id;                /* TRACE_ID() */
	__u8 flags;             /* enum trace_chunk_flags */
	__u16 bytes;
	union {
		__u32 element;  /* see above */
		__u32 cut;      /* argv: strings that were cut, as bits */
	};
	__u8 data[];
};

/*
 * Keeps struct trace_state, with the kernel's header, below 8 KiB, so that an element of task storage takes two pages
 * at most.
 */
#define TRACE_ROOM 7680

struct trace_record {
	__u64 time_ns;          /* of its end, CLOCK_MONOTONIC */
	__u64 start_ns;         /* 0: before the trace */
	__u64 value[TRACE_VALUES];
	__u64 ip;               /* where the task continues in user space: after the instruction of the call */
	__u32 pid, tid, cpu;
	__u32 slot;             /* abi * SYSCALL_NUMBERS + number, or the abi's last */
	__u32 number;
	__u16 state;            /* enum trace_state_of_call */
	__u16 used;             /* of data */
	char comm[16];
	struct stack_id stack;  /* where the call was made; zero: not taken */
	__u8 data[TRACE_ROOM];  /* chunks; the record ends after the last one */
};

/*
 * --summary: per CPU and generation (writer.h). Slot n has elements 2 n and 2 n + 1, for even and odd generations.
 * The loader ends a generation with the interval, then reads and clears the elements that no program writes any more,
 * so that all figures cover the same calls.
 */
struct trace_sum {
	__u64 count, errors, ns;
	__u64 squares[2];       /* of ns: 128 bits, lower half first */
	__u64 min_inv;          /* the largest ~ns */
	__u64 max_ns;
};

/* Calls that are running when the report is made; filled in by a visit of all tasks. */
struct trace_running {
	__u64 visit;            /* the last visit that filled this in */
	__u64 count, ns, max_ns;
};

#endif /* TALLY_TRACE_H */
