// SPDX-License-Identifier: BSD-2-Clause
#include "run/measurement.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg/variable.h"
#include "base/clock.h"
#include "base/iterator.h"
#include "host/cgroup_names.h"
#include "host/errno_name.h"
#include "host/features.h"
#include "host/host.h"
#include "host/probing.h"
#include "report/diag.h"
#include "report/openmetrics.h"
#include "run/explain.h"
#include "run/load.h"

#include "bpf/lib/by_loader.h"

/*
 * --- the scope, and memory ---------------------------------------------------------------------
 */

/* Returns the bytes that the kernel currently charges for a map (bpf_map_show_fdinfo(), memlock). */
static u64 charged_bytes(int fd)
{
	char path[64], *line = NULL;
	size_t room = 0;
	u64 bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (getline(&line, &room, f) > 0)
		if (!strncmp(line, "memlock:", 8))
			bytes = strtoull(line + 8, NULL, 10);
	free(line);
	fclose(f);
	return bytes;
}

void measurement__describe_memory(const struct measurement *m, const struct bpf_object *obj)
{
	char now[UNITS_SPACE], most[UNITS_SPACE];
	u64 bytes, full, sum = 0, sum_full = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) {
		if (bpf_map__fd(map) < 0)
			continue;
		bytes = charged_bytes(bpf_map__fd(map));
		full = map_bytes_at_most(map, m->run->host.cpus_possible);
		if (full < bytes)
			full = bytes;
		diag_detail("map %s: %u elements, %s now, %s when full", bpf_map__name(map),
			    bpf_map__max_entries(map), format_value(now, bytes, UNIT_BYTES, false),
			    format_value(most, full, UNIT_BYTES, false));
		sum += bytes;
		sum_full += full;
	}
	diag_detail("maps: %s now, %s when full", format_value(now, sum, UNIT_BYTES, false),
		    format_value(most, sum_full, UNIT_BYTES, false));
}

int measurement__configure(const struct measurement *m, struct bpf_object *obj)
{
	struct scope_config *scope = object_variable(obj, ".rodata", "scope");
	u32 *by = object_variable(obj, ".rodata", "by");
	u32 *page_shift = object_variable(obj, ".rodata", "page_shift");
	u32 *address_bits = object_variable(obj, ".rodata", "address_bits");

	if (by)
		*by = m->cli->by;
	if (page_shift)
		*page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	if (address_bits)
		*address_bits = host__address_bits();
	if (!scope)
		return 0;
	*scope = m->scope;
	return scope__prepare(obj, &m->scope, &m->cli->scope);
}

int measurement__fill_scope(const struct measurement *m, const struct bpf_object *obj)
{
	measurement__describe_memory(m, obj);
	return scope__fill(obj, &m->cli->scope);
}

/*
 * --- what hooks need ---------------------------------------------------------------------------
 */

/*
 * Describes an error. strerror() lacks kernel-internal error numbers that can still be returned: ENOTSUPP, for programs
 * that need the JIT.
 */
static const char *reason(int err)
{
	const char *name = -err >= 512 ? errno_name(-err) : NULL;

	return name ?: strerror(-err);
}

int measurement__complain(const struct measurement *m, const char *what, int err)
{
	bool many = m->cli->max_keys > CLI_DEFAULT_MAX_KEYS;

	/* skeleton__load() has already reported the limit. */
	if (err == -EMFILE || err == -ENFILE)
		return strcmp(what, "load") ? host__complain_of_files() : err;
	/* The kernel returns E2BIG for hashes beyond its limits, but also for programs. */
	if (err == -ENOMEM || (err == -E2BIG && many)) {
		diag_error("not enough memory for the maps");
		if (m->cli->by || many)
			diag_hint("reduce the number of keys with --max-keys");
		return err;
	}
	if ((err == -EPERM || err == -EACCES) && !right_held(RIGHT_SYS_ADMIN)) {
		diag_error("not permitted to %s the programs: missing capability %s", what,
			   right_name(RIGHT_SYS_ADMIN));
		diag_hint("run it as root, e.g. with sudo; `tally doctor` lists missing capabilities");
		return -EPERM;
	}
	if (!strcmp(what, "load") && host__check_types())
		return -EOPNOTSUPP;
	diag_error("this kernel cannot %s the programs: %s", what, reason(err));
	if (!strcmp(what, "load"))
		features__hint_at_settings();
	diag_hint("-v shows the kernel's reasons; `tally doctor` lists missing features");
	return err == -EPERM ? err : -EOPNOTSUPP;
}

