// SPDX-License-Identifier: BSD-2-Clause
#include "sched/blocked.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "sched/waits.h"
#include "types/btf.h"

#include "offcputime.skel.h"

SHARED_SKELETON(offcputime);

/* Of our own options; those of user/cli and of stacks are elsewhere. */
enum {
	KEY_MIN = 0x1000,
	KEY_MAX,
	KEY_STATE,
};

/*
 * From this --min on, user's parts are taken in an interrupt after the slice
 * (bpf/sched/offcputime.bpf.c): one CPU can have at most 20,000 of those a second, and most likely far
 * fewer.
 */
#define LATER_FROM_NS 50000

#define WHYS_BLOCKED ((1U << BLOCKED_WHYS) - 1 - (1U << BLOCKED_PREEMPTED))

/*
 * --- options -----------------------------------------------------------------------------------
 */

static error_t parse_limit(const char *option, const char *arg, u64 *ns)
{
	if (!parse_duration(arg, 1000, ns))
		return 0;
	diag_error("%s: '%s' is not a duration; as in 10us, 1.5ms, 2s (a number alone is in us)",
		   option, arg);
	return EINVAL;
}

static int find_why(const char *name, u32 *bits)
{
	u32 why;

	for (why = 0; why < BLOCKED_WHYS; why++) {
		if (!strcmp(name, blocked_why_name(why))) {
			*bits |= 1U << why;
			return 0;
		}
	}
	return -EINVAL;
}

