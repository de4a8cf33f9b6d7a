// SPDX-License-Identifier: BSD-2-Clause
#include "run/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "agg/elements.h"
#include "agg/variable.h"
#include "base/clock.h"
#include "base/confined.h"

#define AT_ONCE 4096            /* records per write */
#define STOP (-EINTR)           /* from the callback: pause the drain */
#define LOOK_NS (50 * NSEC_PER_MSEC)
/* Showing a record with a stack can take longer than the event itself: a drain must not delay the end of the run. */
#define TURN_NS (50 * NSEC_PER_MSEC)
#define CPU_TIME_EACH 16        /* records between two readings of the CPU time, which is a system call */

/*
 * Large enough for a reader that does not read for a third of a second, because it is descheduled or the terminal is
 * slow.
 */
#define LEAST_RING (8ULL << 20)
#define MOST_RING (64ULL << 20)
#define RING_PER_CPU (1ULL << 20)
#define RARER 8                         /* rings of rare events are this much smaller */

struct ring {
	struct writer *writer;
	ring_take take;
	void *context;
	struct ring_buffer *buffer;
	size_t least;                   /* bytes of the shortest record */
	bool hears_signals;
	bool all_committed;             /* no program runs any more, so every reserved record is committed */
	u64 last_ns, last_cpu_ns;       /* limits of the last drain */
	u64 end_ns, end_cpu_ns;         /* of this drain: CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID; 0: none */
	bool is_over;                   /* one of them has passed */
	bool has_stopped;               /* the last consume call, before the end of the records */
	bool is_drained;                /* nothing was left by the last drain */
	bool skips;                     /* counts records as unread instead of taking them */
	u64 unread;
	int epoll_fd, timer_fd;
	u32 room;                       /* most records the buffer can hold */
	u32 here, most;                 /* records taken by this consume call, and its limit */
	int err;                        /* of this consume call */
	void *kept;                     /* the next record, if it could not be taken yet; else NULL */
	size_t kept_size;
};

static u64 bytes_for(const struct host *host)
{
	u64 bytes = RING_PER_CPU * host->cpus_online;

	return bytes < LEAST_RING ? LEAST_RING : bytes > MOST_RING ? MOST_RING : bytes;
}

u64 ring__bytes_of_rare(const struct host *host)
{
	return bytes_for(host) / RARER;
}

int ring__prepare(struct bpf_object *obj, const struct host *host)
{
	return ring__prepare_bytes(obj, bytes_for(host));
}

int ring__prepare_bytes(struct bpf_object *obj, u64 bytes)
{
	struct bpf_map *records = bpf_object__find_map_by_name(obj, "records");
	u64 size = sysconf(_SC_PAGESIZE);

	if (!records)
		return -ENOENT;
	while (size < bytes)
		size *= 2;
	return object_set(obj, "wake_bytes", size / 4) ?: bpf_map__set_max_entries(records, size);
}

u64 ring__to_wall_clock(void)
{
	return realtime_ns() - monotonic_ns();
}

static bool is_to_wait(const struct ring *r)
{
	return r->hears_signals && !r->writer->is_last && confined__interrupted();
}

/*
 * Sets the limits of a drain. The limit of CPU time suits a busy machine; the limit of elapsed time applies if the
 * output is not read.
 */
static void begin_turn(struct ring *r)
{
	bool is_last = r->writer->is_last;

	r->is_over = false;
	r->end_ns = r->hears_signals ? monotonic_ns() + (is_last ? r->last_ns : TURN_NS) : 0;
	r->end_cpu_ns = r->hears_signals && is_last ? clock_ns(CLOCK_THREAD_CPUTIME_ID) + r->last_cpu_ns : 0;
}

static bool is_turn_over(struct ring *r)
{
	if (r->end_ns && monotonic_ns() >= r->end_ns)
		r->is_over = true;
	if (r->end_cpu_ns && !(r->here % CPU_TIME_EACH) && clock_ns(CLOCK_THREAD_CPUTIME_ID) >= r->end_cpu_ns)
		r->is_over = true;
	return r->is_over;
}

static int keep(struct ring *r, const void *data, size_t size)
{
	r->kept = malloc(size);
	if (!r->kept)
		return -ENOMEM;
	memcpy(r->kept, data, size);
	r->kept_size = size;
	return 0;
}

static int take_record(void *context, void *data, size_t size)
{
	struct ring *r = context;

	if (r->skips) {
		r->unread++;
		return 0;
	}
	r->err = size < r->least ? -EBADMSG : r->take(r->context, data, size);
	/* libbpf counts the record as consumed, and stops after it. */
	if (r->err == -EINTR) {
		r->err = keep(r, data, size);
		return STOP;
	}
	if (r->err)
		return r->err;
	return ++r->here >= r->most || is_to_wait(r) || is_turn_over(r) ? STOP : 0;
}

static int take_kept(struct ring *r)
{
	int err = r->take(r->context, r->kept, r->kept_size);

	if (err)
		return err;
	free(r->kept);
	r->kept = NULL;
	r->here++;
	return 0;
}

