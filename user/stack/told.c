// SPDX-License-Identifier: BSD-2-Clause
#include "stack/told.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "out/diag.h"
#include "sym/mappings.h"

#define RING_BYTES (512 << 10)          /* of each CPU: some thousands of mappings */
#define RING_SOON 64                    /* a mapping is longer, a fork or exit alone is not */

/*
 * --- rings -------------------------------------------------------------------------------------
 */

static int open_cpu(struct told_cpu *c, int cpu, bool soon)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = soon ? RING_SOON : RING_BYTES / 2,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int err;

	c->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return -errno;
	err = perf_ring__map(&c->ring, c->fd, RING_BYTES);
	if (err)
		close(c->fd);
	return err;
}

int told__open(struct told *t, struct unwinder *unwinder)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	struct epoll_event event = { .events = EPOLLIN };

	*t = (struct told){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC), .unwinder = unwinder };
	t->cpu = calloc(cpus > 0 ? cpus : 1, sizeof(*t->cpu));
	if (!t->cpu)
		return -ENOMEM;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (open_cpu(&t->cpu[t->n], cpu, unwinder))
			continue;
		if (t->epoll_fd >= 0)
			epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->cpu[t->n].fd, &event);
		t->n++;
	}
	return 0;
}

void told__close(struct told *t)
{
	size_t i;

	if (t->lost)
		diag_warn("%llu mappings, forks and execs came faster than they were read: frames of those "
			  "processes may have no names", t->lost);
	for (i = 0; i < t->n; i++) {
		perf_ring__unmap(&t->cpu[i].ring);
		close(t->cpu[i].fd);
	}
	if (t->cpu && t->epoll_fd >= 0)
		close(t->epoll_fd);
	free(t->cpu);
	free(t->changed);
	*t = (struct told){};
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

/* Records as they were in the rings, one behind the other. */
struct records {
	char *bytes;
	size_t n, room;
	struct position {
		u64 time;
		size_t at;
	} *position;
	size_t npositions, positions_room;
};

static bool make_room(void **array, size_t *room, size_t wanted, size_t size)
{
	size_t more = *room ?: 64;
	void *larger;

	while (more < wanted)
		more *= 2;
	if (more == *room)
		return true;
	larger = reallocarray(*array, more, size);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

/* The time is the last thing in a record (sample_id). */
static int add_record(void *ctx, const struct perf_event_header *record)
{
	struct records *r = ctx;
	u64 time;

	if (record->size < sizeof(*record) + sizeof(time))
		return 0;
	if (!make_room((void **)&r->bytes, &r->room, r->n + record->size, 1) ||
	    !make_room((void **)&r->position, &r->positions_room, r->npositions + 1,
		       sizeof(*r->position)))
		return -ENOMEM;
	memcpy(&time, (const char *)record + record->size - sizeof(time), sizeof(time));
	memcpy(r->bytes + r->n, record, record->size);
	r->position[r->npositions++] = (struct position){ time, r->n };
	r->n += record->size;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct position *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* What perf_event_open(2) says of these records, behind the header. */
struct mmap2_record {
	u32 pid, tid;
	u64 address, length, offset;
	u32 major, minor;
	u64 inode, generation;
	u32 protection, flags;
	char name[];
};

struct fork_record {
	u32 pid, parent;
};

struct lost_record {
	u64 id, lost;
};

static int note_changed(struct told *t, u32 pid)
{
	if (!t->unwinder)
		return 0;
	if (!make_room((void **)&t->changed, &t->changed_room, t->nchanged + 1, sizeof(*t->changed)))
		return -ENOMEM;
	t->changed[t->nchanged++] = pid;
	return 0;
}

static int tell_fork(struct told *t, struct symbols *s, const struct fork_record *fork)
{
	int err = symbols__forked(s, fork->pid, fork->parent);

	return err || !t->unwinder ? err : unwinder__forked(t->unwinder, fork->pid, fork->parent);
}

static int by_pid(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Those that cannot be looked at so soon are told of again with the next records. */
static int tell_unwinder(struct told *t)
{
	size_t i, left = 0;
	int err = 0;
	u32 pid;

	if (t->nchanged)
		qsort(t->changed, t->nchanged, sizeof(*t->changed), by_pid);
	for (i = 0; i < t->nchanged && err != -ENOMEM; i++) {
		pid = t->changed[i];
		if (i && pid == t->changed[i - 1])
			continue;
		err = unwinder__changed(t->unwinder, pid);
		if (err == -EAGAIN)
			t->changed[left++] = pid;
	}
	t->nchanged = left;
	return err == -ENOMEM ? err : 0;
}

static int tell_mapping(struct told *t, struct symbols *s, const char *body, size_t size)
{
	struct mmap2_record m;
	struct mapping_line line;
	int err;

	if (size <= sizeof(m))
		return 0;
	memcpy(&m, body, sizeof(m));
	/* The name ends in a zero before the time begins. */
	if (!memchr(body + sizeof(m), 0, size - sizeof(m)))
		return 0;
	line = (struct mapping_line){
		.start = m.address,
		.end = m.address + m.length,
		.offset = m.offset,
		.inode = m.inode,
		.executable = true,
		.name = body + sizeof(m),
	};
	if (!strcmp(line.name, "//anon"))
		line.name = "";
	err = symbols__mapped(s, m.pid, &line);
	return err ?: note_changed(t, m.pid);
}

static int tell(struct told *t, struct symbols *s, const char *record)
{
	struct perf_event_header header;
	struct fork_record fork;
	struct lost_record lost;
	size_t size;
	u32 pid;

	memcpy(&header, record, sizeof(header));
	size = header.size - sizeof(header);
	record += sizeof(header);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return tell_mapping(t, s, record, size);
	case PERF_RECORD_FORK:
		if (size < sizeof(fork))
			return 0;
		memcpy(&fork, record, sizeof(fork));
		return tell_fork(t, s, &fork);
	case PERF_RECORD_COMM:
		if (size < sizeof(pid) || !(header.misc & PERF_RECORD_MISC_COMM_EXEC))
			return 0;
		memcpy(&pid, record, sizeof(pid));
		symbols__execed(s, pid);
		return note_changed(t, pid);
	case PERF_RECORD_LOST:
		if (size < sizeof(lost))
			return 0;
		memcpy(&lost, record, sizeof(lost));
		t->lost += lost.lost;
		return 0;
	default:
		return 0;
	}
}

int told__read(struct told *t, struct symbols *symbols)
{
	struct records r = {};
	int err = 0;
	size_t i;

	for (i = 0; i < t->n && !err; i++)
		err = perf_ring__read(&t->cpu[i].ring, add_record, &r);
	if (!err && r.npositions)
		qsort(r.position, r.npositions, sizeof(*r.position), by_time);
	for (i = 0; i < r.npositions && !err; i++)
		err = tell(t, symbols, r.bytes + r.position[i].at);
	free(r.bytes);
	free(r.position);
	return err ?: tell_unwinder(t);
}
