// SPDX-License-Identifier: BSD-2-Clause
/* Scheduler loads: tasks that wake each other through pipes and sockets. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine/bench/load.h"
#include "host/host.h"

/* The ends of a pipe, or of a socket pair used in one direction. */
struct channel {
	int out, in;            /* out is read, in is written */
};

static void open_channels(struct load_run *run, struct channel *c, u64 n, bool sockets)
{
	int fd[2];
	u64 i;

	host__allow_files(2 * n);
	for (i = 0; i < n; i++) {
		if (sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, fd) : pipe(fd))
			crew__fail(run->crew, "cannot open one channel per task", errno);
		c[i] = (struct channel){ fd[0], fd[1] };
	}
}

/* Small messages, up to PIPE_BUF, are written atomically. */
static void put(struct load_run *run, int fd, const void *message, size_t size)
{
	ssize_t n = write(fd, message, size);

	if (n != (ssize_t)size)
		crew__fail(run->crew, "cannot write a message", n < 0 ? errno : 0);
}

static void get(struct load_run *run, int fd, void *message, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have < size) {
		n = read(fd, (char *)message + have, size - have);
		if (n <= 0)
			crew__fail(run->crew, "cannot read a message", n < 0 ? errno : 0);
		have += n;
	}
}

/*
 * --- sched-pipe: a token goes back and forth between two tasks ---------------------------------
 */

static void pipe_prepare(struct load_run *run)
{
	run->state = load_run__memory(run, 2 * run->o->groups, sizeof(struct channel));
	open_channels(run, run->state, 2 * run->o->groups, false);
}

static void expect(struct load_run *run, int fd, u64 wanted)
{
	u64 token;

	get(run, fd, &token, sizeof(token));
	if (token != wanted)
		crew__fail(run->crew, "a token came out of order", 0);
}

/* The first task of a pair sends the number of the turn, and the other one answers with its complement. */
static u64 pipe_work(struct load_run *run, u32 task)
{
	const struct channel *c = run->state;
	const struct channel *forth = &c[task & ~1U], *back = &c[task | 1];
	bool first = !(task & 1);
	u64 i, token;

	for (i = 0; i < run->loops; i++) {
		if (!first)
			expect(run, forth->out, i);
		token = first ? i : ~i;
		put(run, first ? forth->in : back->in, &token, sizeof(token));
		if (first)
			expect(run, back->out, ~i);
	}
	return first ? i : 0;
}

static u64 pipe_tasks(const struct load_options *o)
{
	return 2 * o->groups;
}

static u64 pipe_operations(const struct load_options *o)
{
	return o->groups;
}

const struct load load_sched_pipe = {
	.name = "sched-pipe",
	.summary = "two tasks pass a token back and forth through pipes",
	.operation = "round trip",
	.takes = LOAD_GROUPS | LOAD_THREADS,
	.usual = { .groups = 1 },
	.tasks = pipe_tasks,
	.operations = pipe_operations,
	.prepare = pipe_prepare,
	.work = pipe_work,
};

/*
 * --- sched-messaging: in each group, all senders write to all receivers ------------------------
 */

struct message {
	u64 sender, number;
};

static void messaging_prepare(struct load_run *run)
{
	u64 n = run->o->groups * run->o->tasks;

	run->state = load_run__memory(run, n, sizeof(struct channel));
	open_channels(run, run->state, n, !run->o->pipe);
}

static u64 send_all(struct load_run *run, const struct channel *group, u64 sender)
{
	char buffer[PIPE_BUF];
	struct message m = { .sender = sender };
	u64 k;

	memset(buffer, sender, run->o->size);
	for (; m.number < run->loops; m.number++) {
		memcpy(buffer, &m, sizeof(m));
		for (k = 0; k < run->o->tasks; k++)
			put(run, group[k].in, buffer, run->o->size);
	}
	return 0;
}

/* Messages of one sender arrive in order, those of different senders in any order. */
static u64 receive_all(struct load_run *run, int fd)
{
	u64 *next = load_run__memory(run, run->o->tasks, sizeof(*next));
	u64 all = run->o->tasks * run->loops, size = run->o->size, n;
	char buffer[PIPE_BUF];
	struct message m;

	for (n = 0; n < all; n++) {
		get(run, fd, buffer, size);
		memcpy(&m, buffer, sizeof(m));
		if (m.sender >= run->o->tasks || m.number != next[m.sender]++ ||
		    (size > sizeof(m) && buffer[size - 1] != (char)m.sender))
			crew__fail(run->crew, "a message came out of order or damaged", 0);
	}
	return n;
}

static u64 messaging_work(struct load_run *run, u32 task)
{
	const struct channel *c = run->state;
	u64 n = run->o->tasks, place = task % (2 * n);
	const struct channel *group = &c[task / (2 * n) * n];

	return place < n ? send_all(run, group, place) : receive_all(run, group[place - n].out);
}

static u64 messaging_tasks(const struct load_options *o)
{
	return 2 * o->groups * o->tasks;
}

static u64 messaging_operations(const struct load_options *o)
{
	return o->groups * o->tasks * o->tasks;
}

const struct load load_sched_messaging = {
	.name = "sched-messaging",
	.summary = "groups in which each sender writes to each receiver, over sockets or pipes",
	.operation = "message",
	.takes = LOAD_GROUPS | LOAD_TASKS | LOAD_THREADS | LOAD_SIZE | LOAD_PIPE,
	.usual = { .groups = 10, .tasks = 20, .size = 100 },
	.least_size = sizeof(struct message),
	.most_size = PIPE_BUF,
	.moves = true,
	.tasks = messaging_tasks,
	.operations = messaging_operations,
	.prepare = messaging_prepare,
	.work = messaging_work,
};
