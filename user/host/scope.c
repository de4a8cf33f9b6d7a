// SPDX-License-Identifier: BSD-2-Clause
#include "host/scope.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/iterator.h"
#include "base/numbers.h"
#include "host/cgroup.h"
#include "host/host.h"
#include "host/process.h"
#include "host/user.h"
#include "report/diag.h"

/* Room for live processes that following may add. If the set is full, the loss is counted. */
#define FOLLOW_PROCESSES 65536

/* The kernel compares pids of the initial namespace, so tally must run in it. */
static int check_ids(const struct scope_options *o)
{
	struct host host;
	size_t i;
	int err;

	if (!o->npids && !o->ntids && !o->command_pid)
		return 0;
	err = host__read(&host);
	if (err)
		return err;
	if (!host.initial_pidns) {
		diag_error("-p, -t and a command need the initial pid namespace: pids here are not the kernel's");
		diag_hint("run it on the host, or use --pidns or -G for this container");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < o->npids; i++) {
		if (process_exists(o->pids[i]))
			continue;
		diag_error("-p: no process %u", o->pids[i]);
		if (thread_exists(o->pids[i]))
			diag_hint("%u is a thread of another process; use -t", o->pids[i]);
		return -ESRCH;
	}
	for (i = 0; i < o->ntids; i++) {
		if (!thread_exists(o->tids[i])) {
			diag_error("-t: no thread %u", o->tids[i]);
			return -ESRCH;
		}
	}
	return 0;
}

static int resolve_cpus(struct scope_config *c, const char *list)
{
	struct host host;
	int err, cpu;

	err = parse_cpu_list(list, (u64 *)c->cpus, ARRAY_SIZE(c->cpus));
	if (err) {
		diag_error("-C: '%s' is not a list of CPUs like 0,2-5", list);
		return -EINVAL;
	}
	err = host__read(&host);
	if (err)
		return err;
	for (cpu = host.cpus_possible; cpu < SCOPE_MAX_CPUS; cpu++) {
		if (c->cpus[cpu / 64] & 1ULL << cpu % 64) {
			diag_error("-C: no CPU %d on this machine; CPUs are 0 to %d", cpu,
				   host.cpus_possible - 1);
			return -ENOENT;
		}
	}
	c->has_cpus = true;
	return 0;
}

static int resolve_comm(struct scope_config *c, const char *pattern)
{
	int err = scope_glob__compile(&c->comm, pattern);

	if (err == -E2BIG)
		diag_error("--comm: '%s' is too long; a name has at most 15 characters", pattern);
	else if (err)
		diag_error("--comm: '%s': '[' without ']'", pattern);
	else
		c->has_comm = true;
	return err ? -EINVAL : 0;
}

static int resolve_cgroup(struct scope_config *c, const char *path)
{
	struct cgroup_ref ref;
	struct host host;
	int err;

	err = host__read(&host);
	if (err)
		return err;
	if (!host.initial_cgroupns) {
		diag_error("-G needs the initial cgroup namespace: cgroup levels here are not the kernel's");
		return -EOPNOTSUPP;
	}
	err = cgroup__find(&ref, "-G", path);
	if (err)
		return err;
	c->has_cgroup = true;
	c->hierarchy = ref.hierarchy;
	c->cgroup_id = ref.id;
	c->cgroup_level = ref.level;
	return 0;
}

/* Returns the kind of filter: one id becomes a constant, several become a set. */
static u32 ids_kind(size_t n)
{
	return !n ? SCOPE_IDS_ANY : n == 1 ? SCOPE_IDS_ONE : SCOPE_IDS_SET;
}

