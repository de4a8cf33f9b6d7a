// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/critical.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/elements.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "calls/syscall/calls.h"
#include "calls/why/cause.h"
#include "calls/why/path_rows.h"
#include "calls/why/path_sides.h"
#include "calls/why/servers.h"
#include "host/interrupt.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "types/kernel_btf.h"

#include "whypath.skel.h"

SHARED_SKELETON(whypath);

#define SOURCE                                                                                                         \
	"tp_btf/sched_switch, sched_waking, sched_wakeup, sched_wakeup_new and task_rename, by CLOCK_MONOTONIC; "      \
	"interrupts: the kernel's preempt_count"

/*
 * --- options -----------------------------------------------------------------------------------
 */

static bool has_one_subject(const struct cli *cli)
{
	const struct scope_options *o = &cli->scope;

	return cli->command ? o->npids + o->ntids <= 1 : o->npids + o->ntids == 1;
}

static bool is_narrowed(const struct cli *cli)
{
	const struct scope_options *o = &cli->scope;

	return o->user || o->cgroup || o->cpus || o->comm || o->pidns || o->all;
}

int critical__check(const struct critical *c, const struct cli *cli)
{
	bool has_spans = why_spans__are_wanted(c->spans);

	if (!c->wanted && c->each)
		diag_error("--each needs --critical-path");
	else if (c->each && has_spans)
		diag_error("--each lists a single path and cannot be combined with --slow or --from");
	else if (!c->wanted || has_spans)
		return 0;
	else if (is_narrowed(cli))
		diag_error("--critical-path cannot be combined with a scope other than a command, -p or -t");
	else if (!has_one_subject(cli))
		diag_error("--critical-path needs one subject: a command, one -p or one -t");
	else if (cli->interval_ns || cli->on_demand || cli->live)
		diag_error("--critical-path cannot be combined with intervals, --live or --listen");
	else if (cli->by)
		diag_error("--critical-path and --by cannot be combined");
	else if (cli->order && strcmp(cli->order, "time"))
		diag_error("--critical-path can only be sorted by time or key");
	else if (c->each && cli->format == FORMAT_OPENMETRICS)
		diag_error("--each cannot be combined with OpenMetrics output");
	else
		return 0;
	return -EINVAL;
}

/*
 * --- measuring ---------------------------------------------------------------------------------
 */

int critical__open(struct critical *c, struct measurement *m, struct call_signatures *signatures)
{
	bool locks = kernel_btf_arguments("btf_trace_contention_begin") > 0;
	struct whypath_bpf *bpf = c->bpf = m->bpf;
	int err;

	m->source = SOURCE;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	why_describe_calls((u8 *)bpf->rodata->descriptor, signatures);
	bpf->rodata->server_codes = why_find_servers((struct why_code *)bpf->rodata->server_code);
	bpf_program__set_autoload(bpf->progs.on_throttle, false);
	bpf_program__set_autoload(bpf->progs.on_unthrottle, false);
	bpf_program__set_autoload(bpf->progs.on_lock, locks);
	bpf_program__set_autoload(bpf->progs.on_locked, locks);
	if (why_spans__are_wanted(c->spans)) {
		err = why_spans__choose(c->spans, m, &SPAN_SETTINGS(bpf));
		if (err)
			return err;
	}
	err = interrupt__prepare(m->obj, &c->knows_interrupts);
	if (!err)
		err = ring__prepare(m->obj, &m->run->host);
	return err ?: task_state__prepare(m->obj, "path_states", &m->run->host);
}

static int take(void *context, const void *record, size_t size)
{
	struct critical *c = context;

	(void)size;
	return path__take(&c->path, record);
}

int critical__watch(struct critical *c)
{
	return ring__drain(c->ring);
}

int critical__attach(struct critical *c, struct measurement *m)
{
	int err = ring__open(&c->ring, c->bpf->maps.records, sizeof(struct whypath_record), m->writer, take, c);

	if (err)
		return err;
	if (m->cli->scope.ntids)
		c->path.end_tid = m->cli->scope.tids[0];
	else
		c->path.end_pid = m->cli->scope.npids ? m->cli->scope.pids[0] : m->cli->scope.command_pid;
	m->watch_fd = ring__fd(c->ring);
	err = measurement__fill_scope(m, m->obj) ?: measurement__attach_programs(m);
	if (!err && why_spans__are_wanted(c->spans))
		err = why_spans__attach(c->spans, m);
	return err;
}

