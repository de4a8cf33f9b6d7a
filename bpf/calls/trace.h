/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single system calls, as trace.bpf.c sends them: the loader specifies what to read of each call's arguments, and the
 * records contain what was read.
 */
#ifndef TALLY_TRACE_H
#define TALLY_TRACE_H

#include "file.h"
#include "socket.h"
#include "stack.h"
#include "syscalls.h"

/* Covers both tables. The last number of each table represents all larger ones. */
#define TRACE_SLOTS (SYSCALL_ABIS * SYSCALL_NUMBERS)

/*
 * Values of a call: its arguments, its result, and the constant 1. With this constant, the length of a pointer's target
 * is always a value times a size.
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
	FETCH_IF_FOUND,         /* at the end, if the result is above 0 */
	FETCH_IF_INTERRUPTED,   /* at the end, if a signal interrupted the call: the remainder to continue with */
};

/* How to read one argument. */
struct trace_fetch {
	__u8 kind;
	__u8 id;                /* TRACE_ID() of the chunk: includes the argument */
	__u8 when;              /* enum trace_when */
	__u8 length;            /* FETCH_BYTES: enum trace_value, times size */
	__u16 size;
	__u16 most;             /* maximum number of bytes to read */
	__u8 pointed;           /* the value points to the length, a u32 */
	__u8 changed;           /* the call changes the argument, so it cannot be read at the end */
	__u8 if_arg;            /* read only if if_values contains the lower 5 bits of this value */
	__u8 if_small;          /* and if no other bits of the value are set */
	__u32 if_values;        /* a set, as bits; 0: any */
	__u8 within;            /* 1 + enum trace_value: an upper bound of the length; 0: none */
	__u8 described;         /* the target is a struct trace_iovec: read its buffer, unless that is NULL */
	__u8 head;              /* bytes that precede the part covered by the length */
	__u8 zeroes[1];
};

#define TRACE_FETCHES 10

/*
 * Calls whose arguments depend on one of them, the command (ioctl, bpf, keyctl). Each such command has its own entry,
 * after the entries of all calls.
 */
struct trace_command {
	__u32 slot, command;
};

#define TRACE_COMMANDS 384      /* of both tables */

/* Buffers described by an array of struct iovec, or messages with such arrays. */
enum trace_vector {
	VECTOR_NONE,
	VECTOR_WRITTEN,         /* (fd, iov, count): read at the entry */
	VECTOR_READ,            /* the call fills the buffers */
	VECTOR_SENT,            /* (fd, msghdr) */
	VECTOR_RECEIVED,
	VECTOR_SENT_MANY,       /* (fd, mmsghdr, count) */
	VECTOR_RECEIVED_MANY,
};

#define TRACE_VECTOR_ARG 1      /* index of this argument in all calls that have one */
#define TRACE_VECTOR_COUNT 2

/* Descriptors that a call returns, or writes to the target of an argument. */
enum trace_gives {
	GIVES_NO_FD,
	GIVES_FD,
	GIVES_FD_BY_COMMAND,    /* fcntl: only for some commands */
	GIVES_FD_PAIR,          /* written to the target of .pair */
};

#define TRACE_FDS 2

/* Descriptors that a call waits for. */
enum trace_waits {
	WAITS_FOR_NONE,
	WAITS_FOR_ARRAY,        /* (pollfd, count) */
	WAITS_FOR_SETS,         /* (count, fd_set, fd_set, fd_set) */
};

/* Number of bits to examine: at most FD_SETSIZE are in use. */
#define TRACE_SET_BITS 1024

struct trace_call {
	__u8 wanted;            /* shown in the output */
	__u8 no_return;         /* exit, exit_group */
	__u8 exec;
	__u8 forks;             /* also returns in the child, with 0 */
	__u8 argv;              /* index of the argument that is a NULL-terminated array of strings; 0: none */
	__u8 fetches;
	__u8 vector;            /* enum trace_vector */
	__u8 gives;             /* enum trace_gives */
	__u8 pair;
	__u8 fds;
	__u8 fd[TRACE_FDS];     /* arguments that are descriptors */
	__u8 waits;             /* enum trace_waits */
	__u8 narrow;            /* one bit for each 32-bit argument: its upper half is undefined */
	__u8 command;           /* index of the argument that is the command, plus 1; 0: none */
	__u8 socket;            /* the first argument is a socket that carries messages: fetch PART_NETLINK */
	__u16 frame;            /* offset of the first argument from the stack pointer; 0: not on the stack */
	struct trace_fetch fetch[TRACE_FETCHES];
};

