// SPDX-License-Identifier: BSD-2-Clause
#include "disks/requests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agg/variable.h"
#include "agg/elements.h"
#include "base/clock.h"
#include "host/errno_name.h"
#include "types/kernel_btf.h"
#include "report/diag.h"
#include "report/units.h"

/*
 * Maximum number of requests in flight: full queues of a thousand requests on each of sixteen CPUs.
 * The map is preallocated (3 MiB), because each request adds and deletes an element, at half the
 * cost of allocation on demand.
 */
#define MOST_REQUESTS 16384

static const struct {
	const char *name;
	const char *text;
} sources[REQUEST_SOURCES] = {
	[REQUEST_SOURCE_START] = {
		"start",
		"tp_btf/block_io_start (submitter), block_rq_issue and block_rq_complete",
	},
	[REQUEST_SOURCE_GETRQ] = {
		"getrq",
		"tp_btf/block_getrq (submitter), block_rq_issue and block_rq_complete",
	},
	[REQUEST_SOURCE_ISSUE] = {
		NULL, "tp_btf/block_rq_issue and block_rq_complete, any submitter",
	},
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int parse_disk(void *own, char *name)
{
	struct requests *r = own;

	return disk__find(name, &r->disk);
}

static int parse_source(void *own, char *name)
{
	struct requests *r = own;
	enum request_source i;

	r->source = REQUEST_SOURCE_AUTO;
	if (!strcmp(name, "auto"))
		return 0;
	for (i = 0; i < REQUEST_SOURCES; i++) {
		if (sources[i].name && !strcmp(name, sources[i].name)) {
			r->source = i;
			return 0;
		}
	}
	diag_error("--source: expected auto, start or getrq, got '%s'", name);
	return -EINVAL;
}

static void complete_source(struct completion *c)
{
	enum request_source i;

	completion__add(c, "auto", "");
	for (i = 0; i < REQUEST_SOURCES; i++)
		if (sources[i].name)
			completion__add(c, sources[i].name, sources[i].text);
}

const struct option_row request_rows[] = {
	{ "disk", 0, "NAME", ROW_OWN, "Only requests of this disk: sda, 8:0", 0,
	  .parse = parse_disk, .complete = complete_disks },
	{ "source", 0, "NAME", ROW_OWN, "Tracepoint for submissions: auto (default), start (6.5), getrq", 0,
	  .parse = parse_source, .complete = complete_source },
	{},
};

/*
 * --- setup -------------------------------------------------------------------------------------
 */

/* Reading the kernel's types is slow, so the version is tested first. */
static bool has_start(const struct host *host)
{
	return host->version >= KERNEL_VERSION(6, 5, 0) ||
	       kernel_btf_arguments("btf_trace_block_io_start") >= 0;
}

/* Whether anything depends on the submitter of a request, or on its CPU or flags at submission. */
static bool needs_submissions(const struct requests *r, const struct cli *cli)
{
	return !r->from_issue || cli__picks_tasks(cli) || cli->scope.cpus ||
	       cli->by & ~(BY_DISK | BY_OP);
}

static int choose_source(struct requests *r, const struct cli *cli, bool start)
{
	if (r->source == REQUEST_SOURCE_START && !start) {
		diag_error("--source start: this kernel has no tracepoint block_io_start");
		diag_hint("it needs Linux 6.5; use --source getrq on older kernels");
		return -EOPNOTSUPP;
	}
	if (r->source != REQUEST_SOURCE_AUTO)
		return 0;
	if (!needs_submissions(r, cli))
		r->source = REQUEST_SOURCE_ISSUE;
	else
		r->source = start ? REQUEST_SOURCE_START : REQUEST_SOURCE_GETRQ;
	return 0;
}

static int choose_program(struct bpf_object *obj, const char *name, bool wanted)
{
	struct bpf_program *program = bpf_object__find_program_by_name(obj, name);

	return program ? bpf_program__set_autoload(program, wanted) : -ENOENT;
}

int requests__prepare(struct requests *r, struct measurement *m)
{
	struct bpf_map *map = bpf_object__find_map_by_name(m->obj, "requests");
	struct request_config *c = object_variable(m->obj, ".rodata", "request_config");
	bool start = has_start(&m->run->host);
	int err = map && c ? choose_source(r, m->cli, start) : -ENOENT;

	if (err)
		return err;
	r->obj = m->obj;
	m->source = requests__source(r);
	c->disk = r->disk;
	c->by_bio = r->source == REQUEST_SOURCE_GETRQ;
	c->at_issue = r->source == REQUEST_SOURCE_ISSUE;
	if (c->at_issue)
		m->scope.exclude_self = 0;    /* the submitter is unknown; -n shows this */
	/*
	 * The arguments are the context, in old kernels the queue, and then the request, or the bio
	 * and flags. Kernels with block_io_start (6.5) no longer pass the queue.
	 */
	c->queue_first = !start && kernel_btf_arguments("btf_trace_block_rq_issue") >= 3;
	c->queue_before_bio = !start && kernel_btf_arguments("btf_trace_block_getrq") >= 4;
	err = choose_program(m->obj, "on_start", r->source == REQUEST_SOURCE_START);
	if (!err)
		err = choose_program(m->obj, "on_getrq", r->source == REQUEST_SOURCE_GETRQ);
	return err ?: bpf_map__set_max_entries(map, MOST_REQUESTS);
}

void requests__begin(struct requests *r, struct request_run *counters)
{
	r->counters = counters;
}

/*
 * --- requests in flight ------------------------------------------------------------------------
 */

struct in_flight {
	u64 n;
	const struct request_state *oldest;
};

static bool is_in_flight(const struct requests *r, const struct request_state *st)
{
	if (st->standing != REQUEST_IN_SCOPE || (r->disk && st->disk != r->disk))
		return false;
	/*
	 * Excludes an empty request that waits for a flush, because the flush is a request of its
	 * own.
	 */
	return st->issue_ns || st->bytes || !(st->flags & REQUEST_PREFLUSH);
}

static void find_in_flight(const struct requests *r, const struct elements *e, struct in_flight *f)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		const struct request_state *st = elements__value(e, i);

		if (!is_in_flight(r, st))
			continue;
		f->n++;
		if (!f->oldest || st->submit_ns < f->oldest->submit_ns)
			f->oldest = st;
	}
}

