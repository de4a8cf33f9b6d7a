/* SPDX-License-Identifier: BSD-2-Clause */
/* Macros for the lines of table.c and commands.c. */
#ifndef TALLY_SYSCALL_SIGNATURE_H
#define TALLY_SYSCALL_SIGNATURE_H

#include "calls/syscall/table.h"

/* Kinds of arguments. A length is the index of the argument that contains it, counted from 0. */
#define INT { .kind = ARG_INT }
#define LONG { .kind = ARG_LONG }
#define UINT { .kind = ARG_UINT }
#define SIZE { .kind = ARG_SIZE }
#define HEX { .kind = ARG_HEX }
#define HEX32 { .kind = ARG_HEX32 }
#define SIZE32 { .kind = ARG_SIZE32 }
#define PTR { .kind = ARG_POINTER }
#define FD { .kind = ARG_FD }
#define DIRFD { .kind = ARG_DIRFD }
#define MODE { .kind = ARG_MODE }
#define CREATE_MODE { .kind = ARG_CREATE_MODE }
#define OPEN_FLAGS { .kind = ARG_OPEN_FLAGS }
#define FUTEX_OP { .kind = ARG_FUTEX_OP }
#define SOCKET_OPTION { .kind = ARG_SOCKET_OPTION }
#define SOCKET_OPTION_TOLD { .kind = ARG_SOCKET_OPTION, .names = &told_socket_options }
#define CLONE_FLAGS { .kind = ARG_CLONE_FLAGS }
#define SIGNAL { .kind = ARG_SIGNAL }
#define DEVICE { .kind = ARG_MAKEDEV }
#define NAMED(set) { .kind = ARG_NAMES, .names = &(set) }
#define LNAMED(set) { .kind = ARG_NAMES, .wide = 1, .names = &(set) }
/* A plain number unless the argument `by` has one of these values. */
#define LNAMED_IF(set, by, values)                                                                 \
	{ .kind = ARG_NAMES, .wide = 1, .names = &(set), .if_arg = (by), .if_values = (values) }
#define STR { .kind = ARG_STRING }
#define STR_OUT { .kind = ARG_STRING, .out = 1 }
#define ARGV { .kind = ARG_STRINGS }
#define BUF(len) { .kind = ARG_BUFFER, .length = (len) }
#define IPC_MESSAGE(len) { .kind = ARG_IPC_MESSAGE, .length = (len) }
#define IPC_MESSAGE_OUT { .kind = ARG_IPC_MESSAGE, .out = FETCH_IF_SUCCEEDED, .length = TRACE_RESULT }
#define BUF_OUT { .kind = ARG_BUFFER, .out = 1, .length = TRACE_RESULT }
#define MESSAGE_DATA(len) { .kind = ARG_MESSAGE_DATA, .length = (len) }
#define MESSAGE_DATA_OUT { .kind = ARG_MESSAGE_DATA, .out = 1, .length = TRACE_RESULT }
#define ADDR(len) { .kind = ARG_SOCKADDR, .length = (len) }
#define ADDR_OUT(len) { .kind = ARG_SOCKADDR, .out = 1, .pointed = 1, .length = (len) }
#define IN(type) { .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE }
#define INOUT(type)                                                                                \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .changed = 1 }
/* Read only if the argument `by` has one of these values. */
#define IN_IF(type, by, values)                                                                    \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .if_arg = (by),        \
	  .if_values = (values) }
/* EPOLL_CTL_ADD and EPOLL_CTL_MOD; EPOLL_CTL_DEL ignores it. */
#define EPOLL_CTL_WITH_EVENT (1 << 1 | 1 << 3)
/* Commands of futex with a timeout: FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2. */
#define FUTEX_WITH_TIMEOUT (1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13)
#define FUTEX_TIMEOUT                                                                              \
	{ .kind = ARG_FUTEX_TIMEOUT, .layout = STRUCT_TIMESPEC, .length = TRACE_ONE, .if_arg = 1,  \
	  .if_values = FUTEX_WITH_TIMEOUT }
#define FUTEX_VALUE { .kind = ARG_FUTEX_VALUE }
#define SOCKET_VALUE { .kind = ARG_SOCKET_VALUE, .length = 4 }
#define SOCKET_VALUE_OUT { .kind = ARG_SOCKET_VALUE, .out = 1, .pointed = 1, .length = 4 }
#define OUT_WHEN(type, event)                                                                      \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .out = FETCH_IF_##event }
#define OUT(type)                                                                                  \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE,                        \
	  .out = FETCH_IF_SUCCEEDED }
/* Read at the entry. The value at the return is shown with the result. */
#define TAKEN_AND_LEFT(type)                                                                       \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .changed = 1,          \
	  .after = FETCH_IF_FOUND }