/* No state changes after this time. */
void critical__disarm(struct critical *c)
{
	if (!c->bpf->bss->ended_ns)
		c->bpf->bss->ended_ns = monotonic_ns();
}

/*
 * --- the end -----------------------------------------------------------------------------------
 */

static int take_shown(void *context, const void *record)
{
	return path__take(context, record);
}

/* Takes the waits in progress. */
static int take_open(struct critical *c)
{
	struct bpf_link *link = bpf_program__attach_iter(c->bpf->progs.show_path, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno, err;

	err = fd < 0 ? fd : iterator__each(fd, sizeof(struct whypath_record), take_shown, &c->path);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

static void describe_dropped(const struct path *p, char *text, size_t size, const char *result)
{
	*text = 0;
	if (p->dropped)
		snprintf(text, size, "; not all of %llu records were kept: %s", p->n, result);
}

#define NO_INTERRUPTS "; this kernel does not report interrupts: the interrupted thread may be shown instead"

static void describe(struct critical *c, struct report *r, u64 elapsed)
{
	const struct path *p = &c->path;
	char dropped[96];

	describe_dropped(p, dropped, sizeof(dropped), "the oldest are missing");
	snprintf(c->note, sizeof(c->note),
		 "%llu.%03llu ms elapsed, %zu link%s of %zu thread%s. Each time is an upper limit of the gain there: "
		 "another chain may be nearly as long%s%s",
		 elapsed / 1000000, elapsed / 1000 % 1000, p->nlinks, p->nlinks == 1 ? "" : "s", p->nthreads_linked,
		 p->nthreads_linked == 1 ? "" : "s", dropped, c->knows_interrupts ? "" : NO_INTERRUPTS);
	r->caveat = c->note;
}

/* Takes the remaining records, and the waits in progress. */
static int take_rest(struct critical *c, struct measurement *m, struct report *r)
{
	int err;

	critical__disarm(c);
	err = elements__await_programs();
	if (!err)
		err = ring__drain(c->ring);
	if (!err)
		err = take_open(c);
	if (!err)
		err = path__index(&c->path);
	if (!err)
		err = loss__since(&r->counters, &c->losses, bpf_map__fd(c->bpf->maps.losses), m->obj);
	r->counters.lost[LOSS_RING_FULL] += ring__take_unread(c->ring);
	return err;
}

static int report_whole(struct critical *c, struct measurement *m, struct report *r)
{
	u64 began = c->bpf->bss->began_ns, end = c->path.end_ns ?: c->bpf->bss->ended_ns;
	int err;

	/* The thread may have ended during --delay. */
	if (end < began)
		end = began;
	err = path__walk(&c->path, c->path.end_tid ?: c->path.end_pid, began, end);
	if (err)
		return err;
	r->value = "the critical path";
	r->metric = "path";
	r->table = true;
	r->has_events = true;
	describe(c, r, end - began);
	return c->each ? path_rows__each(&c->path, m->cli, began, r) : path_rows__sum(&c->path, m->cli, r);
}

/* Adds notes that apply only to paths to the note about the two sides. */
static void describe_spans(struct critical *c, struct report *r)
{
	char dropped[96];

	if (!r->caveat)
		return;
	describe_dropped(&c->path, dropped, sizeof(dropped), "the oldest calls are left out");
	snprintf(c->note, sizeof(c->note), "%s%s%s", r->caveat, dropped, c->knows_interrupts ? "" : NO_INTERRUPTS);
	r->caveat = c->note;
}

static int report_spans(struct critical *c, struct measurement *m, struct report *r)
{
	struct span_sides sides;
	int err = path_sides__divide(&c->path, &sides, c->spans->above_ns);

	if (err)
		return err;
	why_spans__fill_report(c->spans, r, &sides, c->bpf->bss->open_spans);
	describe_spans(c, r);
	return path_sides__add(&c->path, &sides, m->cli, r);
}

int critical__report(struct critical *c, struct measurement *m, struct report *r)
{
	int err = take_rest(c, m, r);

	if (err)
		return err;
	return why_spans__are_wanted(c->spans) ? report_spans(c, m, r) : report_whole(c, m, r);
}

void critical__free(struct critical *c)
{
	ring__close(c->ring);
	path__free(&c->path);
}
