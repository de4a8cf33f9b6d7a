// SPDX-License-Identifier: BSD-2-Clause
#include "block/hist.h"

#include <errno.h>
#include <string.h>

#include "block/requests.h"
#include "out/diag.h"
#include "run/course.h"
#include "run/measure.h"

#include "biolatency.skel.h"

/* Of our own options; user/cli's are below, those of block/requests.h above. */
#define KEY_OF 0x1000

struct request_hist {
	enum request_value value;
	u32 by;                         /* where --by says nothing */
	struct requests requests;
	struct biolatency_bpf *bpf;
	struct measure measure;
};

static error_t parse_of(struct request_hist *h, const char *name)
{
	static const char *const names[] = {
		[REQUEST_QUEUE_TIME] = "queue", [REQUEST_DEVICE_TIME] = "device",
		[REQUEST_TOTAL_TIME] = "total",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i])) {
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

static int report(struct run *run, struct report *r)
{
	static const char *const values[] = {
		[REQUEST_QUEUE_TIME] = "time in queue", [REQUEST_DEVICE_TIME] = "time in device",
		[REQUEST_TOTAL_TIME] = "total time", [REQUEST_SIZE] = "size of requests",
	};
	struct request_hist *h = run->context;
	int err = requests__describe(&h->requests, r);

	r->value = values[h->value];
	r->unit = h->value == REQUEST_SIZE ? UNIT_BYTES : UNIT_NS;
	return err ?: measure__report(&h->measure, run, r);
}

static int open_skeleton(struct course *c, struct run *run)
{
	struct biolatency_bpf *bpf = biolatency_bpf__open();
	struct request_hist *h = c->context;
	int err;

	if (!bpf)
		return -errno;
	h->bpf = bpf;
	COURSE_SKELETON(c, bpf);
	bpf->rodata->value_of = h->value;
	h->requests.from_issue = h->value == REQUEST_DEVICE_TIME || h->value == REQUEST_SIZE;
	err = measure__prepare(&h->measure, run, bpf->obj, "values", sizeof(struct request_hist_key),
			       &bpf->rodata->scope, &bpf->rodata->by);
	return err ?: requests__prepare(&h->requests, c, run, &bpf->rodata->request_config);
}

static int attach(struct course *c, struct run *run)
{
	struct request_hist *h = c->context;
	int err = measure__begin(&h->measure, run, "values");

	if (!err)
		err = biolatency_bpf__attach(h->bpf);
	requests__begin(&h->requests, &h->bpf->bss->request_run);
	return err;
}

static int check(void *context, struct cli *cli)
{
	struct request_hist *h = context;

	if (!cli->by)
		cli->by = h->by;
	return 0;
}

int request_hist__main(const struct request_hist_tool *tool, int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "of", KEY_OF, "TIME", 0,
		  "Which time: device (default: issue to completion), queue (submission to issue) "
		  "or total", 0 },
		REQUESTS_OPTIONS,
		{},
	};
	bool times = tool->value != REQUEST_SIZE;
	const struct argp own = { .options = times ? options : options + 1, .parser = parse_own };
	struct request_hist h = { .value = tool->value, .by = tool->by, .requests = REQUESTS };
	struct course course = {
		.tool = tool->name, .context = &h, .check = check, .open = open_skeleton,
		.attach = attach, .report = report,
	};
	const struct cli_spec spec = {
		.groups = CLI_HISTOGRAM | (times ? CLI_TIMES : 0),
		.doc = tool->doc,
		.own = &own,
		.own_input = &h,
		.own_parts = &request_own_parts,
	};
	int code = course__main(&course, &spec, argc, argv);

	measure__free(&h.measure);
	biolatency_bpf__destroy(h.bpf);
	return code;
}
