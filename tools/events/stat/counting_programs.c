// SPDX-License-Identifier: BSD-2-Clause
/* Counting by programs: setup, loading and attaching. */
#include <errno.h>
#include <string.h>

#include "events/stat/counting_parts.h"
#include "report/diag.h"
#include "run/load.h"
#include "run/measurement.h"
#include "run/map_room.h"

#include "bpf/events/counting.h"
#include "bpf/lib/syscalls.h"
#include "counting.skel.h"

/* A keyed event has an element per event and key: allows for a few events per key. */
#define EVENTS_PER_KEY 4
#define CPUS_PER_KEY 8

static bool names_tasks(const struct counting *c)
{
	const struct scope_options *o = &c->m->cli->scope;

	return o->npids || o->ntids || o->command_pid || o->user || o->cgroup || o->comm ||
	       o->pidns;
}

static struct attach_programs templates(const struct counting *c)
{
	return (struct attach_programs){
		.sys_enter = c->bpf->progs.on_sys_enter,
		.sys_exit = c->bpf->progs.on_sys_exit,
		.raw_tracepoint = c->bpf->progs.on_raw_tracepoint,
		.raw_tracepoint_task = c->bpf->progs.on_raw_tracepoint_task,
		.tracepoint = c->bpf->progs.on_tracepoint,
		.filtered_tracepoint = c->bpf->progs.on_filtered_tracepoint,
		.syscall_enter = c->bpf->progs.on_filtered_enter,
		.syscall_exit = c->bpf->progs.on_filtered_exit,
		.syscall_slots = c->bpf->maps.syscall_slots,
		.fentry = c->bpf->progs.on_entry,
		.fexit = c->bpf->progs.on_exit,
		.probe = c->bpf->progs.on_probe,
		.probes = c->bpf->progs.on_probes,
	};
}

const volatile u32 *counting_syscall_slot(const struct counting *c, size_t site)
{
	const struct event_site *s = &c->plan->sites->site[site];
	const struct attach_code *compiled = c->plan->compiled;

	if (counting_is_counter(s) || c->attachments.way[site] != ATTACH_SYSCALL ||
	    s->syscall >= SYSCALL_NUMBERS || (compiled && compiled[site].by_record))
		return NULL;
	return s->syscall_exit ? &c->bpf->rodata->exit_slot[s->syscall] :
				 &c->bpf->rodata->enter_slot[s->syscall];
}

/* A call that was given twice is counted in its first row: see copy_twins(). */
static void set_syscall_slots(struct counting *c)
{
	const volatile u32 *slot;
	size_t i;

	for (i = 0; i < c->plan->sites->n; i++) {
		slot = counting_syscall_slot(c, i);
		if (slot && !*slot)
			*(u32 *)slot = c->plan->row[i] + 1;
	}
}

static int size_maps(struct counting *c)
{
	const struct counting_plan *plan = c->plan;
	/* A key has an element for each CPU on which it is seen. Most keys are seen on few CPUs. */
	u64 possible = c->m->run->host.cpus_possible;
	u64 cpus = possible < CPUS_PER_KEY ? possible : CPUS_PER_KEY;
	u64 keys = plan->by ? cpus * c->m->cli->max_keys : possible;
	bool keyed = plan->by && counting_has(plan, false);
	int err;

	err = bpf_map__set_max_entries(c->bpf->maps.counts, plan->nrows ?: 1);
	if (!err)
		err = map__set_room_for_keys(c->bpf->maps.keyed_counts, &c->m->run->host,
				    keyed ? keys * EVENTS_PER_KEY : 1);
	if (!err)
		err = map__set_room_for_keys(c->bpf->maps.charges, &c->m->run->host,
					     c->charges ? keys : 1);
	if (!err)
		err = bpf_map__set_max_entries(c->bpf->maps.counters, c->ncharged ?
					       c->ncharged * c->m->run->host.cpus_possible : 1);
	return err;
}

int counting_configure(struct counting *c)
{
	const struct counting_plan *plan = c->plan;
	struct attach_programs programs = templates(c);
	size_t i;
	int err;

	memcpy((void *)&c->bpf->rodata->scope, &c->m->scope, sizeof(c->m->scope));
	c->bpf->rodata->by = plan->by;
	c->bpf->rodata->ncounters = c->ncharged;
	c->bpf->rodata->ncpus = c->m->run->host.cpus_possible;
	/* Scopes that name tasks never include idle tasks, regardless of their user and cgroup. */
	c->bpf->rodata->count_idle = !names_tasks(c);
	for (i = 0; i < c->ncharged; i++) {
		if (counting_counts_switches(&plan->sites->site[c->charged[i]]))
			c->bpf->rodata->switch_counters |= 1U << i;
		if (plan->sites->site[c->charged[i]].is_time)
			c->bpf->rodata->time_counters |= 1U << i;
		c->bpf->rodata->counter_slot[i] = plan->row[c->charged[i]];
	}
	bpf_program__set_autoload(c->bpf->progs.on_switch, c->charges);
	bpf_program__set_autoload(c->bpf->progs.charge_now, c->charges);
	err = attach__plan(&c->attachments, plan->sites, plan->compiled, &programs);
	if (err)
		return err;
	set_syscall_slots(c);
	err = size_maps(c);
	return err ?: scope__prepare(c->bpf->obj, &c->m->scope, &c->m->cli->scope);
}

/* The skeleton destroys the link. */
static int attach_link(struct bpf_program *prog, struct bpf_link **link)
{
	if (!bpf_program__autoload(prog))
		return 0;
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

/* Attaches the programs that belong to no event: those of the scope and of the context switch. */
static int attach_fixed(struct counting *c)
{
	int err;

	err = attach_link(c->bpf->progs.scope_on_exec, &c->bpf->links.scope_on_exec);
	if (!err)
		err = attach_link(c->bpf->progs.scope_on_fork, &c->bpf->links.scope_on_fork);
	if (!err)
		err = attach_link(c->bpf->progs.scope_on_free, &c->bpf->links.scope_on_free);
	if (!err)
		err = attach_link(c->bpf->progs.on_switch, &c->bpf->links.on_switch);
	return err;
}

static int attach_sites(struct counting *c)
{
	struct attach_programs programs = templates(c);
	struct complaint complaint = {};
	size_t which = 0;
	int err;

	err = attach__sites(&c->attachments, c->plan->sites, c->plan->row, &programs, &complaint,
			    &which);
	if (err && complaint.what[0])
		counting_complain(c, which, &complaint);
	/* Not -EINVAL, because the command line is valid: the kernel refuses this place. */
	return err == -EINVAL ? -EIO : err;
}

static int load(struct counting *c)
{
	int err;

	c->bpf = counting_bpf__open();
	if (!c->bpf)
		return -errno;
	err = counting_configure(c);
	if (!err)
		err = skeleton__load(c->bpf->skeleton);
	return err ? measurement__complain(c->m, "load", err) : 0;
}

int counting_start_programs(struct counting *c)
{
	int err = load(c);

	if (err)
		return err;
	measurement__describe_memory(c->m, c->bpf->obj);
	err = scope__fill(c->bpf->obj, &c->m->cli->scope);
	if (!err && c->charges)
		err = counting_fill_counters(c);
	if (!err)
		err = attach_fixed(c);
	return err ? measurement__complain(c->m, "attach", err) : attach_sites(c);
}
