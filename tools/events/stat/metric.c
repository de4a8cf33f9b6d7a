// SPDX-License-Identifier: BSD-2-Clause
/*
 * --metric: ratios under the names that perf uses. The ratio is that of the event in the numerator
 * (events/stat/ratio.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "events/stat/stat.h"
#include "report/diag.h"

static const struct {
	const char *name, *events;
} metrics[] = {
	{ "IPC", "instructions,cycles" },
	{ "insn_per_cycle", "instructions,cycles" },
	{ "frontend_cycles_idle", "stalled-cycles-frontend,cycles" },
	{ "backend_cycles_idle", "stalled-cycles-backend,cycles" },
	{ "cycles_frequency", "cycles,task-clock" },
	{ "branch_frequency", "branches,task-clock" },
	{ "branch_miss_rate", "branch-misses,branches" },
	{ "l1d_miss_rate", "L1-dcache-load-misses,L1-dcache-loads" },
	{ "l1i_miss_rate", "L1-icache-load-misses,L1-icache-loads" },
	{ "llc_miss_rate", "LLC-load-misses,LLC-loads" },
	{ "dtlb_miss_rate", "dTLB-load-misses,dTLB-loads" },
	{ "itlb_miss_rate", "iTLB-load-misses,iTLB-loads" },
	{ "CPUs_utilized", "task-clock" },
	{ "cs_per_second", "context-switches,task-clock" },
	{ "migrations_per_second", "cpu-migrations,task-clock" },
	{ "page_faults_per_second", "page-faults,task-clock" },
};

static const char *events_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		if (!strcasecmp(name, metrics[i].name))
			return metrics[i].events;
	return NULL;
}

static int refuse(const char *name)
{
	char names[512];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(metrics) && n < sizeof(names); i++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", metrics[i].name);
	diag_error("--metric: no '%s'", name);
	diag_hint("there are %s", names);
	return -EINVAL;
}

static int add(struct stat_run *s, const char *name)
{
	const char *events = events_of(name);

	if (!events)
		return refuse(name);
	return ARRAY_APPEND(s->metric, s->nmetrics, events);
}

void stat__complete_metric(struct completion *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		completion__add(c, metrics[i].name, metrics[i].events);
}

int stat__add_metrics(struct stat_run *s, const char *names)
{
	char *text = strdup(names), *rest = text, *name;
	int err = text ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ",")))
		err = add(s, name);
	free(text);
	return err;
}
