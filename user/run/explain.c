// SPDX-License-Identifier: BSD-2-Clause
#include "run/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cgroup.h"
#include "probe/plan.h"

#include "bpf/lib/by_loader.h"

/* Kernel overhead per element of a hash, and per hash bucket. */
#define HASH_ELEMENT_BYTES 48
#define HASH_BUCKET_BYTES 16

static u64 round_up(u64 n, u64 to)
{
	return (n + to - 1) / to * to;
}

u64 map_bytes_at_most(const struct bpf_map *map, int cpus_possible)
{
	u64 n = bpf_map__max_entries(map), value = round_up(bpf_map__value_size(map), 8);
	u64 key = round_up(bpf_map__key_size(map), 8), heads = 1;

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return n * value * cpus_possible;
	case BPF_MAP_TYPE_PERCPU_HASH:
		value *= cpus_possible;
		/* fall through */
	case BPF_MAP_TYPE_HASH:
		while (heads < n)
			heads *= 2;
		return n * (key + value + HASH_ELEMENT_BYTES) + heads * HASH_BUCKET_BYTES;
	case BPF_MAP_TYPE_RINGBUF:
		return n;       /* one element is one byte */
	default:
		return n * value;
	}
}

int explain__add(struct report *r, const char *what, const char *fmt, ...)
{
	static const char *const names[] = {"what", "how"};
	char *how = NULL;
	va_list args;
	int err, n;

	va_start(args, fmt);
	n = vasprintf(&how, fmt, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	err = report__add_texts(r, names, (const char *const[]){what, how}, ARRAY_SIZE(names));
	free(how);
	return err;
}

int explain__add_sites(void *plan, struct report *r)
{
	const struct probe_plan *p = plan;
	int side, err = 0;
	size_t i;

	for (side = PROBE_BEGIN; side < PROBE_SIDES; side++)
		for (i = 0; i < p->side[side].sites.n && !err; i++)
			err = explain__add(r, "site", "%s, %s", p->side[side].sites.site[i].name,
					   attach_way_name(p->side[side].attachments.way[i]));
	return err;
}

static int add_scope(struct report *r, const struct measurement *m)
{
	const struct scope_options *o = &m->cli->scope;
	const struct scope_config *c = &m->scope;
	int err = 0;
	size_t i;

	for (i = 0; i < o->npids && !err; i++)
		err = explain__add(r, "scope", "process %u%s", o->pids[i],
				   c->follow ? " and its new children" : "");
	for (i = 0; i < o->ntids && !err; i++)
		err = explain__add(r, "scope", "thread %u", o->tids[i]);
	if (!err && c->has_uid)
		err = explain__add(r, "scope", "real uid %u", c->uid);
	if (!err && c->has_cgroup)
		err = explain__add(r, "scope", "cgroup %s, %s, id %llu, level %u and below",
				   o->cgroup, cgroup_hierarchy_name(c->hierarchy), c->cgroup_id,
				   c->cgroup_level);
	if (!err && c->has_cpus)
		err = explain__add(r, "scope", "CPUs %s", o->cpus);
	if (!err && c->has_comm)
		err = explain__add(r, "scope", "names like %s", o->comm);
	if (!err && c->has_pidns)
		err = explain__add(r, "scope", "pid namespace %u", c->pidns);
	if (!err && m->cli->command)
		err = explain__add(r, "command", "%s", m->cli->command[0]);
	if (!err && c->exclude_self)
		err = explain__add(r, "scope", "without the tool itself");
	return err;
}

static int add_object(struct report *r, const struct measurement *m, const struct bpf_object *obj)
{
	char bytes[UNITS_SPACE];
	struct bpf_program *prog;
	struct bpf_map *map;
	u64 sum = 0, most;
	int err = 0;

	if (!obj)
		return 0;
	bpf_object__for_each_program(prog, obj)
	{
		const char *section = bpf_program__section_name(prog);

		if (bpf_program__autoload(prog) && strcmp(section, BY_LOADER) && !err)
			err = explain__add(r, "program", "%s at %s", bpf_program__name(prog), section);
	}
	bpf_object__for_each_map(map, obj)
	{
		if (!bpf_map__autocreate(map) || err)
			continue;
		if (bpf_map__type(map) == BPF_MAP_TYPE_TASK_STORAGE) {
			err = explain__add(r, "map", "%s, %u bytes per task seen",
				      bpf_map__name(map), bpf_map__value_size(map));
			continue;
		}
		most = map_bytes_at_most(map, m->run->host.cpus_possible);
		sum += most;
		err = explain__add(r, "map", "%s, %u elements, at most %s", bpf_map__name(map),
			      bpf_map__max_entries(map),
			      format_value(bytes, most, UNIT_BYTES, false));
	}
	if (!err)
		err = explain__add(r, "memory", "at most %s in the kernel",
			      format_value(bytes, sum, UNIT_BYTES, false));
	return err;
}

int measurement__explain(struct measurement *m, const struct bpf_object *obj, const char *source)
{
	return measurement__explain_with(m, obj, source, NULL, NULL);
}

int measurement__explain_with(struct measurement *m, const struct bpf_object *obj,
			      const char *source, int (*more)(void *arg, struct report *r),
			      void *arg)
{
	struct report r = {.tool = m->tool, .kernel = m->run->host.uts.release};
	char column[UNITS_SPACE];
	int err;

	err = explain__add(&r, "source", "%s", source);
	if (!err)
		err = add_scope(&r, m);
	if (!err)
		err = add_object(&r, m, obj);
	if (!err && m->cli->heat)
		err = explain__add(&r, "heat map", "a column each %s",
				   format_value(column, m->cli->interval_ns, UNIT_NS, false));
	if (!err && more)
		err = more(arg, &r);
	if (!err)
		err = writer__write(m->writer, &r);
	report__free(&r);
	return err;
}
