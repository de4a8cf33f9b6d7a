// SPDX-License-Identifier: BSD-2-Clause
#include "count/counting.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "out/diag.h"
#include "run/measure.h"

#include "bpf/counting.h"
#include "bpf/syscalls.h"
#include "counting.skel.h"

/* A keyed event has an element for each event and key: room for a few events at each key. */
#define EVENTS_PER_KEY 4
#define CPUS_PER_KEY 8

/* --- what goes which way ----------------------------------------------------------------------- */

/* perf_event_open() counts it; else it is a place in code that a program counts. */
static bool is_counter(const struct event_site *s)
{
	return s->event->type < EVENT_TRACEPOINT || s->attr.type == PERF_TYPE_TRACEPOINT;
}

static bool has_any(const struct counting_plan *plan, bool counter)
{
	size_t i;

	for (i = 0; i < plan->sites->n; i++)
		if (is_counter(&plan->sites->site[i]) == counter)
			return true;
	return false;
}

bool counting_is_native(const struct run *run, u32 by, bool per_cpu)
{
	const struct scope_options *o = &run->cli->scope;
	bool tasks = o->npids || o->ntids || o->command_pid, cpus = o->cpus || per_cpu;

	/* Before 5.13 (commit 2b26f0aa0049) counters are inherited by all children or by none. */
	if (o->npids && run->host.version < KERNEL_VERSION(5, 13, 0))
		return false;
	return !by && !o->user && !o->cgroup && !o->comm && !o->pidns && !(tasks && cpus);
}

static bool names_tasks(const struct counting *c)
{
	const struct scope_options *o = &c->run->cli->scope;

	return o->npids || o->ntids || o->command_pid || o->user || o->cgroup || o->comm || o->pidns;
}

static void complain_about(const struct counting *c, size_t site, const struct complaint *complaint)
{
	const struct event *e = c->plan->sites->site[site].event;

	diag_complaint("-e", c->plan->text[e - c->plan->events->event], complaint);
}

/* --- the kernel's counters --------------------------------------------------------------------- */

static int add_threads(struct counting *c, u32 pid)
{
	struct dirent *entry;
	u32 *larger;
	char path[64];
	DIR *dir;
	u64 tid;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;       /* gone: nothing to count */
	while ((entry = readdir(dir))) {
		if (parse_u64_between(entry->d_name, 1, UINT32_MAX, &tid))
			continue;
		if (!(c->ntids & (c->ntids - 1))) {
			larger = realloc(c->tids, (c->ntids ? 2 * c->ntids : 1) * sizeof(*larger));
			if (!larger) {
				closedir(dir);
				return -ENOMEM;
			}
			c->tids = larger;
		}
		c->tids[c->ntids++] = tid;
	}
	closedir(dir);
	return 0;
}

/* The threads there are now: -p stands for all of a process, and new ones are inherited. */
static int list_threads(struct counting *c)
{
	const struct scope_options *o = &c->run->cli->scope;
	int err = 0;
	size_t i;

	free(c->tids);
	c->tids = NULL;
	c->ntids = 0;
	for (i = 0; i < o->npids && !err; i++)
		err = add_threads(c, o->pids[i]);
	return err;
}

static int open_targets(struct counting *c, const struct counter_targets *targets)
{
	struct complaint complaint = {};
	size_t which = 0;
	int err;

	err = counters__open(&c->counters, c->plan->sites, targets, &complaint, &which);
	if (err)
		complain_about(c, which, &complaint);
	return err;
}

/*
 * A thread that is made while its process is being opened may be inherited from its maker, or be
 * missing: nothing tells. So it is done again until no thread came or went meanwhile.
 */
static int open_processes(struct counting *c, struct counter_targets *targets)
{
	size_t n;
	int err, tries;
	u32 *tids;

	for (tries = 0; tries < 10; tries++) {
		err = list_threads(c);
		if (err)
			return err;
		targets->tids = c->tids;
		targets->ntids = c->ntids;
		if (!c->ntids) {
			diag_error("-p: the processes have ended");
			return -ESRCH;
		}
		err = open_targets(c, targets);
		if (err)
			return err;
		tids = c->tids;
		n = c->ntids;
		c->tids = NULL;
		err = list_threads(c);
		if (!err && n == c->ntids && !memcmp(tids, c->tids, n * sizeof(*tids))) {
			free(tids);
			return 0;
		}
		free(tids);
		counters__close(&c->counters);
		if (err)
			return err;
	}
	diag_error("-p: threads come and go too quickly to open their counters");
	diag_hint("--by pid charges counters at context switches and needs no threads");
	return -EAGAIN;
}

