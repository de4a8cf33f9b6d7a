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
#include "out/diag.h"
#include "run/explain.h"

/*
 * --- the scope, and memory ---------------------------------------------------------------------
 */

/* The bytes a map is charged now: the kernel's own figure (bpf_map_show_fdinfo, memlock). */
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

int measurement__set_scope(const struct measurement *m, struct bpf_object *obj,
			   const volatile struct scope_config *scope)
{
	/* A constant of the programs, writable until they are loaded. */
	memcpy((void *)scope, &m->scope, sizeof(m->scope));
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

int measurement__complain(const struct measurement *m, const char *what, int err)
{
	bool many = m->cli->max_keys > CLI_DEFAULT_MAX_KEYS;

	/* The limit has been named where it was met first: run__load(). */
	if (err == -EMFILE || err == -ENFILE)
		return strcmp(what, "load") ? host__complain_of_files() : err;
	/* A hash beyond the kernel's limits is refused with E2BIG, as is a program. */
	if (err == -ENOMEM || (err == -E2BIG && many)) {
		diag_error("not enough memory for the maps");
		if (m->cli->by || many)
			diag_hint("ask for fewer keys with --max-keys");
		return err;
	}
	if ((err == -EPERM || err == -EACCES) && !right_held(RIGHT_SYS_ADMIN)) {
		diag_error("not permitted to %s the programs: missing capability %s", what,
			   right_name(RIGHT_SYS_ADMIN));
		diag_hint("run it as root, e.g. with sudo; `tally doctor` shows every right that is "
			  "missing");
		return -EPERM;
	}
	diag_error("this kernel cannot %s the programs: %s", what, strerror(-err));
	diag_hint("-v shows the kernel's reasons; `tally doctor` shows what it lacks");
	return err == -EPERM ? err : -EOPNOTSUPP;
}

int tasks__visit(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	char byte;
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd >= 0) {
		while (read(fd, &byte, 1) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
	return fd < 0 ? fd : 0;
}

static bool is_iterator(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__section_name(prog), "iter/", 5);
}

/* Iterators run when they are told to. */
static int attach_hooks(const struct measurement *m)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, m->obj)
		if (is_iterator(prog))
			bpf_program__set_autoattach(prog, false);
	return bpf_object__attach_skeleton(m->skeleton);
}

/* What programs have to know of tasks that are there already. */
static void look_at_tasks(const struct measurement *m)
{
	struct bpf_program *prog;
	bool seen = true;

	bpf_object__for_each_program(prog, m->obj)
		if (is_iterator(prog) && !strncmp(bpf_program__name(prog), "seed_", 5) &&
		    bpf_program__autoload(prog))
			seen &= !tasks__visit(prog);
	if (!seen)
		diag_detail("no task iterator: what tasks did before is known once it changes");
}

int measurement__attach(struct measurement *m)
{
	const char *hist = m->spec->hist.name;
	int err = hist ? measure__begin(&m->measure, m, hist) : measurement__fill_scope(m, m->obj);

	if (!err)
		err = attach_hooks(m);
	if (!err)
		look_at_tasks(m);
	return err;
}

/*
 * --- the parts of a run ------------------------------------------------------------------------
 */

/* The beginning of all skeletons (bpftool gen skeleton). */
struct any_skeleton {
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *obj;
};

static int open_skeleton(struct measurement *m)
{
	const struct skeleton_type *type = m->spec->skeleton;
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
	struct scope_config *scope;
	int err = open_skeleton(m);
	u32 *by;

	if (err)
		return err;
	scope = object_variable(m->obj, ".rodata", "scope");
	by = object_variable(m->obj, ".rodata", "by");
	if (m->spec->hist.name)
		return measure__prepare(&m->measure, m, m->obj, m->spec->hist.name,
					m->spec->hist.key_size, scope, by);
	if (by)
		*by = m->cli->by;
	return scope ? measurement__set_scope(m, m->obj, scope) : 0;
}

static int open_and_load(struct measurement *m)
{
	int err = m->spec->skeleton ? measurement__open(m) : 0;

	if (!err && m->spec->open)
		err = m->spec->open(m);

	/* Said already: what was asked for cannot be, or it was not found out in time. */
	if (err == -EINVAL || err == -EOPNOTSUPP || err == -EPERM || err == -ETIME || err == -EINTR)
		return err;
	if (!err && !m->cli->explain)
		err = run__load(m->skeleton);
	return err ? measurement__complain(m, "load", err) : 0;
}

int measurement__load(struct measurement *m)
{
	return m->spec->load ? m->spec->load(m) : open_and_load(m);
}

int measurement__begin(struct measurement *m)
{
	int err = m->spec->attach ? m->spec->attach(m) : measurement__attach(m);

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

int measurement__write(struct measurement *m, const struct report *r)
{
	return writer__write(m->writer, r);
}

int measurement__report(struct measurement *m, struct report *r)
{
	r->value = m->spec->value;
	r->unit = m->spec->unit;
	r->source = m->source;
	r->caveat = m->caveat;
	return m->spec->report ? m->spec->report(m, r) : measure__report(&m->measure, m, r);
}

void measurement__release(struct measurement *m)
{
	measure__free(&m->measure);
	if (m->spec && m->spec->skeleton)
		m->spec->skeleton->destroy(m->bpf);
	heat__free(m->heat);
}

/*
 * --- a run of one ------------------------------------------------------------------------------
 */

static int explain(struct measurement *m)
{
	return m->spec->explain ? m->spec->explain(m) : measurement__explain(m, m->obj, m->source);
}

static int measure(struct measurement *m)
{
	int err = measurement__load(m);

	if (err)
		return err;
	if (m->cli->explain)
		return explain(m);
	if (m->spec->measure)
		return m->spec->measure(m);
	err = measurement__begin(m);
	return err ?: run__loop(m->run);
}

int measurement__alone(const struct tool_spec *spec, void *own, struct cli *cli)
{
	struct measurement m = {
		.spec = spec, .tool = spec->name, .cli = cli, .own = own, .source = spec->source,
		.caveat = spec->caveat, .watch_fd = -1,
	};
	struct run run;
	int err = run__init(&run, cli);

	if (!err)
		err = run__add(&run, &m);
	if (!err)
		err = measure(&m);
	if (spec->end)
		err = spec->end(&m, err);
	run__release(&run);
	measurement__release(&m);
	return run__exit_code(&run, err);
}

static int parse_and_run(const struct tool_spec *spec, void *own, int argc, char **argv)
{
	struct cli_spec cli_spec = spec->cli;
	struct cli cli;
	int code = EXIT_USAGE;

	cli_spec.own_input = own;
	if (spec->parts)
		cli_spec.own_parts = spec->parts(own);
	if (spec->expand)
		argv = spec->expand(own, argc, argv);
	if (!argv)
		return EXIT_FAILED;
	if (cli__parse(&cli, &cli_spec, argc, argv))
		return EXIT_USAGE;
	if (!spec->check || !spec->check(own, &cli)) {
		code = spec->instead ? spec->instead(spec, own, &cli) : -1;
		if (code < 0)
			code = measurement__alone(spec, own, &cli);
	}
	cli__free(&cli);
	return code;
}

int measurement__main(const struct tool_spec *spec, void *own, int argc, char **argv)
{
	void *made = own ? NULL : calloc(1, spec->own_size ?: 1);
	int code;

	if (!own && !made)
		return EXIT_FAILED;
	own = own ?: made;
	if (spec->init)
		spec->init(own);
	code = parse_and_run(spec, own, argc, argv);
	if (spec->free)
		spec->free(own);
	free(made);
	return code;
}
