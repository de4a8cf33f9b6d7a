/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single system calls as they leave the kernel's side (trace.bpf.c): what is to be read of each
 * call's arguments, which the loader says, and what was.
 */
#ifndef TALLY_TRACE_H
#define TALLY_TRACE_H

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
};

/* What to read of one argument. */
struct trace_fetch {
	__u8 kind;
	__u8 arg;
	__u8 out;               /* written by the call: read at its end, if it did not fail */
	__u8 length;            /* FETCH_BYTES: enum trace_value, times size */
	__u16 size;
	__u16 most;             /* bytes that are read of longer ones */
	__u8 pointed;           /* that value points to the length, a u32 */
	__u8 zeroes[3];
};

#define TRACE_FETCHES 3

struct trace_call {
	__u8 wanted;            /* shown at all */
	__u8 no_return;         /* exit, exit_group */
	__u8 exec;
	__u8 argv;              /* the argument that is an array of strings, NULL at its end; 0: none */
	__u8 fetches;
	__u8 zeroes[3];
	struct trace_fetch fetch[TRACE_FETCHES];
};

enum trace_state_of_call {
	TRACE_RETURNED,
	TRACE_RUNNING,          /* when the record was made */
	TRACE_NO_RETURN,        /* a call that never does */
	TRACE_ENDED,            /* its task ended in it */
	TRACE_SINCE_BEFORE,     /* it runs since before the trace; only the task is known */
};

enum trace_chunk_flags {
	TRACE_CHUNK_FAULT = 1,  /* could not be read */
	TRACE_CHUNK_CUT = 2,
	TRACE_CHUNK_NO_ROOM = 4,        /* in the record; CUT is set, too */
};

/* What was read of an argument; `bytes` of data follow, filled up to a multiple of 8. */
struct trace_chunk {
	__u8 arg;
	__u8 flags;             /* enum trace_chunk_flags */
	__u16 bytes;
	__u32 whole;            /* FETCH_BYTES: how many there are; of argv: bits of those cut */
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

/* --summary: per CPU; cumulative. */
struct trace_sum {
	__u64 count, errors, ns;
	__u64 squares[2];       /* of ns: 128 bits, the lower 64 first */
	/* Of an interval with an even number, and of one with an odd number. */
	struct trace_extremes {
		__u64 interval;         /* the one these are of */
		__u64 min_ns, max_ns;
	} extremes[2];
};

/* Calls that run when the report is made, for a visit of all tasks. */
struct trace_running {
	__u64 visit;            /* the one this is of */
	__u64 count, ns, max_ns;
};

#endif /* TALLY_TRACE_H */