/* The CPUs to open counters on: all that are online, or of them those of -C. */
static int *cpu_list(const struct counting *c, bool all, size_t *n)
{
	int *cpus = calloc(c->topology.n ?: 1, sizeof(*cpus));
	const struct scope_config *scope = &c->run->scope;
	size_t i;

	*n = 0;
	for (i = 0; cpus && i < c->topology.n; i++) {
		int cpu = c->topology.cpu[i].cpu;

		if (all || !scope->has_cpus || scope->cpus[cpu / 64] & (1ULL << (cpu % 64)))
			cpus[(*n)++] = cpu;
	}
	return cpus;
}

static int open_natively(struct counting *c)
{
	const struct scope_options *o = &c->run->cli->scope;
	struct counter_targets targets = { .inherit = true };
	bool tasks = o->command_pid || o->npids || o->ntids;
	int *cpus = NULL, err;

	if (c->plan->per_cpu || o->cpus || !tasks) {
		cpus = cpu_list(c, false, &targets.ncpus);
		if (!cpus)
			return -ENOMEM;
		targets.cpus = cpus;
	}
	if (o->command_pid) {
		targets.tids = &o->command_pid;
		targets.ntids = 1;
		targets.on_exec = true;
		err = open_targets(c, &targets);
	} else if (o->npids) {
		targets.inherit_thread = true;
		err = open_processes(c, &targets);
	} else {
		/* -t means that thread, not those it makes. */
		targets.inherit = false;
		targets.tids = o->tids;
		targets.ntids = o->ntids;
		err = open_targets(c, &targets);
	}
	free(cpus);
	return err;
}

static int set_filter(struct counting *c)
{
	size_t which = 0;
	int err;

	if (!c->plan->filter)
		return 0;
	err = counters__filter(&c->counters, c->plan->filter, &which);
	if (err)
		diag_error("--filter: the kernel does not take '%s' for %s: %s", c->plan->filter[which],
			   c->plan->sites->site[which].name, strerror(-err));
	return err;
}

/* --- counters charged at switches -------------------------------------------------------------- */

static bool counts_switches(const struct event_site *s)
{
	/* cs:u is none: a switch is in the kernel. The counter knows that. */
	return s->attr.type == PERF_TYPE_SOFTWARE &&
	       s->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES && !s->attr.exclude_kernel;
}

static bool is_charged(const struct counting *c, size_t site)
{
	return c->ncharged && c->charged[c->ncharged - 1] == site;
}

/*
 * A counter of a site for each CPU, whoever runs there: also on those outside of the scope, where
 * the program at the switch reads them too. Those of context switches are not needed: the switch
 * itself is the event. What cannot be counted is not there to be read.
 */
static int open_for_charging(struct counting *c)
{
	struct counter_targets targets = {};
	size_t i;
	int *cpus, err;

	cpus = cpu_list(c, true, &targets.ncpus);
	c->charged = calloc(c->plan->sites->n ?: 1, sizeof(*c->charged));
	if (!cpus || !c->charged) {
		free(cpus);
		return -ENOMEM;
	}
	targets.cpus = cpus;
	err = open_targets(c, &targets);
	free(cpus);
	/* The counters of a site follow each other. */
	for (i = 0; i < c->counters.n; i++)
		if (c->counters.counter[i].fd >= 0 && !is_charged(c, c->counters.counter[i].site))
			c->charged[c->ncharged++] = c->counters.counter[i].site;
	if (!err && c->ncharged > COUNTING_COUNTERS) {
		diag_error("%zu counters; at most %d can be charged to tasks at once", c->ncharged,
			   COUNTING_COUNTERS);
		err = -E2BIG;
	}
	return err;
}

static int fill_counters(struct counting *c)
{
	int map = bpf_map__fd(c->bpf->maps.counters), err = 0;
	size_t i;
	u32 k, index;

	for (i = 0; i < c->counters.n && !err; i++) {
		const struct counter *each = &c->counters.counter[i];

		if (each->fd < 0 || counts_switches(&c->plan->sites->site[each->site]))
			continue;
		for (k = 0; c->charged[k] != each->site; k++)
			;
		index = k * c->run->host.cpus_possible + each->cpu;
		err = bpf_map_update_elem(map, &index, &each->fd, BPF_ANY);
	}
	return err;
}

