// SPDX-License-Identifier: BSD-2-Clause
/* doctor: what this kernel and machine support, the effects of what is missing, and remedies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "run/run.h"
#include "host/features.h"
#include "host/host.h"
#include "report/diag.h"
#include "tools.h"

static int add_feature(struct report *r, const struct feature *f)
{
	static const char *const names[] = { "status", "feature", "note" };
	char detail[FEATURE_DETAIL] = "", *lost = NULL;
	enum feature_status status = f->probe(detail);
	int err;

	if (status != FEATURE_OK && asprintf(&lost, "lost: %s. To do: %s", f->lost, f->remedy) < 0)
		return -ENOMEM;
	err = report__add_texts(
		r, names,
		(const char *const[]){ feature_status_name(status), f->name, lost ?: detail },
		ARRAY_SIZE(names));
	free(lost);
	return err;
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
	struct writer w = {};
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
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

TOOL(doctor, AREA_MACHINE, "what this kernel and machine can do, and what is lost without it");
