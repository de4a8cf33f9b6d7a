/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building blocks of arguments as text, like strace(1), and the search for chunks in a record.
 * Everything that comes from a traced process is escaped (report/escape.h).
 */
#ifndef TALLY_SYSCALL_TEXT_H
#define TALLY_SYSCALL_TEXT_H

#include <stdio.h>

#include "base/types.h"

#include "bpf/calls/trace.h"

/* Returns the chunk at *at (0 for the first) and advances *at, or returns NULL after the last. */
const struct trace_chunk *trace_chunk__next(const struct trace_record *r, size_t size, size_t *at);

/*
 * The first chunk with this TRACE_ID(), or NULL. size: size of the record as received; chunks
 * beyond it are ignored.
 */
const struct trace_chunk *trace_chunk__find(const struct trace_record *r, size_t size, u32 id);

/* The first such chunk for this element. */
const struct trace_chunk *trace_chunk__find_element(const struct trace_record *r, size_t size,
						    u32 id, u32 element);

/*
 * Put bytes in quotes, followed by "..." if the chunk is cut off. Characters with a short form in C (\n, \t, \", \\)
 * use it, and others are escaped as usual (report/escape.h).
 */
void quoted__put(FILE *f, const void *data, size_t n);
void quoted_chunk__put(FILE *f, const struct trace_chunk *c);

/* Puts "0x7ffc1234" or "NULL". */
void pointer__put(FILE *f, u64 value);

/* Puts a pointer without its target, which did not have to be read (c is NULL), or could not be read: "(fault)". */
void unread__put(FILE *f, u64 value, const struct trace_chunk *c);

/* Puts "{sa_family=AF_INET, ...}" from n bytes. Returns false and puts nothing if there are too few. */
bool sockaddr__put(FILE *f, const void *data, size_t n);

#endif /* TALLY_SYSCALL_TEXT_H */
