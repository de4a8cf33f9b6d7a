// SPDX-License-Identifier: BSD-2-Clause
#include "sched/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 4096            /* records whose lines are written at once */
#define STOP (-EINTR)           /* from the callback: enough for now */
#define LOOK_NS (50 * NSEC_PER_MSEC)

#define LEAST_RING (8U << 20)
#define MOST_RING (64U << 20)
#define RING_PER_CPU (1U << 20)

struct feed {
	struct writer *writer;
	feed_take take;
	void *context;
	struct ring_buffer *ring;
	int epoll_fd, timer_fd;
	u32 room;                       /* records that the buffer has room for at most */
	u32 here, most;                 /* records of this call of the kernel */
	int err;                        /* likewise */
};

int feed__prepare(struct bpf_map *records, const struct host *host, volatile u64 *wake_bytes)
{
	u32 bytes = LEAST_RING;

	while (bytes < MOST_RING && bytes < (u64)RING_PER_CPU * host->cpus_online)
		bytes *= 2;
	*wake_bytes = bytes / 4;
	return bpf_map__set_max_entries(records, bytes);
}

u64 feed__to_wall_clock(void)
{
	struct timespec real, monotonic;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (real.tv_sec - monotonic.tv_sec) * NSEC_PER_SEC + real.tv_nsec - monotonic.tv_nsec;
}

static int take_record(void *context, void *data, size_t size)
{
	struct feed *f = context;

	f->err = size < sizeof(struct switches_record) ? -EBADMSG : f->take(f->context, data);
	if (f->err)
		return f->err;
	return ++f->here == f->most ? STOP : 0;
}

/* The lines that records become, in new memory. */
static int collect(struct feed *f, char **text, size_t *n)
{
	FILE *file = f->writer->file;
	int taken;

	f->writer->file = open_memstream(text, n);
	if (!f->writer->file) {
		f->writer->file = file;
		return -ENOMEM;
	}
	taken = ring_buffer__consume(f->ring);
	if (fclose(f->writer->file) && !f->err)
		f->err = -ENOMEM;
	f->writer->file = file;
	if (f->err)
		return f->err;
	return taken < 0 && taken != STOP ? taken : 0;
}

static int take_some(struct feed *f)
{
	FILE *file = f->writer->file;
	char *text = NULL;
	size_t n = 0;
	int err;

	f->here = 0;
	f->err = 0;
	err = collect(f, &text, &n);
	errno = 0;
	if (!err && n && (fwrite(text, 1, n, file) != n || fflush(file) || ferror(file)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

/* The descriptor is edge-triggered: whoever comes to read has seen the edge. */
static void forget_edges(struct feed *f)
{
	struct epoll_event events[2];
	u64 expired;

	if (epoll_wait(f->epoll_fd, events, ARRAY_SIZE(events), 0) > 0 &&
	    read(f->timer_fd, &expired, sizeof(expired)) < 0)
		return;         /* it was not the timer */
}

int feed__drain(struct feed *f)
{
	u32 left = f->room;
	int err = 0;

	forget_edges(f);
	while (left && !err) {
		f->most = left < AT_ONCE ? left : AT_ONCE;
		err = take_some(f);
		if (f->here < f->most)
			break;
		left -= f->most;
	}
	return err;
}

int feed__fd(const struct feed *f)
{
	return f->epoll_fd;
}

static int watch(struct feed *f, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int watch_all(struct feed *f, int records_fd)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	const struct itimerspec often = { .it_interval = look, .it_value = look };
	int err;

	f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	f->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (f->epoll_fd < 0 || f->timer_fd < 0 || timerfd_settime(f->timer_fd, 0, &often, NULL))
		return -errno;
	err = watch(f, f->timer_fd);
	return err ?: watch(f, records_fd);
}

int feed__open(struct feed **out, const struct bpf_map *records, struct writer *writer,
	       feed_take take, void *context)
{
	struct feed *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->writer = writer;
	f->take = take;
	f->context = context;
	f->epoll_fd = f->timer_fd = -1;
	/* Each has a header of 8 bytes in front of it. */
	f->room = bpf_map__max_entries(records) / (8 + sizeof(struct switches_record)) + 1;
	f->ring = ring_buffer__new(bpf_map__fd(records), take_record, f, NULL);
	err = f->ring ? watch_all(f, bpf_map__fd(records)) : -errno;
	if (err) {
		feed__close(f);
		return err;
	}
	*out = f;
	return 0;
}

void feed__close(struct feed *f)
{
	if (!f)
		return;
	ring_buffer__free(f->ring);
	if (f->timer_fd >= 0)
		close(f->timer_fd);
	if (f->epoll_fd >= 0)
		close(f->epoll_fd);
	free(f);
}
