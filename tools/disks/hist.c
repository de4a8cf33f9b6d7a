// SPDX-License-Identifier: BSD-2-Clause
#include "disks/hist.h"

#include <string.h>

#include "biolatency.skel.h"

SHARED_SKELETON(biolatency);

static const char *const times[] = {
	[REQUEST_QUEUE_TIME] = "queue", [REQUEST_DEVICE_TIME] = "device", [REQUEST_TOTAL_TIME] = "total",
};

int request_hist__report(struct measurement *m, struct report *r)
{
	static const char *const values[] = {
		[REQUEST_QUEUE_TIME] = "time in queue", [REQUEST_DEVICE_TIME] = "time in device",
		[REQUEST_TOTAL_TIME] = "total time", [REQUEST_SIZE] = "size of requests",
	};
	static const char *const metrics[] = {
		[REQUEST_QUEUE_TIME] = "queue", [REQUEST_DEVICE_TIME] = "device", [REQUEST_TOTAL_TIME] = "request",
		[REQUEST_SIZE] = "request",
	};
	struct request_hist *h = m->own;
	int err = requests__describe(&h->requests, r);

	r->value = values[h->value];
	r->metric = metrics[h->value];
	r->unit = h->value == REQUEST_SIZE ? UNIT_BYTES : UNIT_NS;
	return err ?: measure__report(&m->measure, m, r);
}

int request_hist__open(struct measurement *m)
{
	struct biolatency_bpf *bpf = m->bpf;
	struct request_hist *h = m->own;

	bpf->rodata->value_of = h->value;
	h->requests.from_issue = h->value == REQUEST_DEVICE_TIME || h->value == REQUEST_SIZE;
	return requests__prepare(&h->requests, m);
}

int request_hist__attach(struct measurement *m)
{
	struct request_hist *h = m->own;
	struct biolatency_bpf *bpf = m->bpf;
	int err = measurement__attach(m);

	requests__begin(&h->requests, &bpf->bss->request_run);
	return err;
}

int request_hist__check(void *own, struct cli *cli)
{
	struct request_hist *h = own;

	if (!cli->by)
		cli->by = h->by;
	return 0;
}

void request_hist__init(struct request_hist *h, enum request_value value, u32 by)
{
	*h = (struct request_hist){ .value = value, .by = by, .requests = REQUESTS };
}

const struct option_row request_time_rows[] = {
	{ "of", 0, "TIME", ROW_WORD,
	  "Which time: device (default: issue to completion), queue (submission to issue) or total", 0,
	  FIELD(struct request_hist, value), WORDS(times), .noun = "time" },
	INCLUDE(struct request_hist, requests, request_rows),
	{},
};

const struct option_row request_size_rows[] = {
	INCLUDE(struct request_hist, requests, request_rows),
	{},
};
