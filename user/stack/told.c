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

#include "base/array.h"
#include "base/clock.h"
#include "host/scope.h"
#include "report/diag.h"
#include "sym/mappings.h"

#define RING_BYTES (1 << 20)            /* per CPU: about ten thousand mappings */
#define RING_SOON 64                    /* shorter than a mapping record, longer than a fork or exit */

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
		.wakeup_watermark = soon ? RING_SOON : RING_BYTES / 8,
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
		diag_warn("%llu mappings, forks and execs came faster than they were read: frames of those processes "
			  "may have no names or wrong names", t->lost);
	for (i = 0; i < t->n; i++) {
		perf_ring__unmap(&t->cpu[i].ring);
		close(t->cpu[i].fd);
	}
	if (t->cpu && t->epoll_fd >= 0)
		close(t->epoll_fd);
	free(t->cpu);
	free(t->changed);
	free(t->records.bytes);
	free(t->records.position);
	free(t->wanted);
	free(t->names);
	*t = (struct told){};
}

/*
 * --- wanted processes --------------------------------------------------------------------------
 */

#define MOST_PIDS (1U << 22)            /* include/linux/threads.h: PID_MAX_LIMIT */

static int want_some(struct told *t)
{
	if (!t->wanted)
		t->wanted = calloc(MOST_PIDS / 8, 1);
	return t->wanted ? 0 : -ENOMEM;
}

int told__want(struct told *t, u32 pid)
{
	if (want_some(t))
		return -ENOMEM;
	if (pid < MOST_PIDS)
		t->wanted[pid / 8] |= 1U << pid % 8;
	return 0;
}

int told__want_names(struct told *t, const struct scope_glob *names)
{
	t->names = malloc(sizeof(*names));
	if (!t->names || want_some(t))
		return -ENOMEM;
	*t->names = *names;
	t->with_children = true;
	return 0;
}

bool told__wants(const struct told *t, u32 pid)
{
	return !t->wanted || (pid < MOST_PIDS && t->wanted[pid / 8] & 1U << pid % 8);
}

/* A new process is wanted if it is a child of a wanted one. Otherwise it may reuse the pid of a wanted process. */
static void note_child(struct told *t, u32 pid, u32 parent)
{
	if (!t->wanted || pid == parent || pid >= MOST_PIDS)
		return;
	if (t->with_children && told__wants(t, parent))
		t->wanted[pid / 8] |= 1U << pid % 8;
	else
		t->wanted[pid / 8] &= ~(1U << pid % 8);
}

/* Returns true if the process has become wanted. */
static bool note_name(struct told *t, u32 pid, const char *name, bool execs)
{
	bool was = told__wants(t, pid);

	if (!t->names || pid >= MOST_PIDS)
		return false;
	if (scope_glob__matches(t->names, name))
		t->wanted[pid / 8] |= 1U << pid % 8;
	else if (execs)
		t->wanted[pid / 8] &= ~(1U << pid % 8);
	return !was && told__wants(t, pid);
}

/*
 * --- records -----------------------------------------------------------------------------------
 */