/* On each CPU, what the counters have advanced by goes to the task that is there just now. */
static int charge_now(const struct counting *c)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	int prog = bpf_program__fd(c->bpf->progs.charge_now), err = 0;
	size_t i;

	for (i = 0; i < c->topology.n && !err; i++) {
		opts.cpu = c->topology.cpu[i].cpu;
		err = bpf_prog_test_run_opts(prog, &opts);
		if (err == -ENXIO)      /* went offline */
			err = 0;
	}
	return err;
}

/* --- programs ---------------------------------------------------------------------------------- */

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

/* The entry of a system call in the programs' table of slots; NULL: it is counted in another way. */
static const volatile u32 *syscall_slot(const struct counting *c, size_t site)
{
	const struct event_site *s = &c->plan->sites->site[site];
	const struct attach_code *compiled = c->plan->compiled;

	if (is_counter(s) || c->attachments.way[site] != ATTACH_SYSCALL ||
	    s->syscall >= SYSCALL_NUMBERS || (compiled && compiled[site].by_record))
		return NULL;
	return s->syscall_exit ? &c->bpf->rodata->exit_slot[s->syscall] :
				 &c->bpf->rodata->enter_slot[s->syscall];
}

/* A call that was asked for twice is counted in its first row: see copy_twins(). */
static void set_syscall_slots(struct counting *c)
{
	const volatile u32 *slot;
	size_t i;

	for (i = 0; i < c->plan->sites->n; i++) {
		slot = syscall_slot(c, i);
		if (slot && !*slot)
			*(u32 *)slot = c->plan->row[i] + 1;
	}
}

static int size_maps(struct counting *c)
{
	const struct counting_plan *plan = c->plan;
	/* A key has an element for each CPU it is seen on: few are seen on many. */
	u64 possible = c->run->host.cpus_possible;
	u64 cpus = possible < CPUS_PER_KEY ? possible : CPUS_PER_KEY;
	u64 keys = plan->by ? cpus * c->run->cli->max_keys : possible;
	int err;

	err = bpf_map__set_max_entries(c->bpf->maps.counts, plan->by ? 1 : plan->nrows);
	if (!err)
		err = map__set_room(c->bpf->maps.keyed_counts, &c->run->host,
				    !plan->by || !has_any(plan, false) ? 1 : keys * EVENTS_PER_KEY);
	if (!err)
		err = map__set_room(c->bpf->maps.charges, &c->run->host, c->charges ? keys : 1);
	if (!err)
		err = bpf_map__set_max_entries(c->bpf->maps.counters, c->ncharged ?
					       c->ncharged * c->run->host.cpus_possible : 1);
	return err;
}

static int configure(struct counting *c)
{
	const struct counting_plan *plan = c->plan;
	struct attach_programs programs = templates(c);
	size_t i;
	int err;

	memcpy((void *)&c->bpf->rodata->scope, &c->run->scope, sizeof(c->run->scope));
	c->bpf->rodata->by = plan->by;
	c->bpf->rodata->ncounters = c->ncharged;
	c->bpf->rodata->ncpus = c->run->host.cpus_possible;
	/* Whoever names tasks does not mean the idle ones, whatever their user and cgroup. */
	c->bpf->rodata->count_idle = !names_tasks(c);
	for (i = 0; i < c->ncharged; i++)
		if (counts_switches(&plan->sites->site[c->charged[i]]))
			c->bpf->rodata->switch_counters |= 1U << i;
	bpf_program__set_autoload(c->bpf->progs.on_switch, c->charges);
	bpf_program__set_autoload(c->bpf->progs.charge_now, c->charges);
	err = attach__plan(&c->attachments, plan->sites, plan->compiled, &programs);
	if (err)
		return err;
	set_syscall_slots(c);
	err = size_maps(c);
	return err ?: scope__prepare(c->bpf->obj, &c->run->scope, &c->run->cli->scope);
}

/* The skeleton ends the link with itself. */
static int attach_link(struct bpf_program *prog, struct bpf_link **link)
{
	if (!bpf_program__autoload(prog))
		return 0;
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

/* The programs that are not about one event: those of the scope, and the switch. */
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

	err = attach__sites(&c->attachments, c->plan->sites, c->plan->row, &programs, &complaint, &which);
	if (err && complaint.what[0])
		complain_about(c, which, &complaint);
	/* The command line was right; it is this place that the kernel will not have. */
	return err == -EINVAL ? -EIO : err;
}