/* The second argument of a call; the call reads, or fills, the buffers it describes. */
#define VECTOR { .kind = ARG_VECTOR }
#define VECTOR_OUT { .kind = ARG_VECTOR, .out = 1 }
#define MESSAGE { .kind = ARG_MESSAGE }
#define MESSAGE_OUT { .kind = ARG_MESSAGE, .out = 1 }
#define MESSAGES { .kind = ARG_MESSAGES }
#define MESSAGES_OUT { .kind = ARG_MESSAGES, .out = 1 }
/* The call's first argument is the number of bits used. */
#define FD_SET { .kind = ARG_FD_SET, .length = 0, .changed = 1, .after = FETCH_IF_FOUND }
#define POLLFDS                                                                                    \
	{ .kind = ARG_STRUCT, .layout = STRUCT_POLLFD, .length = 1, .array = 1,                    \
	  .after = FETCH_IF_FOUND }
/* For fcntl: the lock to set is passed in, and the lock to query (F_GETLK) is filled in. */
#define FCNTL                                                                                      \
	{ .kind = ARG_FCNTL, .layout = STRUCT_FLOCK, .length = TRACE_ONE, .if_arg = 1,             \
	  .if_values = 1 << 6 | 1 << 7, .if_small = 1, .after = FETCH_IF_SUCCEEDED,                \
	  .after_values = 1 << 5 }
/* For prctl: a name that is set (PR_SET_NAME), or returned (PR_GET_NAME). */
#define PRCTL                                                                                      \
	{ .kind = ARG_PRCTL, .if_arg = 0, .if_values = 1 << 15, .if_small = 1,                     \
	  .after = FETCH_IF_SUCCEEDED, .after_values = 1 << 16 }
#define CPU_SET(len) { .kind = ARG_CPU_SET, .length = (len) }
#define CPU_SET_OUT { .kind = ARG_CPU_SET, .length = TRACE_RESULT, .out = FETCH_IF_SUCCEEDED }
#define ARRAY(type, len)                                                                           \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = (len), .array = 1 }
#define ARRAY_TOLD(type, len)                                                                      \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = (len), .out = FETCH_IF_SUCCEEDED, .array = 1 }
#define ARRAY_OUT(type)                                                                            \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_RESULT, .out = 1, .array = 1 }

/* A struct whose length the caller passes; shorter versions are shown in part. */
#define SIZED(type, len) { .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = (len), .sized = 1 }
/* Passed in and changed by the call. Both values are shown if they differ. */
#define GIVEN_AND_TOLD(type)                                                                       \
	{ .kind = ARG_STRUCT, .layout = STRUCT_##type, .length = TRACE_ONE, .after = FETCH_IF_SUCCEEDED, \
	  .told = 1, .changed = 1 }
/* As many bytes as the call returns, which may exceed the size of the buffer. */
#define BUF_WITHIN(len)                                                                            \
	{ .kind = ARG_BUFFER, .out = FETCH_IF_FOUND, .length = TRACE_RESULT, .within = (len) + 1 }
#define KIND(what) { .kind = ARG_##what }
/* Named values. Other values are decimal numbers. */
#define NUMBER(set) { .kind = ARG_NAMED_NUMBER, .names = &(set) }
/* Flags with the logarithm of a page size from bit 26 on. */
#define HUGE_NAMED(set) { .kind = ARG_HUGE_NAMES, .names = &(set) }
#define LHUGE_NAMED(set) { .kind = ARG_HUGE_NAMES, .wide = 1, .names = &(set) }
/* The kernel ignores this argument. */
#define UNUSED { .kind = ARG_UNUSED, .wide = 1 }
#define NODES_OUT(len) { .kind = ARG_NODE_SET, .length = (len), .out = FETCH_IF_SUCCEEDED }
#define NODES(len) { .kind = ARG_NODE_SET, .length = (len) }

/* CALL: the same arguments in both tables. NATIVE: not in the table of 32-bit calls. */
#define CALL(call, ...) { .name = #call, .arg = { __VA_ARGS__ } }
#define NATIVE(call, ...) { .name = #call, .native = 1, .arg = { __VA_ARGS__ } }
#define ENDS(call, ...) { .name = #call, .no_return = 1, .arg = { __VA_ARGS__ } }
#define EXEC(call, ...) { .name = #call, .exec = 1, .arg = { __VA_ARGS__ } }
/* OPENS: the result is a descriptor. */
#define OPENS(call, ...) { .name = #call, .result = RESULT_FD, .arg = { __VA_ARGS__ } }
#define GIVES(what, call, ...)                                                                     \
	{ .name = #call, .native = 1, .result = RESULT_##what, .arg = { __VA_ARGS__ } }
/* BY: the other arguments depend on this one, a command; see the lines of commands.c. */
#define BY(arg_number, call, ...)                                                                  \
	{ .name = #call, .by = (arg_number) + 1, .arg = { __VA_ARGS__ } }
#define TELLS(set, call, ...)                                                                      \
	{ .name = #call, .result = RESULT_NAMES, .result_names = &(set), .arg = { __VA_ARGS__ } }

#endif /* TALLY_SYSCALL_SIGNATURE_H */
