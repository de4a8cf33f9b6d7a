// SPDX-License-Identifier: BSD-2-Clause
#include "stack/throttled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/array.h"
#include "base/numbers.h"
#include "host/host.h"
#include "report/diag.h"

#define RING_PAGES 2    /* 128 throttlings on pages of 4 KiB: half a second at worst */

/* Returns the limit, or 0 if unknown. */
static u64 read_limit(void)
{
	char line[32];
	u64 limit;

	if (read_line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof(line)) ||
	    parse_u64(line, &limit))
		return 0;
	return limit;
}

void throttled__begin(struct throttled *t)
{
	*t = (struct throttled){ .limit = read_limit() };
}

int throttled__watch(struct throttled *t, int fd, int cpu, int watch_fd)
{
	struct throttled_cpu *c;
	struct epoll_event event = { .events = EPOLLIN };

	if (ARRAY_ROOM(t->each, t->n))
		return -ENOMEM;
	c = &t->each[t->n];
	*c = (struct throttled_cpu){ .cpu = cpu };
	if (perf_ring__map(&c->ring, fd, RING_PAGES * getpagesize()))
		return 0;
	epoll_ctl(watch_fd, EPOLL_CTL_ADD, fd, &event);
	t->n++;
	return 0;
}

static int take(void *ctx, const struct perf_event_header *record)
{
	struct throttled_cpu *c = ctx;
	u64 lost[2];            /* event id and count */

	if (record->type == PERF_RECORD_THROTTLE)
		c->times++;
	if (record->type != PERF_RECORD_LOST || record->size < sizeof(*record) + sizeof(lost))
		return 0;
	memcpy(lost, record + 1, sizeof(lost));
	c->lost += lost[1];
	return 0;
}

void throttled__read(struct throttled *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		perf_ring__read(&t->each[i].ring, take, &t->each[i]);
}

u64 throttled__since(struct throttled *t)
{
	u64 before = t->told;
	size_t i;

	throttled__read(t);
	for (t->told = 0, i = 0; i < t->n; i++)
		t->told += t->each[i].times;
	return t->told - before;
}

void throttled__close(struct throttled *t)
{
	u64 limit = read_limit();
	bool any = false;
	size_t i;

	throttled__read(t);
	for (i = 0; i < t->n; i++) {
		struct throttled_cpu *c = &t->each[i];

		if (c->times || c->lost)
			diag_warn("the kernel throttled sampling %s%llu time%s on CPU %d: code that was busy then "
				  "has too few samples", c->lost ? "at least " : "", c->times,
				  c->times == 1 ? "" : "s", c->cpu);
		any |= c->times || c->lost;
		perf_ring__unmap(&c->ring);
	}
	if (any)
		diag_hint("kernel.perf_event_max_sample_rate is %llu per second; take fewer samples, or raise it",
			  limit);
	if (limit && limit < t->limit)
		diag_warn("kernel.perf_event_max_sample_rate went down from %llu to %llu during the run: samples "
			  "took too long, or the setting was changed", t->limit, limit);
	free(t->each);
	*t = (struct throttled){};
}