/* The time is the last member of a record (sample_id). */
static int add_record(void *ctx, const struct perf_event_header *record)
{
	struct told_records *r = ctx;
	u64 time;

	if (record->size < sizeof(*record) + sizeof(time))
		return 0;
	if (ARRAY_RESERVE(r->bytes, r->room, r->n + record->size) ||
	    ARRAY_RESERVE(r->position, r->positions_room, r->npositions + 1))
		return -ENOMEM;
	memcpy(&time, (const char *)record + record->size - sizeof(time), sizeof(time));
	memcpy(r->bytes + r->n, record, record->size);
	r->position[r->npositions++] = (struct told_position){ time, r->n };
	r->n += record->size;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct told_position *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Layouts of the records after the header; see perf_event_open(2). */
struct mmap2_record {
	u32 pid, tid;
	u64 address, length, offset;
	u32 major, minor;
	u64 inode, generation;
	u32 protection, flags;
	char name[];
};

/* For FORK and EXIT. */
struct task_record {
	u32 pid, parent, tid, parent_tid;
};

struct comm_record {
	u32 pid, tid;
	char name[];
};

struct lost_record {
	u64 id, lost;
};

static int note_changed(struct told *t, u32 pid)
{
	if (!t->unwinder)
		return 0;
	if (ARRAY_RESERVE(t->changed, t->changed_room, t->nchanged + 1))
		return -ENOMEM;
	t->changed[t->nchanged++] = pid;
	return 0;
}

static int tell_fork(struct told *t, struct symbols *s, const struct task_record *fork, u64 at_ns)
{
	int err;

	note_child(t, fork->pid, fork->parent);
	if (!told__wants(t, fork->pid))
		return 0;
	err = symbols__forked(s, fork->pid, fork->parent, at_ns);
	return err || !t->unwinder ? err : unwinder__forked(t->unwinder, fork->pid, fork->parent);
}

static int by_pid(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Processes seen too recently are passed again with the next records. */
static int tell_unwinder(struct told *t)
{
	size_t i, left = 0;
	int err = 0;
	u32 pid;

	if (t->unwinder)
		t->unwinder->told_all = t->n && !t->lost;
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

/*
 * Begins a new code generation if no BPF program has noticed an unmapping since from_ns, when the replaced code was
 * mapped.
 */
static void check_generation(struct told *t, struct symbols *s, u32 pid, u64 from_ns)
{
	struct stack_code *code = t->codes ? &t->codes[pid % STACK_CODES] : NULL;

	if (!code || __atomic_load_n(&code->began_ns, __ATOMIC_RELAXED) >= from_ns)
		return;
	__atomic_fetch_add(&code->generation, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&code->began_ns, monotonic_ns(), __ATOMIC_RELAXED);
	symbols__note_mixed(s, pid);
	t->unnoticed++;
}

static int tell_mapping(struct told *t, struct symbols *s, const char *body, size_t size, u64 at_ns)
{
	u64 replaced_ns = 0;
	struct mmap2_record m;
	struct mapping_line line;
	int err;

	if (size <= sizeof(m))
		return 0;
	memcpy(&m, body, sizeof(m));
	if (!told__wants(t, m.pid))
		return 0;
	/* The name must be terminated before the time. */
	if (!memchr(body + sizeof(m), 0, size - sizeof(m)))
		return 0;
	line = (struct mapping_line){
		.start = m.address,
		.end = m.address + m.length,
		.offset = m.offset,
		.inode = m.inode,
		.device = (u64)m.major << 32 | m.minor,
		.generation = m.generation,
		.executable = true,
		.name = body + sizeof(m),
	};
	if (!strcmp(line.name, "//anon"))
		line.name = "";
	err = symbols__mapped(s, m.pid, &line, at_ns, &replaced_ns);
	if (!err && replaced_ns)
		check_generation(t, s, m.pid, replaced_ns);
	return err ?: note_changed(t, m.pid);
}

/* COMM: a thread has a new name, set by prctl(2) or by an exec. */
static int tell_name(struct told *t, struct symbols *s, const char *body, size_t size, bool execs, u64 at_ns)
{
	const char *name = body + offsetof(struct comm_record, name);
	struct comm_record comm;
	bool begins;
	int err = 0;

	if (size <= sizeof(comm) || !memchr(name, 0, size - sizeof(comm)))
		return 0;
	memcpy(&comm, body, sizeof(comm));
	begins = note_name(t, comm.pid, name, execs);
	if (!told__wants(t, comm.pid) || (!execs && !begins))
		return 0;
	if (execs)
		err = symbols__execed(s, comm.pid, at_ns);
	return err ?: note_changed(t, comm.pid);
}

static int tell_task(struct told *t, struct symbols *s, u32 type, const char *body, u64 at_ns)
{
	struct task_record task;

	memcpy(&task, body, sizeof(task));
	if (type == PERF_RECORD_FORK)
		return tell_fork(t, s, &task, at_ns);
	/* EXIT is per thread: use the first thread's, which is usually the last to exit. */
	if (task.pid == task.tid)
		symbols__exited(s, task.pid, at_ns);
	return 0;
}

static int tell(struct told *t, struct symbols *s, const char *record, u64 at_ns)
{
	struct perf_event_header header;
	struct lost_record lost;
	size_t size;

	memcpy(&header, record, sizeof(header));
	size = header.size - sizeof(header);
	record += sizeof(header);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return tell_mapping(t, s, record, size, at_ns);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return size < sizeof(struct task_record) ? 0 : tell_task(t, s, header.type, record, at_ns);
	case PERF_RECORD_COMM:
		return tell_name(t, s, record, size, header.misc & PERF_RECORD_MISC_COMM_EXEC, at_ns);
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

/* Keeps the records from index `first` for the next read. */
static void keep_records(struct told_records *r, size_t first)
{
	struct told_records left = {};
	int err = 0;
	size_t i;

	for (i = first; i < r->npositions && !err; i++)
		err = add_record(&left, (const void *)(r->bytes + r->position[i].at));
	free(r->bytes);
	free(r->position);
	*r = left;
}

/*
 * Rings are read one after another: a ring read late may hold a record newer than one that arrived
 * in an earlier ring after that ring was read. So only records older than the start of reading are
 * passed on.
 */
int told__read(struct told *t, struct symbols *symbols)
{
	struct told_records *r = &t->records;
	u64 now = monotonic_ns();
	int err = 0;
	size_t i;

	for (i = 0; i < t->n && !err; i++)
		err = perf_ring__read(&t->cpu[i].ring, add_record, r);
	if (!err && r->npositions)
		qsort(r->position, r->npositions, sizeof(*r->position), by_time);
	for (i = 0; i < r->npositions && r->position[i].time <= now && !err; i++)
		err = tell(t, symbols, r->bytes + r->position[i].at, r->position[i].time);
	keep_records(r, i);
	return err ?: tell_unwinder(t);
}
