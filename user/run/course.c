// SPDX-License-Identifier: BSD-2-Clause
#include "run/course.h"

#include <errno.h>
#include <string.h>

#include "out/diag.h"
#include "run/explain.h"

int course__complain(const struct run *run, const char *what, int err)
{
	bool many = run->cli->max_keys > CLI_DEFAULT_MAX_KEYS;

	/* The limit has been named where it was met first: run__load(). */
	if (err == -EMFILE || err == -ENFILE)
		return strcmp(what, "load") ? host__complain_of_files() : err;
	/* A hash beyond the kernel's limits is refused with E2BIG, as is a program. */
	if (err == -ENOMEM || (err == -E2BIG && many)) {
		diag_error("not enough memory for the maps");
		if (run->cli->by || many)
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

int course__attach(struct course *c, struct run *run)
{
	int err = run__fill_scope(run, c->obj);

	return err ?: bpf_object__attach_skeleton(c->skeleton);
}

static int load(struct course *c, struct run *run)
{
	int err = c->open(c, run);

	/* Said already: what was asked for cannot be, or it was not found out in time. */
	if (err == -EINVAL || err == -EOPNOTSUPP || err == -EPERM || err == -ETIME || err == -EINTR)
		return err;
	if (!err && !run->cli->explain)
		err = run__load(c->skeleton);
	return err ? course__complain(run, "load", err) : 0;
}

static int measure(struct course *c, struct run *run)
{
	int err = c->load ? c->load(c, run) : load(c, run);

	if (err)
		return err;
	if (run->cli->explain)
		return run__explain(run, c->obj, c->source);
	err = c->attach ? c->attach(c, run) : course__attach(c, run);
	if (err)
		return c->has_said ? err : course__complain(run, "attach", err);
	run->armed = c->armed;
	run->skeleton = c->skeleton;
	*c->armed = 1;
	return run__loop(run);
}

static int run_checked(struct course *c, struct cli *cli)
{
	struct run run;
	int err = run__init(&run, c->tool, cli);

	run.report = c->report;
	run.context = c->context;
	if (!err)
		err = measure(c, &run);
	if (c->end)
		c->end(c);
	run__release(&run);
	return run__exit_code(&run, err);
}

int course__main(struct course *c, const struct cli_spec *spec, int argc, char **argv)
{
	int code = EXIT_USAGE;
	struct cli cli;

	if (cli__parse(&cli, spec, argc, argv))
		return EXIT_USAGE;
	if (!c->check || !c->check(c->context, &cli))
		code = run_checked(c, &cli);
	cli__free(&cli);
	return code;
}
