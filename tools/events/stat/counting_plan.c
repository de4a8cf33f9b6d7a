// SPDX-License-Identifier: BSD-2-Clause
/* Decides how the sites of a plan are counted. */
#include "events/stat/counting_parts.h"
#include "report/diag.h"

bool counting_has(const struct counting_plan *plan, bool counter)
{
	size_t i;

	for (i = 0; i < plan->sites->n; i++)
		if (counting_is_counter(&plan->sites->site[i]) == counter)
			return true;
	return false;
}

bool counting_is_native(const struct measurement *m, u32 by, bool per_cpu)
{
	const struct scope_options *o = &m->cli->scope;
	bool tasks = o->npids || o->ntids || o->command_pid, cpus = o->cpus || per_cpu;

	/* Before 5.13 (commit 2b26f0aa0049) either all children inherit counters or none. */
	if (((o->npids && !o->follow) || (o->command_pid && o->command_alone)) &&
	    m->run->host.version < KERNEL_VERSION(5, 13, 0))
		return false;
	return !by && !o->user && !o->cgroup && !o->comm && !o->pidns && !(tasks && cpus);
}

void counting_complain(const struct counting *c, size_t site, const struct complaint *complaint)
{
	const struct event *e = c->plan->sites->site[site].event;

	diag_complaint("-e", c->plan->text[e - c->plan->events->event], complaint);
}
