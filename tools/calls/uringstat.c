// SPDX-License-Identifier: BSD-2-Clause
/* uringstat: io_uring requests by operation. The measurement is bpf/calls/uringstat.bpf.c. */
#include <errno.h>
#include <stdio.h>

#include "agg/elements.h"
#include "host/errno_name.h"
#include "report/diag.h"
#include "run/map_room.h"
#include "run/measurement.h"
#include "run/tabulate.h"
#include "run/uring.h"
#include "tools.h"

#include "bpf/calls/uringstat.h"
#include "uringstat.skel.h"

SKELETON(uringstat);

#define SOURCE(submission) "tp_btf/" submission ", io_uring_complete"

/* Requests in flight at once, on all rings. */
#define REQUESTS 65536

struct uringstat {
	struct uringstat_bpf *bpf;
	struct uring_counts reported; /* in earlier reports */
	char note[400];		      /* all parts of describe() with any numbers */
};

/* include/uapi/linux/io_uring.h: enum io_uring_op, of 7.2 */
static const char *const ops[] = {
	"nop",
	"readv",
	"writev",
	"fsync",
	"read_fixed",
	"write_fixed",
	"poll_add",
	"poll_remove",
	"sync_file_range",
	"sendmsg",
	"recvmsg",
	"timeout",
	"timeout_remove",
	"accept",
	"async_cancel",
	"link_timeout",
	"connect",
	"fallocate",
	"openat",
	"close",
	"files_update",
	"statx",
	"read",
	"write",
	"fadvise",
	"madvise",
	"send",
	"recv",
	"openat2",
	"epoll_ctl",
	"splice",
	"provide_buffers",
	"remove_buffers",
	"tee",
	"shutdown",
	"renameat",
	"unlinkat",
	"mkdirat",
	"symlinkat",
	"linkat",
	"msg_ring",
	"fsetxattr",
	"setxattr",
	"fgetxattr",
	"getxattr",
	"socket",
	"uring_cmd",
	"send_zc",
	"sendmsg_zc",
	"read_multishot",
	"waitid",
	"futex_wait",
	"futex_wake",
	"futex_waitv",
	"fixed_fd_install",
	"ftruncate",
	"bind",
	"listen",
	"recv_zc",
	"epoll_wait",
	"readv_fixed",
	"writev_fixed",
	"pipe",
	"nop128",
	"uring_cmd128",
};

static const char *const vias[URING_VIAS] = {
	[URING_DIRECT] = "direct",
	[URING_POLL] = "poll",
	[URING_WORKER] = "worker",
};

/*
 * --- keys --------------------------------------------------------------------------------------
 */

static int add_result(struct report_row *row, u32 error)
{
	const char *name = error ? errno_name(error) : "ok";
	char text[16];

	snprintf(text, sizeof(text), "%u", error);
	return report_row__add_text(row, "result", name ?: text);
}

static int add_parts(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct uring_own *key = own;
	char text[16];
	int err = 0;

	(void)context;
	snprintf(text, sizeof(text), "op %u", key->op);
	if (by & BY_URING_OP)
		err = report_row__add_text(row, "op", key->op < ARRAY_SIZE(ops) ? ops[key->op] : text);
	if (!err && by & BY_URING_VIA)
		err = report_row__add_text(row, "via", key->via < URING_VIAS ? vias[key->via] : "?");
	return err || !(by & BY_URING_RESULT) ? err : add_result(row, key->error);
}

static int check(void *own, struct cli *cli)
{
	(void)own;
	if (!cli->by)
		cli->by = BY_URING_OP | BY_URING_VIA | BY_URING_RESULT;
	return 0;
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static int open_skeleton(struct measurement *m)
{
	struct uringstat_bpf *bpf = m->bpf;
	struct uring_layout layout = {};
	struct uringstat *u = m->own;
	int err = uring__prepare(m->obj, &layout);

	u->bpf = bpf;
	if (err == -ENOENT)
		diag_error("this kernel has no io_uring");
	if (err == -EOPNOTSUPP)
		diag_error(
			"the io_uring tracepoints of this kernel do not name the request (5.10 before 5.10.162, to 5.13)");
	/* Without BTF, loading fails, and is explained. */
	if (err && err != -ENODATA)
		return -EOPNOTSUPP;
	if (layout.old_submit)
		m->source = SOURCE("io_uring_submit_sqe");
	return map__preallocate(bpf->maps.requests, REQUESTS);
}

static u64 requests_in_flight(const struct uringstat *u)
{
	struct elements e = { .key_size = sizeof(struct uring_id), .value_size = sizeof(struct uring_request) };
	u64 n = 0;

	if (!elements__read(&e, bpf_map__fd(u->bpf->maps.requests)))
		n = e.n;
	elements__free(&e);
	return n;
}

/* "3 requests in flight; 2 further completions of multishot requests" */
static void describe(struct uringstat *u, struct report *r)
{
	const struct uring_counts now = u->bpf->bss->counts, *before = &u->reported;
	const struct {
		u64 n;
		const char *one, *many;
	} parts[] = {
		{ requests_in_flight(u), "request in flight", "requests in flight" },
		{ now.further - before->further, "more completion of a multishot request",
		  "more completions of multishot requests" },
		{ now.overflows - before->overflows, "completion without room in its ring",
		  "completions without room in their rings" },
		{ now.unknown - before->unknown, "completion of an unknown request",
		  "completions of unknown requests" },
		{ now.silent - before->silent, "request ended without a completion event",
		  "requests ended without a completion event" },
	};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].n)
			n += snprintf(u->note + n, sizeof(u->note) - n, "%s%llu %s", n ? "; " : "", parts[i].n,
				      parts[i].n == 1 ? parts[i].one : parts[i].many);
	r->caveat = n ? u->note : NULL;
	u->reported = now;
}

static int report(struct measurement *m, struct report *r)
{
	const struct tabulation columns = {};

	describe(m->own, r);
	return measure__tabulate(&m->measure, m, r, &columns);
}

static const char *const part_names[] = { "op", "via", "result" };

static const struct own_parts parts = {
	.name = part_names,
	.n = ARRAY_SIZE(part_names),
	.text = "op, via, result",
	.add = add_parts,
};

static const struct tool_spec spec = {
	.name = "uringstat",
	.cli = {
		.groups = CLI_HISTOGRAM | CLI_TIMES,
		.doc = "How long io_uring requests take, by operation: how many, how they were completed, and which fail.",
		.own_parts = &parts,
	},
	.own_size = sizeof(struct uringstat), .skeleton = &uringstat_skeleton,
	.hist = { "times", sizeof(struct uring_key) },
	.value = "time of io_uring requests", .metric = "request", .unit = UNIT_NS,
	.source = SOURCE("io_uring_submit_req"),
	.check = check, .open = open_skeleton, .report = report,
};

TOOL_MEASURING(uringstat, spec, AREA_CALLS, "io_uring requests: how many, how long, which fail, which need a worker");
