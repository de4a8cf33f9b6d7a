// SPDX-License-Identifier: BSD-2-Clause
#include "events/stat/counting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/user_binary.h"
#include "events/stat/counting_parts.h"
#include "report/diag.h"

#include "bpf/events/counting.h"
#include "counting.skel.h"

int counting__explain(struct counting *c, const struct measurement *m,
		      const struct counting_plan *plan)
{
	*c = (struct counting){ .plan = plan, .m = m };
	c->charges = counting_has(plan, true) && !counting_is_native(m, plan->by, plan->per_cpu);
	c->bpf = counting_bpf__open();
	if (!c->bpf) {
		diag_error("cannot open the BPF programs: %s", strerror(errno));
		return -errno;
	}
	return counting_configure(c);
}

const char *counting__how(const struct counting *c, size_t site)
{
	if (!counting_is_counter(&c->plan->sites->site[site]))
		return attach_way_name(c->attachments.way[site]);
	return c->charges ? "per-CPU counter, charged to tasks at context switches" : "counter";
}

/* The counters belong to CPUs, not to tasks. */
static bool counting_is_by_cpu(const struct counting *c)
{
	const struct scope_options *o = &c->m->cli->scope;

	return c->charges || (!o->command_pid && !o->npids && !o->ntids);
}

static int change_cpu(void *context, int cpu, bool online)
{
	return online ? counting_add_cpu(context, cpu) : 0;
}

int counting__follow(struct counting *c)
{
	return hotplug__follow(&c->hotplug, change_cpu, c);
}

int counting__begin(struct counting *c, const struct measurement *m,
		    const struct counting_plan *plan)
{
	bool counters = counting_has(plan, true);
	int err;

	*c = (struct counting){ .plan = plan, .m = m };
	c->charges = counters && !counting_is_native(m, plan->by, plan->per_cpu);
	err = topology__read(&c->topology);
	if (err) {
		diag_error("cannot read which CPUs are online: %s", strerror(-err));
		return err;
	}
	if (counters && counting_is_by_cpu(c))
		err = hotplug__begin(&c->hotplug, &m->scope, "counted");
	if (err)
		return err;
	if (c->charges)
		err = counting_open_for_charging(c);
	else if (counters)
		err = counting_open_natively(c);
	if (!err)
		err = counting_set_filter(c);
	if (!err && (c->charges || counting_has(plan, false)))
		err = counting_start_programs(c);
	return err;
}

int counting__go(struct counting *c)
{
	bool on_exec = !c->charges && c->m->cli->scope.command_pid && !c->m->cli->delay_ns;
	int err = 0;

	hotplug__arm(&c->hotplug);
	if (!on_exec)
		err = counters__enable(&c->counters);
	if (!err && c->charges)
		err = counting_charge_now(c);
	if (err)
		diag_error("cannot start the counters: %s", strerror(-err));
	else if (c->bpf)
		c->bpf->bss->armed = 1;
	return err;
}

void counting__stop(struct counting *c)
{
	/* Charge the counts since the last switch of each CPU while the gate is open. */
	if (c->charges)
		counting_charge_now(c);
	if (c->bpf)
		c->bpf->bss->armed = 0;
	counters__disable(&c->counters);
	hotplug__disarm(&c->hotplug);
}

void counting__describe(const struct counting *c, char *text, size_t size)
{
	char ways[512] = "", absent[512];
	bool counters = c->counters.n;
	size_t n;

	if (c->bpf)
		attach__describe(&c->attachments, ways, sizeof(ways));
	n = strlen(ways);
	event_sites__describe_lacking(c->plan->sites, ways + n, sizeof(ways) - n);
	hotplug__describe(&c->hotplug, absent, sizeof(absent));
	snprintf(text, size, "%s%s%s%s",
		 !counters ? "" :
		 c->charges ? "per-CPU counters, charged to tasks at context switches" :
			      "the kernel's counters",
		 counters && ways[0] ? "; " : "", ways, absent);
}

int counting__refused(const struct counting *c, u32 row, const struct event_site **site)
{
	int err = 0;
	size_t i;

	for (i = 0; i < c->counters.n; i++) {
		const struct counter *each = &c->counters.counter[i];

		if (c->plan->row[each->site] != row)
			continue;
		if (each->fd >= 0)
			return 0;
		err = each->err;
		*site = &c->plan->sites->site[each->site];
	}
	return err;
}

void counting__end(struct counting *c)
{
	attach__release(&c->attachments);
	if (c->bpf)
		counting_bpf__destroy(c->bpf);
	counters__close(&c->counters);
	hotplug__end(&c->hotplug);
	topology__free(&c->topology);
	free(c->tids);
	free(c->charged);
	*c = (struct counting){};
}
