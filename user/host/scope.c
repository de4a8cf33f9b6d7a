// SPDX-License-Identifier: BSD-2-Clause
#include "host/scope.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"
#include "host/cgroup.h"
#include "host/host.h"
#include "host/process.h"
#include "host/user.h"
#include "out/diag.h"

/* Room for the processes that one traced command may have at once; a full set is counted. */
#define FOLLOW_PROCESSES 65536

/* Pids that users and tests meet are those of the initial namespace, which the kernel tests. */
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
		diag_error("-p, -t and a command need the initial pid namespace: the numbers here "
			   "are not the kernel's");
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
			diag_error("-C: no CPU %d on this machine; there are 0 to %d", cpu,
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
		diag_error("-G needs the initial cgroup namespace: levels here are not the kernel's");
		return -EOPNOTSUPP;
	}
	err = cgroup__find(&ref, path);
	if (err)
		return err;
	c->has_cgroup = true;
	c->hierarchy = ref.hierarchy;
	c->cgroup_id = ref.id;
	c->cgroup_level = ref.level;
	return 0;
}

/* One id is a constant, several are a set. */
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
	c->exclude_tgid = holds(o->pids, o->npids, getpid()) ? 0 : getpid();
	c->pids = ids_kind(o->npids);
	c->pid = o->npids == 1 ? o->pids[0] : 0;
	c->tids = ids_kind(o->ntids);
	c->tid = o->ntids == 1 ? o->tids[0] : 0;
	if (o->command_pid) {
		c->pids = SCOPE_IDS_SET;
		c->follow = true;
		c->command = o->command_joins_at_exec ? o->command_pid : 0;
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
			diag_error("--pidns: no process %u: %s", o->pidns_of, strerror(-err));
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
	struct bpf_program *on_exec, *on_fork, *on_free;
	int err;

	on_exec = bpf_object__find_program_by_name(obj, "scope_on_exec");
	on_fork = bpf_object__find_program_by_name(obj, "scope_on_fork");
	on_free = bpf_object__find_program_by_name(obj, "scope_on_free");
	if (!pids || !tids || !on_exec || !on_fork || !on_free)
		return -ENOENT;
	bpf_program__set_autoload(on_exec, config->command);
	bpf_program__set_autoload(on_fork, config->follow);
	bpf_program__set_autoload(on_free, config->follow);
	err = bpf_map__set_max_entries(pids, config->follow ? FOLLOW_PROCESSES : o->npids ?: 1);
	if (!err)
		err = bpf_map__set_max_entries(tids, o->ntids ?: 1);
	return err;
}

static int fill(const struct bpf_object *obj, const char *map, const u32 *ids, size_t n)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map), err = 0;
	u8 yes = 1;
	size_t i;

	if (fd < 0)
		return fd;
	for (i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(fd, &ids[i], &yes, BPF_ANY);
	return err;
}

int scope__fill(const struct bpf_object *obj, const struct scope_options *o)
{
	int err;

	if (o->command_pid && o->command_joins_at_exec)
		return 0;
	if (o->command_pid)
		return fill(obj, "scope_pids", &o->command_pid, 1);
	err = fill(obj, "scope_pids", o->pids, o->npids);
	if (!err)
		err = fill(obj, "scope_tids", o->tids, o->ntids);
	return err;
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