/* Formats pending records into new memory. */
static int collect(struct ring *r, char **text, size_t *n)
{
	FILE *file = r->writer->file;
	int taken = 0;

	r->writer->file = open_memstream(text, n);
	if (!r->writer->file) {
		r->writer->file = file;
		return -ENOMEM;
	}
	if (r->kept)
		taken = take_kept(r);
	if (!taken)
		taken = ring_buffer__consume(r->buffer);
	r->has_stopped = taken == STOP;
	if (fclose(r->writer->file) && !r->err)
		r->err = -ENOMEM;
	r->writer->file = file;
	if (r->err)
		return r->err;
	return taken < 0 && taken != STOP ? taken : 0;
}

static int take_some(struct ring *r)
{
	char *text = NULL;
	size_t n = 0;
	int err;

	r->here = 0;
	r->err = 0;
	err = collect(r, &text, &n);
	if (!err && n)
		err = writer__emit(r->writer, text, n);
	free(text);
	return err;
}

/* Consumes pending edges: the epoll descriptor is edge-triggered. */
static void forget_edges(struct ring *r)
{
	struct epoll_event events[2];
	u64 expired;

	if (epoll_wait(r->epoll_fd, events, ARRAY_SIZE(events), 0) > 0 &&
	    read(r->timer_fd, &expired, sizeof(expired)) < 0)
		return;         /* it was not the timer */
}

/*
 * Waits until reserved records are committed: no record after a reserved one can be read. Otherwise, the last report
 * would lose a record that a program was about to commit on a stalled CPU, and all records after it.
 */
static int await_commits(struct ring *r)
{
	int err;

	if (r->all_committed || !r->writer->is_last)
		return 0;
	err = elements__await_programs();
	r->all_committed = !err;
	return err;
}

/* Counts the remaining records as unread, after the last drain. Programs have ended, so no record is added. */
static int skip_rest(struct ring *r)
{
	int n;

	r->unread += r->kept != NULL;
	free(r->kept);
	r->kept = NULL;
	r->skips = true;
	n = ring_buffer__consume(r->buffer);
	r->skips = false;
	return n < 0 ? n : 0;
}

/* Sets the timer, because records are left for which no further edge is reported. */
static int come_back(struct ring *r)
{
	const struct itimerspec soon = { .it_interval = { .tv_nsec = LOOK_NS }, .it_value = { .tv_nsec = 1 } };

	return timerfd_settime(r->timer_fd, 0, &soon, NULL) ? -errno : 0;
}

int ring__drain(struct ring *r)
{
	u32 left = r->room;
	int err;

	forget_edges(r);
	err = await_commits(r);
	begin_turn(r);
	r->is_drained = false;
	while (left && !err && !is_to_wait(r)) {
		r->most = left < AT_ONCE ? left : AT_ONCE;
		err = take_some(r);
		r->is_drained = !err && !r->has_stopped;
		if (r->here < r->most)
			break;
		left -= r->most;
	}
	if (!err && r->is_over)
		err = r->writer->is_last ? skip_rest(r) : come_back(r);
	return err;
}

bool ring__is_drained(const struct ring *r)
{
	return r->is_drained;
}

u64 ring__take_unread(struct ring *r)
{
	u64 unread = r->unread;

	r->unread = 0;
	return unread;
}

void ring__limit_last(struct ring *r, u64 ns, u64 cpu_ns)
{
	r->last_ns = ns;
	r->last_cpu_ns = cpu_ns;
}

void ring__hear_signals(struct ring *r)
{
	r->hears_signals = true;
}

bool ring__keeps_one(const struct ring *r)
{
	return r->kept;
}

int ring__fd(const struct ring *r)
{
	return r->epoll_fd;
}

static int watch(struct ring *r, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int watch_all(struct ring *r, int records_fd)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	const struct itimerspec often = { .it_interval = look, .it_value = look };
	int err;

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->epoll_fd < 0 || r->timer_fd < 0 || timerfd_settime(r->timer_fd, 0, &often, NULL))
		return -errno;
	err = watch(r, r->timer_fd);
	return err ?: watch(r, records_fd);
}

int ring__open(struct ring **out, const struct bpf_map *records, size_t least,
	       struct writer *writer, ring_take take, void *context)
{
	struct ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->least = least;
	r->writer = writer;
	r->take = take;
	r->context = context;
	r->epoll_fd = r->timer_fd = -1;
	ring__limit_last(r, RING_LAST_NS, RING_LAST_CPU_NS);
	/* Each record has an 8-byte header. */
	r->room = bpf_map__max_entries(records) / (8 + least) + 1;
	r->buffer = ring_buffer__new(bpf_map__fd(records), take_record, r, NULL);
	err = r->buffer ? watch_all(r, bpf_map__fd(records)) : -errno;
	if (err) {
		ring__close(r);
		return err;
	}
	*out = r;
	return 0;
}

void ring__close(struct ring *r)
{
	if (!r)
		return;
	ring_buffer__free(r->buffer);
	free(r->kept);
	if (r->timer_fd >= 0)
		close(r->timer_fd);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r);
}
