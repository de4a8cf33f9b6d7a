// SPDX-License-Identifier: BSD-2-Clause
/* doctor: what this kernel and machine can do, what is lost where it cannot, what to do about it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "run/run.h"
#include "host/features.h"
#include "host/host.h"
#include "out/diag.h"
#include "tools.h"

static int add_feature(struct report *r, const struct feature *f)
{
	struct report_row row = { calloc(3, sizeof(*row.cell)), 3 };
	char detail[FEATURE_DETAIL] = "", *note = NULL;
	enum feature_status status;

	if (!row.cell)
		return -ENOMEM;
	status = f->probe(detail);
	if (status == FEATURE_OK)
		note = strdup(detail);
	else if (asprintf(&note, "lost: %s. To do: %s", f->lost, f->remedy) < 0)
		note = NULL;
	row.cell[0] = (struct field){ .name = "status", .text = strdup(feature_status_name(status)) };
	row.cell[1] = (struct field){ .name = "feature", .text = strdup(f->name) };
	row.cell[2] = (struct field){ .name = "note", .text = note };
	return report__add_row(r, &row);
}

static int doctor(int argc, char **argv)
{
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "What this kernel and machine can do: a line per feature, what is lost where one "
		       "is missing, and what to do about it.",
	};
	struct report r = { .tool = "doctor" };
	struct host host;
	struct writer w;
	struct cli cli;
	size_t i;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	diag_verbose(cli.verbose);
	err = host__read(&host);
	if (!err)
		err = cli__open_writer(&cli, &w);
	if (!err) {
		r.kernel = host.uts.release;
		r.cpus = host.cpus_online;
	}
	for (i = 0; i < feature_count && !err; i++)
		err = add_feature(&r, &features[i]);
	if (!err)
		err = writer__write(&w, &r);
	report__free(&r);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

TOOL(doctor, AREA_MACHINE, "what this kernel and machine can do, and what is lost without it");
