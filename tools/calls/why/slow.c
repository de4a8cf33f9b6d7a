// SPDX-License-Identifier: BSD-2-Clause
#include "calls/why/slow.h"

#include "agg/elements.h"
#include "agg/sum_set.h"
#include "base/clock.h"
#include "calls/syscall/calls.h"
#include "calls/why/cause.h"
#include "calls/why/objects.h"
#include "calls/why/servers.h"
#include "calls/why/slow_rows.h"
#include "host/task_state.h"
#include "run/load.h"
#include "run/map_room.h"
#include "types/kernel_btf.h"

#include "whyspan.skel.h"

SHARED_SKELETON(whyspan);

/*
 * --- measuring ---------------------------------------------------------------------------------
 */

/* Numbers the causes of all waits, so that each row counts a call once. */
static void number_causes(struct whyspan_bpf *bpf)
{
	static const __u16 waits[SPAN_WAITS] = {
		[SPAN_SLEEP] = WHY_SLEEP, [SPAN_DISK] = WHY_DISK, [SPAN_LOCK] = WHY_LOCK
	};
	u8 *wait_cause = (u8 *)bpf->rodata->wait_cause, *phase_cause = (u8 *)bpf->rodata->phase_cause;
	struct why_key key = { .slot = WHY_ANYWHERE };
	size_t i;

	for (i = 0; i < WHY_PHASES; i++) {
		key.phase = i;
		phase_cause[i] = why_cause_of(&key);
	}
	for (i = 0; i < SPAN_WAITS * SPAN_SLOTS * WHY_KINDS; i++) {
		key.phase = waits[i / WHY_KINDS / SPAN_SLOTS];
		key.slot = i / WHY_KINDS % SPAN_SLOTS;
		key.kind = i % WHY_KINDS;
		wait_cause[i] = why_cause_of(&key);
	}
}

int slow__open(struct slow *s, struct measurement *m, struct call_signatures *signatures)
{
	bool locks = kernel_btf_arguments("btf_trace_contention_begin") > 0;
	struct whyspan_bpf *bpf = s->bpf = m->bpf;
	int err;

	bpf->rodata->have_prev_state = kernel_btf_arguments("btf_trace_sched_switch") >= 5;
	bpf->rodata->above_ns = s->spans->above_ns;
	why_describe_calls((u8 *)bpf->rodata->descriptor, signatures);
	number_causes(bpf);
	why_mark_futexes((u8 *)bpf->rodata->futexes);
	bpf->rodata->server_codes = why_find_servers((struct why_code *)bpf->rodata->server_code);
	bpf->rodata->file_depth = FILE_DEPTH_SHORT;
	bpf_program__set_autoload(bpf->progs.on_throttle, false);
	bpf_program__set_autoload(bpf->progs.on_unthrottle, false);
	bpf_program__set_autoload(bpf->progs.on_lock, locks);
	bpf_program__set_autoload(bpf->progs.on_locked, locks);
	err = why_spans__choose(s->spans, m, &SPAN_SETTINGS(bpf));
	if (!err)
		err = map__set_room_for_writers(bpf->maps.sums, &m->run->host, m->cli->max_keys);
	if (!err)
		err = why_objects__prepare(bpf->maps.objects, m);
	return err ?: task_state__prepare(m->obj, "span_states", &m->run->host);
}

int slow__attach(struct slow *s, struct measurement *m)
{
	int err = measurement__fill_scope(m, m->obj);

	if (!err)
		err = measurement__attach_programs(m);
	return err ?: why_spans__attach(s->spans, m);
}

/* No state changes after this time. */
void slow__disarm(struct slow *s)
{
	if (!s->bpf->bss->ended_ns)
		s->bpf->bss->ended_ns = monotonic_ns();
}

/*
 * --- the end -----------------------------------------------------------------------------------
 */

static int read_sums(struct slow *s, struct measurement *m, struct sum_set *set, struct report *r)
{
	int err = elements__await_programs();

	if (!err)
		err = tasks__visit(s->bpf->progs.show_span);
	if (!err)
		err = sum_set__read(set, &span_layout, bpf_map__fd(s->bpf->maps.sums));
	return err ?: loss__since(&r->counters, &s->losses, bpf_map__fd(s->bpf->maps.losses), m->obj);
}

int slow__report(struct slow *s, struct measurement *m, struct report *r)
{
	struct why_objects objects = {};
	struct span_sides sides = {};
	struct sum_set set = {};
	int err;

	slow__disarm(s);
	err = read_sums(s, m, &set, r);
	if (!err)
		err = why_objects__read_names(&objects, s->bpf->maps.objects);
	if (err) {
		sum_set__free(&set);
		return err;
	}
	slow_rows__divide(&set, &sides, s->spans->above_ns);
	why_spans__fill_report(s->spans, r, &sides, s->bpf->bss->open_spans);
	if (slow_rows__wait_for_threads(&set, &sides))
		why_spans__advise(s->spans);
	err = slow_rows__add(&set, &sides, &objects, m->cli, r);
	why_objects__free(&objects);
	sum_set__free(&set);
	return err;
}
