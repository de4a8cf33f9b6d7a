// SPDX-License-Identifier: BSD-2-Clause
/* Counters that the kernel maintains (PERF_TYPE_SOFTWARE). */
#include <errno.h>
#include <string.h>

#include "event/event.h"

static const struct {
	const char *name, *alias;
	u32 config;
	bool is_time;
	const char *description;
} counters[] = {
	{ "cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, true,
	  "CPU clock time, in ns; sampled by a timer" },
	{ "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, true,
	  "time the task spends on a CPU, in ns" },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, false,
	  "page faults, minor and major together" },
	{ "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
	  "page faults served from memory, without I/O" },
	{ "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
	  "page faults that had to wait for I/O" },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, false,
	  "times a task was switched out" },
	{ "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, false,
	  "times a task moved to another CPU" },
	{ "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
	  "unaligned accesses fixed up by the kernel (none on x86)" },
	{ "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, false,
	  "instructions emulated by the kernel (none on x86)" },
	{ "dummy", NULL, PERF_COUNT_SW_DUMMY, false, "counts nothing" },
	{ "bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT, false,
	  "records that BPF programs write; counts nothing itself" },
	{ "cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES, false,
	  "switches between tasks of different cgroups (since Linux 5.13)" },
	/* Counts nothing: the report measures the time. */
	{ "duration_time", NULL, PERF_COUNT_SW_DUMMY, true,
	  "time from the start to the end of the measurement, in ns" },
};

static bool is(const char *name, const struct event_word *w, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, w->text, len);
}

/* Returns the index of the counter named by the first len bytes of the word, or ARRAY_SIZE if there is none. */
static size_t find(const struct event_word *w, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (is(counters[i].name, w, len) || is(counters[i].alias, w, len))
			break;
	return i;
}

static bool software__claims(const struct event_context *ctx, const struct event_word *w)
{
	size_t len;

	(void)ctx;
	return event_word__base(w, &len) && find(w, len) < ARRAY_SIZE(counters);
}

static int software__parse(struct event *e, const struct event_context *ctx,
			   const struct event_word *w, struct complaint *c)
{
	const struct event_modifiers *m = &e->modifiers;
	size_t len;
	int err;

	(void)ctx;
	event_word__base(w, &len);
	e->attr.type = PERF_TYPE_SOFTWARE;
	e->attr.config = counters[find(w, len)].config;
	err = len < w->len ? event__parse_modifiers(e, w, len + 1, c) : 0;
	if (!err && counters[find(w, len)].is_time && (m->user || m->kernel || m->hypervisor))
		return complain(c, -EINVAL, m->at, m->len, "the kernel does not split clocks into user and kernel "
							   "time");
	return err;
}

static int software__resolve(struct event_sites *sites, const struct event *e,
			     const struct event_context *ctx, struct complaint *c)
{
	struct event_word w = { e->name, 0, strlen(e->name) };
	struct event_site *s = event_sites__add_counter(sites, e, e->name);
	size_t len;

	(void)ctx;
	if (!s)
		return complain(c, -ENOMEM, 0, 0, "no memory");
	event_word__base(&w, &len);
	s->is_time = counters[find(&w, len)].is_time;
	s->is_duration = s->is_time && s->attr.config == PERF_COUNT_SW_DUMMY;
	return 0;
}

static int software__list(const struct event_context *ctx, event_visit visit, void *arg)
{
	size_t i;
	int err = 0;

	(void)ctx;
	for (i = 0; i < ARRAY_SIZE(counters) && !err; i++) {
		err = visit(arg, counters[i].name, counters[i].description);
		if (!err && counters[i].alias)
			err = visit(arg, counters[i].alias, counters[i].description);
	}
	return err;
}

const struct event_source event_software = {
	.type = EVENT_SOFTWARE,
	.name = "software",
	.claims = software__claims,
	.parse = software__parse,
	.resolve = software__resolve,
	.list = software__list,
};