static size_t add_in_flight(struct requests *r, const struct in_flight *f)
{
	char disk[DISK_NAME_SPACE], op[REQUEST_TEXT_SPACE], age[UNITS_SPACE], n[UNITS_SPACE];
	const struct request_state *st = f->oldest;
	u64 now = monotonic_ns(), age_ns;
	size_t length;

	if (!f->n)
		return 0;
	age_ns = now > st->submit_ns ? now - st->submit_ns : 0;
	length = snprintf(r->note, sizeof(r->note),
			  "%s still in flight, not in the figures; the oldest for %s: %s of %s",
			  format_count(n, f->n), format_value(age, age_ns, UNIT_NS, false),
			  request_op_name(st->op, op), disk__name(st->disk, disk));
	if (r->source != REQUEST_SOURCE_ISSUE)
		length += snprintf(r->note + length, sizeof(r->note) - length, " by %.*s (%u)",
				   TASK_KEY_COMM_LEN, st->comm, st->tid);
	else
		length += snprintf(r->note + length, sizeof(r->note) - length,
				   "; --by pid shows by whom");
	/*
	 * Text output shows notes only above the first report, but a hanging disk must be reported
	 * later as well.
	 */
	if (r->reports && age_ns >= NSEC_PER_SEC)
		diag_warn("%s", r->note);
	return length;
}

static void add_before(struct requests *r, size_t at)
{
	u64 before = *(volatile __u64 *)&r->counters->before, new = before - r->before;
	char n[UNITS_SPACE];

	r->before = before;
	if (new && at < sizeof(r->note))
		snprintf(r->note + at, sizeof(r->note) - at,
			 "%s%s began before the run and ended in it: left out", at ? "; " : "",
			 format_count(n, new));
}

int requests__describe(struct requests *r, struct report *report)
{
	struct elements e = { .key_size = sizeof(u64), .value_size = sizeof(struct request_state) };
	struct in_flight f = {};
	int err = elements__read(&e, bpf_object__find_map_fd_by_name(r->obj, "requests"));

	r->note[0] = 0;
	if (!err) {
		find_in_flight(r, &e, &f);
		add_before(r, add_in_flight(r, &f));
	}
	elements__free(&e);
	r->reports++;
	report->source = requests__source(r);
	report->caveat = r->note[0] ? r->note : NULL;
	return err;
}

const char *requests__source(const struct requests *r)
{
	return sources[r->source].text;
}

