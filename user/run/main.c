// SPDX-License-Identifier: BSD-2-Clause
/* Runs a single measurement: one tool by itself. */
#include <errno.h>
#include <stdlib.h>

#include "run/exit_code.h"
#include "run/measurement.h"

static int measure(struct measurement *m)
{
	int err = measurement__load(m);

	if (err)
		return err;
	if (m->cli->explain)
		return measurement__tell(m);
	if (m->spec->measure)
		return m->spec->measure(m) ?: m->has_metrics ? run__end_metrics(m->run) : 0;
	err = measurement__begin(m);
	return err ?: run__loop(m->run);
}

static int run_one(struct measurement *m)
{
	struct run run = {};
	int err = run__init(&run, m->cli);

	if (!err)
		err = run__add(&run, m);
	if (!err)
		err = measure(m);
	if (m->spec->end)
		err = m->spec->end(m, err);
	run__release(&run);
	return run__exit_code(&run, err);
}

static int check_and_run(struct measurement *m)
{
	const struct tool_spec *spec = m->spec;
	int code = -1;

	if (spec->check && spec->check(m->own, m->cli))
		return EXIT_USAGE;
	if (spec->instead)
		code = spec->instead(spec, m->own, m->cli);
	return code >= 0 ? code : run_one(m);
}

static int parse_and_run(struct measurement *m, int argc, char **argv)
{
	struct cli cli;
	int err = measurement__parse(m, &cli, 0, argc, argv), code;

	if (err)
		return err == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
	code = check_and_run(m);
	cli__free(&cli);
	return code;
}

int measurement__main(const struct tool_spec *spec, int argc, char **argv)
{
	struct measurement m;
	int code = EXIT_FAILED;

	if (!measurement__init(&m, spec))
		code = parse_and_run(&m, argc, argv);
	measurement__release(&m);
	return code;
}
