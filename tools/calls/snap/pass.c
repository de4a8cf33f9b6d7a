// SPDX-License-Identifier: BSD-2-Clause
/* Runs the program over all tasks, and reads what it writes. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "calls/snap/snap.h"

/* The kernel fills at most this much at once: eight pages. */
#define CHUNK (64 << 10)

void snap_pass__describe(u8 descriptors[TRACE_SLOTS][TRACE_FDS], struct call_signatures *signatures)
{
	struct trace_call c;
	u32 slot, i;

	for (slot = 0; slot < TRACE_SLOTS; slot++) {
		c = (struct trace_call){};
		syscall_fetches(&c, call_signature(signatures, slot), slot / SYSCALL_NUMBERS, 0);
		for (i = 0; i < c.fds && i < TRACE_FDS; i++)
			descriptors[slot][i] = c.fd[i] + 1;
	}
}

/* The yield updates the scheduler's clock of this CPU. The program compares this clock with ours. */
static ssize_t read_more(struct snap_pass *p, int fd)
{
	sched_yield();
	return iterator__read(fd, p->data + p->size, p->room - p->size);
}

static int read_all(struct snap_pass *p, int fd)
{
	ssize_t n;

	do {
		if (ARRAY_RESERVE(p->data, p->room, p->size + CHUNK))
			return -ENOMEM;
		n = read_more(p, fd);
		if (n > 0)
			p->size += n;
	} while (n > 0);
	return n;
}

int snap_pass__run(struct snap_pass *p, int link_fd, volatile s64 *clock_ahead)
{
	u64 began_ns = monotonic_ns();
	int fd = bpf_iter_create(link_fd), err;

	if (fd < 0)
		return fd;
	p->size = 0;
	*clock_ahead = INT64_MAX;
	err = read_all(p, fd);
	close(fd);
	p->clock_ahead = *clock_ahead;
	p->took_ns = monotonic_ns() - began_ns;
	return err;
}

const struct snap_thread *snap_pass__next(const struct snap_pass *p, size_t *at)
{
	const struct snap_thread *t = (const void *)(p->data + *at);

	if (p->size - *at < sizeof(*t) || p->size - *at - sizeof(*t) < t->used)
		return NULL;
	*at += sizeof(*t) + t->used;
	return t;
}

bool snap_pass__time(const struct snap_pass *p, const struct snap_thread *t, u64 *ns)
{
	s64 since = t->since + p->clock_ahead, time = t->at_ns - since;

	*ns = time > 0 ? time : 0;
	return t->since && p->clock_ahead != INT64_MAX;
}

void snap_pass__free(struct snap_pass *p)
{
	free(p->data);
}
