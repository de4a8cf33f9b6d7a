// SPDX-License-Identifier: BSD-2-Clause
#include "disks/hist.h"

#include <errno.h>
#include <string.h>

#include "report/diag.h"

#include "biolatency.skel.h"

SHARED_SKELETON(biolatency);

/* Keys of our own options; those of user/cli are below, those of disks/requests.h above. */
#define KEY_OF 0x1000

static const char *const times[] = {
	[REQUEST_QUEUE_TIME] = "queue", [REQUEST_DEVICE_TIME] = "device", [REQUEST_TOTAL_TIME] = "total",
};

static error_t parse_of(struct request_hist *h, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		if (!strcmp(name, times[i])) {
			h->value = i;
			return 0;
		}
	}
	diag_error("--of: no time '%s'; there are queue, device, total", name);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct request_hist *h = state->input;

	return key == KEY_OF ? parse_of(h, arg) : requests__parse(&h->requests, key, arg);
}

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

static const struct argp_option options_of_times[] = {
	{ "of", KEY_OF, "TIME", 0,
	  "Which time: device (default: issue to completion), queue (submission to issue) "
	  "or total", 0 },
	REQUESTS_OPTIONS,
	{},
};

OPTION_VALUES(of, .options = options_of_times, .key = KEY_OF, .word = times, .n = ARRAY_SIZE(times));
REQUESTS_VALUES(options_of_times);
const struct argp request_times_argp = { .options = options_of_times, .parser = parse_own };
const struct argp request_sizes_argp = { .options = options_of_times + 1, .parser = parse_own };
