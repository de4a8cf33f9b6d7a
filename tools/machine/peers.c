// SPDX-License-Identifier: BSD-2-Clause
/* peers: tools of other tracers, and the corresponding tools of tally. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cli/peers.h"
#include "host/features.h"
#include "report/report.h"
#include "run/run.h"
#include "tools.h"

/* lacking: what the kernel lacks for command lines about its functions, or NULL. Text output leaves it out. */
static int add_peer(struct report *r, const struct peer *p, const char *lacking)
{
	struct report_row row = {};
	char *here;
	int err;

	if (asprintf(&here, "%s%s", p->line ? "tally " : "none: ", p->line ?: p->why) < 0)
		return -ENOMEM;
	err = report_row__add_text(&row, "suite", p->suite);
	if (!err)
		err = report_row__add_text(&row, "name", p->name);
	if (!err)
		err = report_row__add_text(&row, "here", here);
	if (!err)
		err = report_row__add_text(&row, "lacks", peer__is_about_functions(p) ? lacking : NULL);
	free(here);
	if (err) {
		report_row__free(&row);
		return err;
	}
	row.cell[row.ncells - 1].machine = true;
	return report__add_row(r, &row);
}

static int main_of_peers(int argc, char **argv)
{
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "The tools of bcc, bpftrace, perf-tools, perf and others by name, and the line that does the "
		       "same here. Names shared with tally's own tools are not listed.",
	};
	struct report r = { .tool = "peers" };
	struct writer w = {};
	const char *lacking;
	struct cli cli;
	size_t i;
	int err;

	if (cli__parse(&cli, &spec, argc, argv))
		return EXIT_USAGE;
	err = cli__open_writer(&cli, &w);
	lacking = features__lack_functions() ? "kprobes or fentry" : NULL;
	for (i = 0; i < peer_count && !err; i++)
		err = add_peer(&r, &peers[i], lacking);
	if (!err)
		err = writer__write(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

TOOL_NAMED(peers, main_of_peers, AREA_MACHINE,
	   "the tools of bcc, bpftrace and perf, and their equivalents here");