static error_t parse_state(struct blocked *b, const char *arg)
{
	char *text = strdup(arg), *part, *rest;
	error_t err = text ? 0 : ENOMEM;

	b->wanted = 0;
	for (rest = text; !err && (part = strsep(&rest, ","));) {
		if (!find_why(part, &b->wanted))
			continue;
		diag_error("--state: '%s' is not one of sleep, disk, idle, stopped, traced, other, "
			   "preempted",
			   part);
		err = EINVAL;
	}
	free(text);
	if (!err && b->view != BLOCKED_BY_TASK && b->wanted & 1U << BLOCKED_PREEMPTED) {
		diag_error("--state: nobody wakes a task that was preempted; offcputime has those");
		err = EINVAL;
	}
	return err;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct blocked *b = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &b->options;
		return 0;
	case KEY_MIN:
		return parse_limit("--min", arg, &b->min_ns);
	case KEY_MAX:
		return parse_limit("--max", arg, &b->max_ns);
	case KEY_STATE:
		return parse_state(b, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --by has one key more, which is no part of a task. */
static int take_state_key(struct blocked *b, struct cli *cli)
{
	char *text, *end, *part, *rest;

	if (!cli->by_text)
		return 0;
	text = strdup(cli->by_text);
	b->by = end = calloc(1, strlen(cli->by_text) + 2);
	if (!text || !b->by) {
		free(text);
		return -ENOMEM;
	}
	for (rest = text; (part = strsep(&rest, ","));) {
		if (!strcmp(part, "state"))
			b->report.by_state = true;
		else
			end += sprintf(end, "%s%s", end == b->by ? "" : ",", part);
	}
	free(text);
	if (b->report.by_state)
		cli->by_text = *b->by ? b->by : NULL;
	return 0;
}

int blocked__check(void *own, struct cli *cli)
{
	struct blocked *b = own;
	int err = take_state_key(b, cli);

	if (err)
		return err;
	if (b->min_ns > b->max_ns) {
		diag_error("--min is more than --max: nothing is left");
		return -EINVAL;
	}
	cli->scope.command_joins_at_exec = true;
	return stack_options__check(&b->options, &b->stacks, cli, b->report.by_state ? 0 : BY_COMM);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

static const char *source(const struct blocked *b)
{
	return b->view == BLOCKED_BY_TASK ? "tp_btf/sched_switch, by CLOCK_MONOTONIC" :
	       "tp_btf/sched_switch and sched_waking, by CLOCK_MONOTONIC";
}

/* Are user's parts taken when a task has come back? */
static bool takes_later(const struct blocked *b)
{
	return b->stacks.user && b->view != BLOCKED_BY_WAKER && b->min_ns >= LATER_FROM_NS &&
	       kernel_btf_arguments("btf_trace_irq_work_exit") > 0;
}

static int configure(struct blocked *b, struct measurement *m)
{
	struct offcputime_bpf *bpf = b->bpf;
	int err;

	bpf->rodata->view = b->view;
	bpf->rodata->take = stack_options__take(&b->options, &b->stacks);
	bpf->rodata->user_later = takes_later(b);
	bpf_program__set_autoload(bpf->progs.on_kick, takes_later(b));
	bpf->rodata->wanted = b->wanted;
	bpf->rodata->by_state = b->report.by_state;
	bpf->rodata->min_ns = b->min_ns;
	bpf->rodata->max_ns = b->max_ns;
	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	err = task_state__prepare(bpf->obj, "blocked_states", &m->run->host);
	bpf_program__set_autoload(bpf->progs.on_waking, b->view != BLOCKED_BY_TASK);
	bpf_program__set_autoload(bpf->progs.show_blocked, b->view != BLOCKED_BY_WAKER);
	return err ?: stacks__prepare(&b->stacks, m, bpf->obj, "counts", m->cli->asked_keys);
}

static int watch(struct measurement *m)
{
	struct blocked *b = m->own;

	return stacks__watch(&b->stacks);
}

int blocked__open(struct measurement *m)
{
	struct blocked *b = m->own;

	b->bpf = m->bpf;
	m->source = source(b);
	return configure(b, m);
}

int blocked__attach(struct measurement *m)
{
	struct blocked *b = m->own;
	int err;

	err = stacks__begin(&b->stacks, m);
	if (err)
		return err;
	m->watch = watch;
	stack_store__fill_stocks(&b->stacks.store);
	if (b->bpf->rodata->user_later)
		err = kicks__open(&b->kicks, bpf_map__fd(b->bpf->maps.kicks));
	if (!err)
		err = measurement__attach_programs(m);
	b->began_ns = monotonic_ns();
	return err;
}

/*
 * --- what goes on ------------------------------------------------------------------------------
 */

struct still {
	struct blocked_still *task;
	size_t n, room;
};

/* All records of the iterator; a read may end within one. */
static int read_still(struct still *s, int fd)
{
	size_t have = 0, size = sizeof(*s->task);
	struct blocked_still *larger;
	ssize_t n;

	do {
		if (have + size > s->room * size) {
			s->room = s->room ? 2 * s->room : 64;
			larger = realloc(s->task, s->room * size);
			if (!larger)
				return -ENOMEM;
			s->task = larger;
		}
		n = read(fd, (char *)s->task + have, s->room * size - have);
		if (n > 0)
			have += n;
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	s->n = have / size;
	return n < 0 ? -errno : 0;
}

/* Everything stands still from here on: what is in the counts goes on nowhere, and the reverse. */
static int find_still(struct blocked *b, struct still *s)
{
	struct bpf_link *link;
	int fd, err;

	b->ended = true;
	b->bpf->bss->ended_ns = monotonic_ns();
	if (b->view == BLOCKED_BY_WAKER)
		return 0;
	link = bpf_program__attach_iter(b->bpf->progs.show_blocked, NULL);
	if (!link) {
		diag_detail("no task iterator: what is blocked at the end is not in the report");
		return 0;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : read_still(s, fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

static bool command_has_ended(const struct measurement *m)
{
	struct pollfd p = { m->run->command.pidfd, POLLIN, 0 };

	return m->run->command.pid && poll(&p, 1, 0) > 0;
}

static bool is_last(struct blocked *b, const struct measurement *m)
{
	const struct cli *cli = m->cli;

	b->reports++;
	return !cli->interval_ns || m->run->interrupted || (cli->count && b->reports == cli->count) ||
	       (cli->duration_ns && monotonic_ns() - b->began_ns >= cli->duration_ns) ||
	       command_has_ended(m);
}

static const char *value(const struct blocked *b)
{
	static const char *const values[] = {
		[BLOCKED_BY_TASK] = "time off CPU, blocked",
		[BLOCKED_BY_WAKER] = "time blocked, by waker",
		[BLOCKED_BY_BOTH] = "time blocked, with waker",
	};

	return b->wanted & 1U << BLOCKED_PREEMPTED ? "time off CPU" : values[b->view];
}

int blocked__report(struct measurement *m, struct report *r)
{
	struct blocked *b = m->own;
	struct still still = {};
	int err = 0;

	r->value = value(b);
	r->unit = UNIT_NS;
	r->source = source(b);
	if (!b->ended && is_last(b, m))
		err = find_still(b, &still);
	if (!err)
		err = blocked_report__make(&b->report, m, r, still.task, still.n,
					   b->options.table ? 0 : m->cli->top);
	free(still.task);
	if (err)
		return err;
	r->stacks->unit = "ns";
	r->stacks->type = b->view == BLOCKED_BY_TASK ? "off-cpu" : "blocked";
	return b->options.table ? stacks__tabulate(r, b->options.leaf, m->cli->top) : 0;
}

void blocked__init(struct blocked *b, enum blocked_view view)
{
	*b = (struct blocked){
		.view = view,
		.options = STACK_OPTIONS,
		.max_ns = UINT64_MAX,
		.wanted = WHYS_BLOCKED,
		.stacks.at_tracepoints = true,
		.report = { .view = view, .stacks = &b->stacks },
	};
}

void blocked__free(void *own)
{
	struct blocked *b = own;

	blocked_report__free(&b->report);
	kicks__close(&b->kicks);
	stacks__free(&b->stacks);
	free(b->by);
}

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "Which times count:", 1 },
	{ "min", KEY_MIN, "TIME", 0, "At least so long (us without a unit)", 1 },
	{ "max", KEY_MAX, "TIME", 0, "At most so long", 1 },
	{ "state", KEY_STATE, "STATE,..", 0,
	  "Only of tasks that left in such a state: sleep, disk, idle, "
	  "stopped, traced, other, preempted (all but the last without this)", 1 },
	{},
};
static const struct argp_child child_argps[] = { { &stack_options_argp, 0, NULL, 0 }, {} };
const struct argp blocked_argp = {
	.options = option_list, .parser = parse_own, .children = child_argps,
};
