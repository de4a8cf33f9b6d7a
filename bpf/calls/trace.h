/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single system calls as they leave the kernel's side (trace.bpf.c): what is to be read of each
 * call's arguments, which the loader says, and what was.
 */
#ifndef TALLY_TRACE_H
#define TALLY_TRACE_H

#include "file.h"
#include "socket.h"
#include "syscalls.h"

/* Of both tables. The last number of each stands for all that are larger. */
#define TRACE_SLOTS (SYSCALL_ABIS * SYSCALL_NUMBERS)

/*
 * Values of a call: its arguments, its result, and 1, so that the length of what a pointer points
 * to is always a value times a size.
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
	FETCH_BITS,             /* an fd_set: the length is in bits, and there are whole u64s */
};

enum trace_when {
	FETCH_AT_BEGIN,
	FETCH_IF_SUCCEEDED,     /* at the end: what the call has written */
	FETCH_IF_FOUND,         /* likewise, if its result is above 0 */
	FETCH_IF_INTERRUPTED,   /* likewise, by a signal, if it is to go on with what is left */
};

/* What to read of one argument. */
struct trace_fetch {
	__u8 kind;
	__u8 id;                /* TRACE_ID(): of the chunk; the argument */
	__u8 when;              /* enum trace_when */
	__u8 length;            /* FETCH_BYTES: enum trace_value, times size */
	__u16 size;
	__u16 most;             /* bytes that are read of longer ones */
	__u8 pointed;           /* that value points to the length, a u32 */
	__u8 changed;           /* by the call: at its end it is too late to read it */
	__u8 if_arg;            /* read only where that value, of its lower 5 bits, is one of */
	__u8 if_small;          /* it has no other bits */
	__u32 if_values;        /* bits; 0: any */
	__u8 within;            /* no more than that value says, less one; 0: any */
	__u8 zeroes[3];
};

#define TRACE_FETCHES 9

/*
 * Calls whose arguments are others by one of them, their command (ioctl, bpf, keyctl): each such
 * command has a line of its own behind those of all calls.
 */
struct trace_command {
	__u32 slot, command;
};

#define TRACE_COMMANDS 384      /* of both tables */

/* Buffers that an array of struct iovec tells of, or messages with such arrays. */
enum trace_vector {
	VECTOR_NONE,
	VECTOR_WRITTEN,         /* (fd, iov, count): read when the call begins */
	VECTOR_READ,            /* filled by the call */
	VECTOR_SENT,            /* (fd, msghdr) */
	VECTOR_RECEIVED,
	VECTOR_SENT_MANY,       /* (fd, mmsghdr, count) */
	VECTOR_RECEIVED_MANY,
};

#define TRACE_VECTOR_ARG 1      /* of all calls that have one */
#define TRACE_VECTOR_COUNT 2

/* What a call returns or writes to where one of its arguments points. */
enum trace_gives {
	GIVES_NO_FD,
	GIVES_FD,
	GIVES_FD_BY_COMMAND,    /* fcntl: with some of its commands */
	GIVES_FD_PAIR,          /* to where .pair points */
};

#define TRACE_FDS 2

/* Descriptors that a call waits for. */
enum trace_waits {
	WAITS_FOR_NONE,
	WAITS_FOR_ARRAY,        /* (pollfd, count) */
	WAITS_FOR_SETS,         /* (count, fd_set, fd_set, fd_set) */
};

/* Bits that are looked at: more than FD_SETSIZE are not in use. */
#define TRACE_SET_BITS 1024

struct trace_call {
	__u8 wanted;            /* shown at all */
	__u8 no_return;         /* exit, exit_group */
	__u8 exec;
	__u8 argv;              /* the argument that is an array of strings, NULL at its end; 0: none */
	__u8 fetches;
	__u8 vector;            /* enum trace_vector */
	__u8 gives;             /* enum trace_gives */
	__u8 pair;
	__u8 fds;
	__u8 fd[TRACE_FDS];     /* arguments that are descriptors */
	__u8 waits;             /* enum trace_waits */
	__u8 narrow;            /* bits of arguments with 32 bits: the upper half is anything */
	__u8 command;           /* the argument that is its command, and 1; 0: it has none */
	__u16 frame;            /* the first argument is that far above the stack pointer; 0: it is not */
	struct trace_fetch fetch[TRACE_FETCHES];
};

