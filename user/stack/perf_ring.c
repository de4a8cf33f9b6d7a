// SPDX-License-Identifier: BSD-2-Clause
#include "stack/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring__map(struct perf_ring *r, int fd, size_t bytes)
{
	void *base = mmap(NULL, bytes + getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*r = (struct perf_ring){};
	if (base == MAP_FAILED)
		return -errno;
	*r = (struct perf_ring){ base, bytes, malloc(UINT16_MAX) };     /* the largest size that a header can have */
	if (!r->record) {
		perf_ring__unmap(r);
		return -ENOMEM;
	}
	return 0;
}

static void copy_out(const struct perf_ring *r, u64 from, void *to, size_t size)
{
	const char *data = (const char *)r->base + getpagesize();
	size_t at = from % r->bytes, first = r->bytes - at < size ? r->bytes - at : size;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, size - first);
}

int perf_ring__read(struct perf_ring *r, int (*take)(void *ctx, const struct perf_event_header *record),
		    void *ctx)
{
	struct perf_event_mmap_page *page = r->base;
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	struct perf_event_header *record = r->record;
	int err = 0;

	/* Unread data never exceeds the ring's size. */
	while (!err && head - tail <= r->bytes && head - tail >= sizeof(*record)) {
		copy_out(r, tail, record, sizeof(*record));
		if (record->size < sizeof(*record) || record->size > head - tail)
			break;
		copy_out(r, tail, record, record->size);
		tail += record->size;
		err = take(ctx, record);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return err;
}

void perf_ring__unmap(struct perf_ring *r)
{
	if (r->base)
		munmap(r->base, r->bytes + getpagesize());
	free(r->record);
	*r = (struct perf_ring){};
}
