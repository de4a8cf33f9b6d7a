/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the CPython frames of threads that are not running, as the BPF programs do (bpf/lib/python.bpf.h), and reads
 * the names of their code. Memory is untrusted; a walk always ends.
 *
 * A thread's frames, and the code that they run, do not change while the thread does not run. Memory that has been read
 * is cached, so that threads with common callers are cheap. Call python_walker__forget() before walking threads that
 * may have run since.
 */
#ifndef TALLY_RUNTIME_PYTHON_WALK_H
#define TALLY_RUNTIME_PYTHON_WALK_H

#include <sys/types.h>

#include "base/types.h"
#include "runtime/python.h"

#include "bpf/lib/stack.h"

struct python_walker;

/*
 * Creates a walker. python: from python__begin_apart(). read: as pread(2), of the memory of the process last passed to
 * python__see(); returns a negative errno on failure. Returns 0 or -ENOMEM.
 */
int python_walker__new(struct python_walker **walker, struct python *python,
		       ssize_t (*read)(void *arg, u64 address, void *to, size_t size), void *arg);
void python_walker__free(struct python_walker *walker);
void python_walker__forget(struct python_walker *walker);

/*
 * Fills in the Python part of a stack, after its user part, for the process last passed to python__see(). thread: the
 * thread's pthread_self(). sp: the stack pointers of the user part's frames. Writes at most `most` frames, for which to
 * must have room.
 */
void python_walker__walk(struct python_walker *walker, u64 thread, const u64 *sp, u32 most, struct stack *to);

#endif /* TALLY_RUNTIME_PYTHON_WALK_H */
