/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from BPF iterators. */
#ifndef TALLY_BASE_ITERATOR_H
#define TALLY_BASE_ITERATOR_H

#include <sys/types.h>

#include "base/types.h"

/*
 * Reads the next output of an iterator's program, which may end in the middle of an element. Retries if the kernel
 * interrupts a read with EAGAIN, after a million tasks without output (MAX_ITER_OBJECTS, kernel/bpf/bpf_iter.c, since
 * 5.10). Returns the number of bytes, 0 at the end, or a negative errno.
 */
ssize_t iterator__read(int fd, void *to, size_t room) MUST_CHECK;

/*
 * Reads to the end, and calls take() for each record of size bytes that the program has written. Records are valid only
 * during that call, and aligned to 8 bytes if size is a multiple of 8. size is at most ITERATOR_RECORD. Returns 0,
 * -EBADMSG if the last record is incomplete, a negative errno, or the first nonzero value that take() returns, which
 * ends the reading.
 */
#define ITERATOR_RECORD 4096
typedef int (*iterator_take_fn)(void *context, const void *record);
int iterator__each(int fd, size_t size, iterator_take_fn take, void *context) MUST_CHECK;

/* Reads to the end, for programs whose output does not matter. Returns 0 or a negative errno. */
int iterator__run(int fd) MUST_CHECK;

#endif /* TALLY_BASE_ITERATOR_H */
