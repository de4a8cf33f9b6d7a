// SPDX-License-Identifier: BSD-2-Clause
#include "types/kernel_btf.h"
#include "sched/waits.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/variable.h"
#include "host/task_state.h"
#include "report/diag.h"
#include "run/load.h"

const struct wait_source_text wait_sources[WAIT_SOURCES] = {
	[WAIT_ACCOUNTING] = {
		"accounting",
		"the kernel's run-queue accounting (sched_info), read at tp_btf/sched_switch",
		"most waits are some us too short, down to 0 (tally help accuracy); --source wakeup measures them",
	},
	[WAIT_WAKEUP] = {
		"wakeup",
		"timestamps at tp_btf/sched_wakeup, sched_wakeup_new and sched_switch",
		NULL,
	},
};

/* Sources that --source auto tries, in order. */
static const enum wait_source preferred[] = { WAIT_WAKEUP, WAIT_ACCOUNTING };

static int parse_source(void *own, char *name)
{
	int *source = own, i;

	for (i = 0; i < WAIT_SOURCES; i++) {
		if (!strcmp(name, wait_sources[i].name)) {
			*source = i;
			return 0;
		}
	}
	if (!strcmp(name, "auto")) {
		*source = WAIT_SOURCE_AUTO;
		return 0;
	}
	diag_error("--source: expected auto, wakeup or accounting, got '%s'", name);
	return -EINVAL;
}

static const char *const source_words[] = { "auto", "wakeup", "accounting" };

const struct option_row wait_source_rows[] = {
	{ "source", 0, "NAME", ROW_OWN,
	  "How waits are timed: auto (default), wakeup (timestamps) or accounting (the kernel's: cheapest, "
	  "short waits read 0)", 1,
	  .parse = parse_source, WORDS(source_words) },
	{},
};

void waits__describe(enum wait_source source, struct report *r)
{
	r->source = wait_sources[source].text;
	r->caveat = wait_sources[source].caveat;
}

bool waits__has_accounting(void)
{
	char line[128], *count;

	if (read_line("/proc/self/schedstat", line, sizeof(line)))
		return false;
	count = strrchr(line, ' ');
	return count && strtoull(count + 1, NULL, 10) > 0;
}

/* Whether the source is available. On 5.10, the accounting may be off (nodelayacct). */
static bool is_here(enum wait_source source)
{
	if (source != WAIT_ACCOUNTING || waits__has_accounting())
		return true;
	diag_detail("this kernel keeps no run-queue accounting (CONFIG_SCHED_INFO)");
	return false;
}

#define NO_SOURCE (-1)

static int set_autoload(struct bpf_object *obj, const char *name, bool on)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	return prog ? bpf_program__set_autoload(prog, on) : -ENOENT;
}

/* source: an enum wait_source, or NO_SOURCE */
static int prepare(struct bpf_object *obj, const struct host *host, int source)
{
	static const struct {
		const char *name;
		int source;             /* enum wait_source */
		u32 from;               /* first kernel version */
	} programs[] = {
		{ "on_switch_accounting", WAIT_ACCOUNTING, 0 },
		{ "on_migrate_dozing", WAIT_ACCOUNTING, KERNEL_VERSION(6, 12, 0) },
		{ "on_wakeup_dozing", WAIT_ACCOUNTING, KERNEL_VERSION(6, 12, 0) },
		{ "on_switch_wakeup", WAIT_WAKEUP, 0 },
		{ "on_wakeup", WAIT_WAKEUP, 0 },
		{ "on_wakeup_new", WAIT_WAKEUP, 0 },
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(programs) && !err; i++)
		err = set_autoload(obj, programs[i].name, programs[i].source == source &&
				   host->version >= programs[i].from);
	if (!err)
		err = object_set(obj, "have_prev_state",
				 (bool)(source == WAIT_WAKEUP &&
					kernel_btf_arguments("btf_trace_sched_switch") >= 5));
	if (err)
		return err;
	return source == NO_SOURCE ? task_state__leave_out(obj, "wait_states") :
				     task_state__prepare(obj, "wait_states", host);
}

static int load_with(struct measurement *m, int source,
		     int (*configure)(struct measurement *m, enum wait_source source))
{
	int err = measurement__open(m);

	if (!err && configure)
		err = configure(m, source);
	if (!err)
		err = prepare(m->obj, &m->run->host, source);
	if (!err && !m->cli->explain)
		err = skeleton__load(m->skeleton);
	return err;
}

int waits__load_without(struct measurement *m, int (*configure)(struct measurement *m, enum wait_source source))
{
	return load_with(m, NO_SOURCE, configure);
}

int waits__load(struct measurement *m, int *wanted,
		int (*configure)(struct measurement *m, enum wait_source source))
{
	int err = -EOPNOTSUPP;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(preferred); i++) {
		enum wait_source source = preferred[i];

		if ((*wanted >= 0 && (int)source != *wanted) || !is_here(source))
			continue;
		err = load_with(m, source, configure);
		if (!err) {
			*wanted = source;
			m->source = wait_sources[source].text;
			return 0;
		}
		if (err == -EMFILE)
			break;
		diag_detail("source %s cannot be loaded: %s", wait_sources[source].name,
			    strerror(-err));
	}
	return measurement__complain(m, "load", err);
}

void waits__init(void *own)
{
	struct waits *w = own;

	w->source = WAIT_SOURCE_AUTO;
}

int waits__open_and_load(struct measurement *m)
{
	struct waits *w = m->own;
	int err = waits__load(m, &w->source, NULL);

	if (err)
		return err;
	m->caveat = wait_sources[w->source].caveat;
	return 0;
}