static int load(struct counting *c)
{
	int err;

	c->bpf = counting_bpf__open();
	if (!c->bpf)
		return -errno;
	err = configure(c);
	if (!err)
		err = counting_bpf__load(c->bpf);
	if (err == -ENOMEM || err == -E2BIG) {
		diag_error("not enough memory for the maps");
		diag_hint("ask for fewer keys with --max-keys");
	} else if (err) {
		diag_error("this kernel cannot load the programs: %s", strerror(-err));
		diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
		err = -EOPNOTSUPP;
	}
	return err;
}

static int start_programs(struct counting *c)
{
	int err = load(c);

	if (err)
		return err;
	run__describe_memory(c->run, c->bpf->obj);
	err = scope__fill(c->bpf->obj, &c->run->cli->scope);
	if (!err && c->charges)
		err = fill_counters(c);
	if (!err)
		err = attach_fixed(c);
	if (err) {
		diag_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err;
	}
	return attach_sites(c);
}

/* --- the course -------------------------------------------------------------------------------- */

int counting__explain(struct counting *c, const struct run *run, const struct counting_plan *plan)
{
	*c = (struct counting){ .plan = plan, .run = run };
	c->charges = has_any(plan, true) && !counting_is_native(run, plan->by, plan->per_cpu);
	c->bpf = counting_bpf__open();
	if (!c->bpf) {
		diag_error("the programs cannot be opened: %s", strerror(errno));
		return -errno;
	}
	return configure(c);
}

const char *counting__how(const struct counting *c, size_t site)
{
	if (!is_counter(&c->plan->sites->site[site]))
		return attach_way_name(c->attachments.way[site]);
	return c->charges ? "counter of each CPU, charged to tasks at context switches" : "counter";
}

int counting__begin(struct counting *c, const struct run *run, const struct counting_plan *plan)
{
	bool counters = has_any(plan, true);
	int err;

	*c = (struct counting){ .plan = plan, .run = run };
	c->charges = counters && !counting_is_native(run, plan->by, plan->per_cpu);
	err = topology__read(&c->topology);
	if (err) {
		diag_error("cannot tell which CPUs are online: %s", strerror(-err));
		return err;
	}
	if (c->charges)
		err = open_for_charging(c);
	else if (counters)
		err = open_natively(c);
	if (!err)
		err = set_filter(c);
	if (!err && (c->charges || has_any(plan, false)))
		err = start_programs(c);
	return err;
}

int counting__go(struct counting *c)
{
	bool on_exec = !c->charges && c->run->cli->scope.command_pid;
	int err = 0;

	if (!on_exec)
		err = counters__enable(&c->counters);
	if (!err && c->charges)
		err = charge_now(c);
	if (err)
		diag_error("cannot start the counters: %s", strerror(-err));
	else if (c->bpf)
		c->bpf->bss->armed = 1;
	return err;
}

static int read_counters(const struct counting *c, struct counts *counts)
{
	int err = 0;
	size_t i;

	for (i = 0; i < c->counters.n && !err; i++) {
		const struct counter *each = &c->counters.counter[i];
		struct count count = {
			.row = c->plan->row[each->site],
			.place = c->plan->per_cpu ? each->cpu : COUNT_EVERYWHERE,
		};
		struct counter_value value;

		if (each->fd < 0)
			continue;
		err = counter__read(each, &value);
		count.value = value.value;
		count.enabled_ns = value.enabled_ns;
		count.running_ns = value.running_ns;
		if (!err)
			err = counts__add(counts, &count);
	}
	return err;
}

/* A place in code without a key: its slot of the per-CPU array. */
static int read_slots(const struct counting *c, struct counts *counts)
{
	int map = bpf_map__fd(c->bpf->maps.counts), ncpus = c->run->host.cpus_possible, cpu, err = 0;
	u64 *per_cpu = calloc(ncpus, sizeof(*per_cpu));
	u32 row;

	if (!per_cpu)
		return -ENOMEM;
	for (row = 0; row < c->plan->nrows && !err; row++) {
		err = bpf_map_lookup_elem(map, &row, per_cpu);
		for (cpu = 0; cpu < ncpus && !err; cpu++) {
			struct count count = {
				.row = row, .value = per_cpu[cpu],
				.place = c->plan->per_cpu ? cpu : COUNT_EVERYWHERE,
			};

			if (count.value)
				err = counts__add(counts, &count);
		}
	}
	free(per_cpu);
	return err;
}