enum trace_state_of_call {
	TRACE_RETURNED,
	TRACE_RUNNING,          /* when the record was made */
	TRACE_NO_RETURN,        /* a call that never does */
	TRACE_ENDED,            /* its task ended in it */
	TRACE_SINCE_BEFORE,     /* it runs since before the trace; only the task is known */
	TRACE_FAULT,            /* no call: a page fault; see enum trace_fault_value */
};

/* The values of a page fault. */
enum trace_fault_value {
	FAULT_ADDRESS,
	FAULT_IP,
	FAULT_ERROR,            /* bits of enum fault_error */
	FAULT_IN_KERNEL,        /* 1: the kernel's code met with it */
};

/* x86: what the CPU says of a page fault. */
enum fault_error {
	FAULT_PRESENT = 1,      /* there is a page, but it may not be used so */
	FAULT_WRITE = 2,
	FAULT_INSTRUCTION = 16,
};

enum trace_chunk_flags {
	TRACE_CHUNK_FAULT = 1,  /* could not be read */
	TRACE_CHUNK_CUT = 2,
	TRACE_CHUNK_NO_ROOM = 4,        /* in the record; CUT is set, too */
};

/* What a chunk is about: an argument (or TRACE_RESULT), and a part of it, in one byte. */
enum trace_part {
	PART_TARGET,            /* what the argument points to */
	PART_FD,                /* struct file_name: the file of that descriptor */
	PART_FD_SECOND,         /* that of the second of two */
	PART_NAME,              /* of a struct msghdr: an address, */
	PART_VECTOR,            /* an array of struct trace_iovec */
	PART_DATA,              /* what is there: struct trace_data */
	PART_CONTROL,           /* of a struct msghdr: control messages */
	PART_LENGTHS,           /* u32: the msg_len of each of many messages */
	PART_AFTER,             /* what the argument points to when the call has ended */
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

/* What was read of the buffers of an array, one behind the other. */
struct trace_data {
	__u16 bytes[TRACE_IOVECS];      /* of each, or one of: */
	__u8 data[];
};

#define TRACE_DATA_FAULT 0xffff
#define TRACE_DATA_NO_ROOM 0xfffe

/* A socket: behind a struct file_name of mode S_IFSOCK, in the place of the names. */
struct trace_socket {
	__u16 protocol, type;   /* IPPROTO_, SOCK_ */
	__u32 pad;
	__u64 peer;             /* AF_UNIX: inode of the socket at the other end; 0: none */
	struct socket_address local, remote;
};

/*
 * What was read of an argument; `bytes` of data follow, filled up to a multiple of 8. Where it has
 * several chunks of a kind, element says which one: of descriptors their number, of many messages
 * 1 for the first. Else it is 0.
 */
struct trace_chunk {
	__u8 id;                /* TRACE_ID() */
	__u8 flags;             /* enum trace_chunk_flags */
	__u16 bytes;
	union {
		__u32 element;  /* see below */
		__u32 cut;      /* of argv: bits of the strings that are */
	};
	__u8 data[];
};

/*
 * All of struct trace_state stays below 8 KiB with what the kernel puts in front of it, so that an
 * element of task storage takes two pages at most.
 */
#define TRACE_ROOM 7680

struct trace_record {
	__u64 time_ns;          /* of its end, CLOCK_MONOTONIC */
	__u64 start_ns;         /* 0: before the trace */
	__u64 value[TRACE_VALUES];
	__u32 pid, tid, cpu;
	__u32 slot;             /* abi * SYSCALL_NUMBERS + number, or the abi's last */
	__u32 number;
	__u16 state;            /* enum trace_state_of_call */
	__u16 used;             /* of data */
	char comm[16];
	__u8 data[TRACE_ROOM];  /* chunks; the record ends behind the last one */
};

/*
 * --summary: per CPU, and of one generation (writer.h): slot n has elements 2 n and 2 n + 1, for even
 * and odd ones. The loader ends it with the interval, reads what no program writes any more, and
 * clears it: so all figures are of the same calls.
 */
struct trace_sum {
	__u64 count, errors, ns;
	__u64 squares[2];       /* of ns: 128 bits, the lower 64 first */
	__u64 min_inv;          /* the largest ~ns */
	__u64 max_ns;
};

/* Calls that run when the report is made, for a visit of all tasks. */
struct trace_running {
	__u64 visit;            /* the one this is of */
	__u64 count, ns, max_ns;
};

#endif /* TALLY_TRACE_H */