static bool holds(const u32 *list, size_t n, u32 id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

int scope__resolve(struct scope_config *config, const struct scope_options *o)
{
	struct scope_config *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	err = check_ids(o);
	if (err)
		goto out;
	c->exclude_self = !holds(o->pids, o->npids, getpid());
	/* Our own children are not in the sets of ids unless the user named them. */
	c->exclude_children = c->exclude_self && !o->npids && !o->ntids && !o->command_pid;
	c->command_apart = c->exclude_children ? o->command_apart : 0;
	c->began = began_ns();
	c->pids = ids_kind(o->npids);
	c->tids = ids_kind(o->ntids);
	if (o->command_pid) {
		c->pids = SCOPE_IDS_SET;
		c->follow = !o->command_alone;
		c->command = o->command_joins_at_exec ? o->command_pid : 0;
	} else if (o->npids && o->follow) {
		c->pids = SCOPE_IDS_SET;
		c->follow = true;
	}
	if (o->user) {
		err = user_id(o->user, &c->uid);
		if (err) {
			diag_error("-u: no user '%s'", o->user);
			goto out;
		}
		c->has_uid = true;
	}
	if (o->pidns) {
		err = process_pidns(o->pidns_of, &c->pidns);
		if (err) {
			if (err == -ENOENT)
				diag_error("--pidns: no process %u", o->pidns_of);
			else
				diag_error("--pidns: cannot read the namespace of process %u: %s", o->pidns_of,
					   strerror(-err));
			goto out;
		}
		c->has_pidns = true;
	}
	c->hierarchy = cgroup__default_hierarchy();
	if (o->cgroup)
		err = resolve_cgroup(c, o->cgroup);
	if (!err && o->cpus)
		err = resolve_cpus(c, o->cpus);
	if (!err && o->comm)
		err = resolve_comm(c, o->comm);
out:
	if (!err)
		*config = *c;
	free(c);
	return err;
}

int scope__prepare(struct bpf_object *obj, const struct scope_config *config,
		   const struct scope_options *o)
{
	struct bpf_map *pids = bpf_object__find_map_by_name(obj, "scope_pids");
	struct bpf_map *tids = bpf_object__find_map_by_name(obj, "scope_tids");
	const struct {
		const char *name;
		bool wanted;
		bool attached;
	} programs[] = {
		{ "scope_meet_self", config->exclude_self, false },
		{ "scope_seed", config->pids || config->tids || config->command_apart, false },
		{ "scope_on_exec", config->command || config->tids, true },
		{ "scope_on_fork", config->follow, true },
		{ "scope_on_free", config->pids || config->tids, true },
	};
	struct bpf_program *prog;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		prog = bpf_object__find_program_by_name(obj, programs[i].name);
		if (!prog)
			return -ENOENT;
		bpf_program__set_autoload(prog, programs[i].wanted);
		bpf_program__set_autoattach(prog, programs[i].attached);
	}
	if (!pids || !tids)
		return -ENOENT;
	/* Each id takes two elements, its number and its address; threads take another for the process. */
	err = bpf_map__set_max_entries(pids, (config->follow ? FOLLOW_PROCESSES : 2) +
				       2 * o->npids);
	if (!err)
		err = bpf_map__set_max_entries(tids, o->ntids ? 3 * o->ntids : 1);
	return err;
}

static int put_numbers(int fd, const u32 *ids, size_t n)
{
	u64 id, none = 0;
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		id = ids[i];
		err = bpf_map_update_elem(fd, &id, &none, BPF_ANY);
	}
	return err;
}

static void take_numbers(int fd, const u32 *ids, size_t n)
{
	size_t i;
	u64 id;

	for (i = 0; i < n; i++) {
		id = ids[i];
		bpf_map_delete_elem(fd, &id);
	}
}

/* Runs over all tasks once, to add the addresses of tasks whose numbers are in the sets. */
static int seed(const struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "scope_seed");
	struct bpf_link *link = prog ? bpf_program__attach(prog) : NULL;
	int fd, err;

	if (!link)
		return prog ? -errno : -ENOENT;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : iterator__run(fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

static int meet_self(const struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "scope_meet_self");

	if (!prog)
		return -ENOENT;
	return bpf_program__autoload(prog) ? bpf_prog_test_run_opts(bpf_program__fd(prog), NULL) : 0;
}

static int fill(const struct bpf_object *obj, const u32 *pids, size_t npids, const u32 *tids,
		size_t ntids)
{
	int pids_fd = bpf_object__find_map_fd_by_name(obj, "scope_pids");
	int tids_fd = bpf_object__find_map_fd_by_name(obj, "scope_tids"), err;

	if (pids_fd < 0 || tids_fd < 0)
		return -ENOENT;
	err = put_numbers(pids_fd, pids, npids);
	if (!err)
		err = put_numbers(tids_fd, tids, ntids);
	if (!err)
		err = seed(obj);
	take_numbers(pids_fd, pids, npids);
	take_numbers(tids_fd, tids, ntids);
	return err;
}

int scope__fill(const struct bpf_object *obj, const struct scope_options *o)
{
	int err = meet_self(obj);

	if (err || (o->command_pid && o->command_joins_at_exec))
		return err;
	if (o->command_pid)
		return fill(obj, &o->command_pid, 1, NULL, 0);
	if (!o->npids && !o->ntids)
		return o->command_apart ? seed(obj) : 0;
	return fill(obj, o->pids, o->npids, o->tids, o->ntids);
}

void scope_options__free(struct scope_options *o)
{
	free(o->pids);
	free(o->tids);
	memset(o, 0, sizeof(*o));
}

bool scope__has_cpu(const struct scope_config *config, int cpu)
{
	return !config->has_cpus ||
	       (cpu < SCOPE_MAX_CPUS && config->cpus[cpu / 64] & 1ULL << cpu % 64);
}