/*
 * --- names -------------------------------------------------------------------------------------
 */

const char *request_op_name(u8 op, char text[REQUEST_TEXT_SPACE])
{
	static const char *const names[] = {
		[REQUEST_READ] = "read", [REQUEST_WRITE] = "write", [REQUEST_FLUSH] = "flush",
		[REQUEST_DISCARD] = "discard", [REQUEST_SECURE_ERASE] = "secure-erase",
		[REQUEST_WRITE_ZEROES] = "write-zeroes",
	};

	if (op < ARRAY_SIZE(names) && names[op])
		snprintf(text, REQUEST_TEXT_SPACE, "%s", names[op]);
	else if (op >= REQUEST_DRIVER_FIRST && op <= REQUEST_DRIVER_LAST)
		snprintf(text, REQUEST_TEXT_SPACE, "command");
	else
		snprintf(text, REQUEST_TEXT_SPACE, "op-%u", op);
	return text;
}

const char *request_flags_name(u8 flags, char text[REQUEST_TEXT_SPACE])
{
	static const char *const names[] = {
		"Sync", "Meta", "Prio", "FUA", "PreFlush", "ReadAhead", "Background", "NoWait",
	};
	size_t i, n = 0;

	snprintf(text, REQUEST_TEXT_SPACE, "none");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & 1 << i)
			n += snprintf(text + n, REQUEST_TEXT_SPACE - n, "%s%s", n ? "+" : "",
				      names[i]);
	return text;
}

/* As in the kernel's blk_fill_rwbs(). */
const char *request_rwbs(u8 op, u8 flags, char text[REQUEST_TEXT_SPACE])
{
	static const char *const letters[] = {
		[REQUEST_READ] = "R", [REQUEST_WRITE] = "W", [REQUEST_FLUSH] = "F",
		[REQUEST_DISCARD] = "D", [REQUEST_SECURE_ERASE] = "DE",
	};
	const char *letter = op < ARRAY_SIZE(letters) && letters[op] ? letters[op] : "N";

	snprintf(text, REQUEST_TEXT_SPACE, "%s%s%s%s%s%s", flags & REQUEST_PREFLUSH ? "F" : "",
		 letter, flags & REQUEST_FUA ? "F" : "", flags & REQUEST_READAHEAD ? "A" : "",
		 flags & REQUEST_SYNC ? "S" : "", flags & REQUEST_META ? "M" : "");
	return text;
}

/* block/blk-core.c, blk_errors[]; higher numbers differ between kernel versions. */
static int status_errno(__s32 status)
{
	static const int errnos[] = {
		[1] = EOPNOTSUPP, [2] = ETIMEDOUT, [3] = ENOSPC,  [4] = ENOLINK,
		[5] = EREMOTEIO,  [6] = EBADE,     [7] = ENODATA, [8] = EILSEQ,
		[9] = ENOMEM,     [10] = EIO,      [11] = EREMCHG, [12] = EAGAIN,
	};

	return status < (__s32)ARRAY_SIZE(errnos) ? errnos[status] : 0;
}

const char *request_result(__s32 error, char text[REQUEST_TEXT_SPACE])
{
	int number = error < 0 ? -error : status_errno(error);
	const char *name = number ? errno_name(number) : NULL;

	if (!error)
		snprintf(text, REQUEST_TEXT_SPACE, "ok");
	else if (name)
		snprintf(text, REQUEST_TEXT_SPACE, "%s", name);
	else
		snprintf(text, REQUEST_TEXT_SPACE, "error-%d", error);
	return text;
}

static int add_own(void *context, const void *own, u32 by, struct report_row *row)
{
	const struct request_parts *parts = own;
	char text[REQUEST_TEXT_SPACE];
	int err = 0;

	(void)context;
	if (by & BY_DISK)
		err = report_row__add_text(row, "disk", disk__name(parts->disk, text));
	if (!err && by & BY_OP)
		err = report_row__add_text(row, "op", request_op_name(parts->op, text));
	if (!err && by & BY_FLAGS)
		err = report_row__add_text(row, "flags", request_flags_name(parts->flags, text));
	return err;
}

static const char *const own_names[] = { "disk", "op", "flags" };

const struct own_parts request_own_parts = {
	.name = own_names, .n = ARRAY_SIZE(own_names), .text = "disk, op, flags", .add = add_own,
};
