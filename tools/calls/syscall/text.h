/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces that arguments of system calls are made of, as text in the way of strace(1), and where
 * they are in a record. What comes from a traced process is escaped (report/escape.h).
 */
#ifndef TALLY_SYSCALL_TEXT_H
#define TALLY_SYSCALL_TEXT_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/*
 * The first chunk of that TRACE_ID(), or NULL. size: of the record as it came; a chunk that goes
 * beyond it is not there.
 */
const struct trace_chunk *trace_chunk__find(const struct trace_record *r, size_t size, u32 id);

/* The first one of these that is about that element. */
const struct trace_chunk *trace_chunk__find_element(const struct trace_record *r, size_t size,
						    u32 id, u32 element);

/*
 * The bytes of a chunk, and "..." if there were more. In quotes: what has a short form in C (\n, \t,
 * \", \\) has that one, other bytes are escaped as everywhere (out/escape.h).
 */
void quoted__put(FILE *f, const void *data, size_t n);
void quoted_chunk__put(FILE *f, const struct trace_chunk *c);

/* "0x7ffc1234", "NULL". */
void pointer__put(FILE *f, u64 value);

/*
 * A pointer, of whose target nothing is there: because nobody had to read it (no chunk), or because
 * nobody could: "(fault)".
 */
void unread__put(FILE *f, u64 value, const struct trace_chunk *c);

/* "{sa_family=AF_INET, ...}", of n bytes. False, and nothing written, if they are too few. */
bool sockaddr__put(FILE *f, const void *data, size_t n);

#endif /* TALLY_SYSCALL_TEXT_H */