enum trace_state_of_call {
	TRACE_RETURNED,
	TRACE_ANSWERED,         /* returned without an entry: answered.bpf.h */
	TRACE_RUNNING,          /* still running when the record was made */
	TRACE_NO_RETURN,        /* a call that never returns */
	TRACE_ENDED,            /* the task ended in the call */
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

/* x86: error code of the CPU for a page fault. */
enum fault_error {
	FAULT_PRESENT = 1,      /* the page is present, but the access is not permitted */
	FAULT_WRITE = 2,
	FAULT_INSTRUCTION = 16,
};

enum trace_chunk_flags {
	TRACE_CHUNK_FAULT = 1,  /* could not be read */
	TRACE_CHUNK_CUT = 2,
	TRACE_CHUNK_NO_ROOM = 4,        /* no room in the record; CUT is also set */
};

/* The subject of a chunk, in one byte: an argument (or TRACE_RESULT), and a part of it. */
enum trace_part {
	PART_TARGET,            /* the target of the pointer */
	PART_FD,                /* struct file_name: the descriptor's file */
	PART_FD_SECOND,         /* the same for the second of two */
	PART_NAME,              /* of a struct msghdr: an address */
	PART_VECTOR,            /* an array of struct trace_iovec */
	PART_DATA,              /* data of the array: struct trace_data */
	PART_CONTROL,           /* of a struct msghdr: control messages */
	PART_LENGTHS,           /* u32: the msg_len of each message */
	PART_AFTER,             /* the target of the pointer after the call */
	PART_NETLINK,           /* of a netlink socket's descriptor: its protocol, a u32 */
	PART_DESCRIBED,         /* the buffer described by the pointer's target */
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

/* Data read from the buffers of an array, concatenated. */
struct trace_data {
	__u16 bytes[TRACE_IOVECS];      /* bytes of each buffer, or one of the following: */
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
 * kind, element identifies each chunk: by descriptor, or by the number of the message, counted from 1. Otherwise it is
 * 0.
 */
struct trace_chunk {
	__u8 id;                /* TRACE_ID() */
	__u8 flags;             /* enum trace_chunk_flags */
	__u16 bytes;
	union {
		__u32 element;  /* see above */
		__u32 cut;      /* argv: strings that were truncated, as bits */
	};
	__u8 data[];
};

/*
 * Keeps struct trace_state, including the kernel's header, below 8 KiB, so that an element of task storage takes at
 * most two pages.
 */
#define TRACE_ROOM 7680

struct trace_record {
	__u64 time_ns;          /* of the end, CLOCK_MONOTONIC */
	__u64 start_ns;         /* 0 if before the trace */
	__u64 value[TRACE_VALUES];
	__u64 ip;               /* address at which the task continues in user space, after the syscall instruction */
	__u32 pid, tid, cpu;
	__u32 slot;             /* abi * SYSCALL_NUMBERS + number, or the abi's last */
	__u32 number;
	__u16 state;            /* enum trace_state_of_call */
	__u16 used;             /* of data */
	char comm[16];
	struct stack_id stack;  /* stack of the call; zero if not taken */
	__u8 data[TRACE_ROOM];  /* chunks; the record ends after the last one */
};

/*
 * --summary: sums per CPU and generation (writer.h). Slot n has elements 2 n and 2 n + 1, for even and odd generations.
 * The loader ends a generation with the interval, then reads and clears the elements that no program writes any more,
 * so that all figures cover the same calls.
 */
struct trace_sum {
	__u64 count, errors, ns;
	__u64 squares[2];       /* of ns: 128 bits, lower half first */
	__u64 min_inv;          /* the largest ~ns */
	__u64 max_ns;
};

/* Calls that are running when the report is made; filled in by an iteration over all tasks. */
struct trace_running {
	__u64 visit;            /* number of the last iteration that filled this in */
	__u64 count, ns, max_ns;
};

#endif /* TALLY_TRACE_H */
