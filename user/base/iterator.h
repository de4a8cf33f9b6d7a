/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading from BPF iterators. */
#ifndef TALLY_BASE_ITERATOR_H
#define TALLY_BASE_ITERATOR_H

#include <sys/types.h>

#include "base/types.h"

/*
 * Reads what the program of an iterator has written next; it may end in the middle of an element. The kernel interrupts
 * a read after a million tasks without output, by EAGAIN (MAX_ITER_OBJECTS, kernel/bpf/bpf_iter.c, since 5.10): this
 * goes on. Returns the number of bytes, 0 at the end, or a negative errno.
 */
ssize_t iterator__read(int fd, void *to, size_t room) MUST_CHECK;

/*
 * Reads to the end, and hands each record of size bytes that the program has written to take(). Records are valid only
 * during that call, and aligned to 8 bytes if size is a multiple of 8; size is at most ITERATOR_RECORD. Returns 0,
 * -EBADMSG if the last record is not whole, a negative errno, or the first value that take() returns other than 0,
 * which ends the reading.
 */
#define ITERATOR_RECORD 4096
typedef int (*iterator_take_fn)(void *context, const void *record);
int iterator__each(int fd, size_t size, iterator_take_fn take, void *context) MUST_CHECK;

/* Reads to the end, for programs whose output does not matter. Returns 0 or a negative errno. */
int iterator__run(int fd) MUST_CHECK;

#endif /* TALLY_BASE_ITERATOR_H */