static void take_name(struct count *count, u64 stamp, const char *name)
{
	count->name_stamp = stamp;
	memcpy(count->name, name, sizeof(count->name));
}

static int add_keyed(const struct counting *c, struct counts *counts, const struct counting_key *key,
		     const struct counting_count *value)
{
	struct count count = {
		.key = key->task, .row = key->slot, .value = value->count,
		.place = c->plan->per_cpu ? (int)key->cpu : COUNT_EVERYWHERE,
	};

	take_name(&count, value->name_stamp, value->name);
	return counts__add(counts, &count);
}

static int add_charges(const struct counting *c, struct counts *counts, const struct counting_key *key,
		       const struct counting_charge *value)
{
	int err = 0;
	size_t i;

	for (i = 0; i < c->ncharged && !err; i++) {
		struct count count = {
			.key = key->task, .row = c->plan->row[c->charged[i]],
			.value = value->counter[i].value,
			.enabled_ns = value->counter[i].enabled_ns,
			.running_ns = value->counter[i].running_ns,
			.place = c->plan->per_cpu ? (int)key->cpu : COUNT_EVERYWHERE,
		};

		take_name(&count, value->name_stamp, value->name);
		err = counts__add(counts, &count);
	}
	return err;
}

/* Nothing is ever deleted from these maps, so walking them meets each element once. */
static int read_map(const struct counting *c, struct counts *counts, struct bpf_map *map, bool charges)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	void *value = calloc(1, value_size);
	char *key = calloc(2, key_size), *next = key ? key + key_size : NULL, *from = NULL;
	int fd = bpf_map__fd(map), err = key && value ? 0 : -ENOMEM;

	while (!err && !bpf_map_get_next_key(fd, from, next)) {
		memcpy(key, next, key_size);
		from = key;
		err = bpf_map_lookup_elem(fd, key, value);
		if (!err)
			err = charges ? add_charges(c, counts, (void *)key, value) :
					add_keyed(c, counts, (void *)key, value);
	}
	free(key);
	free(value);
	return err;
}

/* The counts of a system call in its first row are those of all its rows. */
static int copy_twins(const struct counting *c, struct counts *counts)
{
	size_t n = counts->n, i, k;
	const volatile u32 *slot;
	int err = 0;

	for (i = 0; i < c->plan->sites->n; i++) {
		slot = syscall_slot(c, i);
		if (!slot || *slot == c->plan->row[i] + 1)
			continue;
		for (k = 0; k < n && !err; k++) {
			struct count twin = counts->count[k];

			if (twin.row + 1 != *slot)
				continue;
			twin.row = c->plan->row[i];
			err = counts__add(counts, &twin);
		}
	}
	return err;
}

int counting__read(struct counting *c, struct counts *counts, struct loss_counters *losses)
{
	int err = 0;

	*counts = (struct counts){};
	*losses = (struct loss_counters){};
	if (c->charges)
		err = charge_now(c);
	else
		err = read_counters(c, counts);
	if (!err && c->bpf && !c->plan->by)
		err = read_slots(c, counts);
	if (!err && c->bpf && c->plan->by)
		err = read_map(c, counts, c->bpf->maps.keyed_counts, false);
	if (!err && c->charges)
		err = read_map(c, counts, c->bpf->maps.charges, true);
	if (!err && c->bpf)
		err = copy_twins(c, counts);
	if (!err && c->bpf)
		err = loss__read(losses, bpf_map__fd(c->bpf->maps.losses), c->bpf->obj);
	if (!err)
		losses->lost[LOSS_RECURSION] += attach__misses(&c->attachments);
	if (err)
		counts__free(counts);
	counts__settle(counts);
	return err;
}

void counting__describe(const struct counting *c, char *text, size_t size)
{
	char ways[512] = "";
	bool counters = c->counters.n;

	if (c->bpf)
		attach__describe(&c->attachments, ways, sizeof(ways));
	snprintf(text, size, "%s%s%s", !counters ? "" : c->charges ?
		 "counters of each CPU, charged to tasks at context switches" : "the kernel's counters",
		 counters && ways[0] ? "; " : "", ways);
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
	topology__free(&c->topology);
	free(c->tids);
	free(c->charged);
	*c = (struct counting){};
}