int tasks__visit(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : iterator__run(fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

static bool is_iterator(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__section_name(prog), "iter/", 5);
}

/* Runs the task iterators, so that the programs know the tasks that already exist. */
static void look_at_tasks(const struct measurement *m)
{
	struct bpf_program *prog;
	bool seen = true;

	bpf_object__for_each_program(prog, m->obj)
		if (is_iterator(prog) && !strncmp(bpf_program__name(prog), "seed_", 5) &&
		    bpf_program__autoload(prog))
			seen &= !tasks__visit(prog);
	if (!seen)
		diag_detail("no task iterator: the state of a task is unknown until it changes");
}

/*
 * Checks that the programs with a function in their section name can be attached. attach__sites() checks templates
 * (SEC("kprobe")).
 */
static int check_setting(struct measurement *m)
{
	bool traced = false, kprobes = false;
	struct probing_refusal refusal;
	struct bpf_program *prog;
	const char *section;

	bpf_object__for_each_program(prog, m->obj) {
		section = bpf_program__section_name(prog);
		if (bpf_program__fd(prog) < 0)
			continue;
		kprobes |= !strncmp(section, "kprobe/", 7) || !strncmp(section, "kretprobe/", 10);
		traced |= !strncmp(section, "fentry/", 7) || !strncmp(section, "fexit/", 6);
	}
	/* The kprobes of a skeleton are on the first instructions of functions. */
	refusal = probing__refusal(traced || kprobes, kprobes);
	if (!refusal.why)
		return 0;
	diag_error("%s", refusal.why);
	diag_hint("%s", refusal.hint);
	m->has_said = true;
	return -EOPNOTSUPP;
}

int measurement__attach_programs(struct measurement *m)
{
	struct bpf_program *prog;
	int err = check_setting(m);

	if (err)
		return err;
	bpf_object__for_each_program(prog, m->obj)
		if (is_iterator(prog) || !strcmp(bpf_program__section_name(prog), BY_LOADER))
			bpf_program__set_autoattach(prog, false);
	err = bpf_object__attach_skeleton(m->skeleton);
	if (!err)
		look_at_tasks(m);
	return err;
}

int measurement__attach(struct measurement *m)
{
	const char *hist = m->spec->hist.name;
	int err = hist ? measure__begin(&m->measure, m, hist) : measurement__fill_scope(m, m->obj);

	return err ?: measurement__attach_programs(m);
}

/*
 * --- the parts of a run ------------------------------------------------------------------------
 */

/* The common head of all skeletons (bpftool gen skeleton). */
struct any_skeleton {
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *obj;
};

static int open_skeleton(struct measurement *m)
{
	const struct skeleton_type *type = m->skeleton_type ?: m->spec->skeleton;
	struct any_skeleton *any;

	type->destroy(m->bpf);
	m->bpf = any = type->open();
	if (!any)
		return -errno;
	m->skeleton = any->skeleton;
	m->obj = any->obj;
	m->armed = object_variable(m->obj, ".bss", "armed");
	return m->armed ? 0 : -ENOENT;
}

int measurement__open(struct measurement *m)
{
	const char *hist = m->spec->hist.name;
	int err = open_skeleton(m);

	if (!err)
		err = measurement__configure(m, m->obj);
	if (!err && hist)
		err = measure__prepare(&m->measure, m, m->obj, hist, m->spec->hist.key_size);
	return err;
}

static int open_and_load(struct measurement *m)
{
	int err = m->spec->skeleton ? measurement__open(m) : 0;

	if (!err && m->spec->open)
		err = m->spec->open(m);
	else if (!err && m->spec->table)
		err = sum_table__prepare(m);

	/* Already reported: not possible as requested, or not determined in time. */
	if (err == -EINVAL || err == -EOPNOTSUPP || err == -EPERM || err == -ETIME || err == -EINTR)
		return err;
	if (!err && !m->cli->explain)
		err = skeleton__load(m->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

int measurement__load(struct measurement *m)
{
	return m->spec->load ? m->spec->load(m) : open_and_load(m);
}

int measurement__begin(struct measurement *m)
{
	int err = 0;

	if (m->spec->attach)
		err = m->spec->attach(m);
	else if (m->skeleton)
		err = measurement__attach(m);
	if (!err && m->obj)
		m->armed_ns = object_variable(m->obj, ".bss", "began_ns");
	return err && !m->has_said ? measurement__complain(m, "attach", err) : err;
}

int measurement__arm(struct measurement *m)
{
	if (m->armed_ns)
		*m->armed_ns = monotonic_ns();
	if (m->spec->arm)
		return m->spec->arm(m);
	*m->armed = 1;
	return 0;
}

void measurement__disarm(struct measurement *m)
{
	if (m->armed)
		*m->armed = 0;
	if (m->spec->disarm)
		m->spec->disarm(m);
}

u64 measurement__until(const struct measurement *m)
{
	return m->ended_ns ?: m->closed_ns ?: monotonic_ns();
}

double measurement__scale(struct measurement *m, struct report *r)
{
	u64 rest_ns = slices__rest_ns(m, m->began_ns + r->duration_ns);

	if (!rest_ns || rest_ns >= r->duration_ns)
		return 1;
	r->measured_ns = r->duration_ns - rest_ns;
	return (double)r->duration_ns / r->measured_ns;
}

bool measurement__can_stop(const struct measurement *m)
{
	return m->skeleton && m->armed && !m->spec->stays_attached;
}

/* Adds metrics. Outside of an interval (stat -r), they are kept until the measurement ends. */
static int add_metrics(struct measurement *m, const struct report *r)
{
	m->has_metrics = true;
	return openmetrics__add(m->metrics, r, m->cli->metrics_top);
}

int measurement__write(struct measurement *m, const struct report *r)
{
	if (m->metrics && !m->writer->sink && r->start_ns && !r->stacks)
		return add_metrics(m, r);
	return writer__write(m->writer, r);
}

int measurement__report(struct measurement *m, struct report *r)
{
	r->value = m->spec->value;
	r->metric = m->spec->metric;
	r->nothing = m->spec->nothing;
	r->unit = m->spec->unit;
	r->source = m->source;
	r->caveat = m->caveat;
	m->cgroups->hierarchy = m->scope.hierarchy;
	cgroup_names__begin(m->cgroups);
	if (m->spec->report)
		return m->spec->report(m, r);
	return m->spec->table ? sum_table__report(m, NULL, r) : measure__report(&m->measure, m, r);
}

void measurement__release(struct measurement *m)
{
	slices__remove(m);
	if (m->own && m->spec->free)
		m->spec->free(m->own);
	measure__free(&m->measure);
	sum_table__free(&m->table);
	if (m->bpf)
		(m->skeleton_type ?: m->spec->skeleton)->destroy(m->bpf);
	heat__free(m->heat);
	openmetrics__free(m->metrics);
	if (m->cgroups)
		cgroup_names__free(m->cgroups);
	free(m->cgroups);
	free(m->own);
}

int measurement__init(struct measurement *m, const struct tool_spec *spec)
{
	*m = (struct measurement){
		.spec = spec, .tool = spec->name, .source = spec->source, .caveat = spec->caveat,
		.watch_fd = -1, .own = calloc(1, spec->own_size ?: 1), .cgroups = calloc(1, sizeof(*m->cgroups)),
	};
	if (!m->own || !m->cgroups)
		return -ENOMEM;
	if (spec->init)
		spec->init(m->own);
	return 0;
}

int measurement__tell(struct measurement *m)
{
	return m->spec->explain ? m->spec->explain(m) : measurement__explain(m, m->obj, m->source);
}

int measurement__parse(struct measurement *m, struct cli *cli, u32 without, int argc, char **argv)
{
	struct cli_spec spec = m->spec->cli;

	spec.groups &= ~without;
	spec.own_input = m->own;
	if (m->spec->parts)
		spec.own_parts = m->spec->parts(m->own);
	if (m->spec->expand && !complete__is_asked(argc, argv))
		argv = m->spec->expand(m->own, argc, argv);
	if (!argv)
		return -ENOMEM;
	m->cli = cli;
	return cli__parse(cli, &spec, argc, argv);
}
