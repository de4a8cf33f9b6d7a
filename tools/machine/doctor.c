// SPDX-License-Identifier: BSD-2-Clause
/* doctor: support by this kernel and machine, the effects of what is missing, and remedies. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/program_path.h"
#include "cli/options.h"
#include "machine/prove/prove.h"
#include "run/run.h"
#include "host/features.h"
#include "host/host.h"
#include "report/diag.h"
#include "tools.h"

static const char *const names[] = { "status", "feature", "note" };

static int add_feature(struct report *r, const struct feature *f)
{
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

static bool is_this_program(const char *path)
{
	struct stat other, self;

	return !stat(path, &other) && !stat("/proc/self/exe", &self) && other.st_dev == self.st_dev &&
	       other.st_ino == self.st_ino;
}

/*
 * Returns the program that a shell starts under the name of a tool, although `directory` contains a link of this name
 * next to tally. The path is allocated. Returns NULL if the shell starts this tool, or the name is not one of ours.
 */
static char *shadow_of(const char *name, const char *directory)
{
	char link[PATH_MAX], *first;

	if (snprintf(link, sizeof(link), "%s/%s", directory, name) >= (int)sizeof(link) || !is_this_program(link))
		return NULL;
	first = program_path(name);
	if (first && is_this_program(first)) {
		free(first);
		first = NULL;
	}
	return first;
}

/* Debian's libbpf-tools installs 24 tools with the same names in /usr/sbin, which precedes /usr/bin in root's PATH. */
static int describe_shadows(const char *directory, char **note)
{
	char *example = NULL, *others = NULL, *shadow;
	const char *name = NULL;
	size_t i, n = 0;
	int err = 0;

	for (i = 0; tool_at(i); i++) {
		shadow = shadow_of(tool_at(i)->name, directory);
		if (!shadow)
			continue;
		if (!n++) {
			example = shadow;
			name = tool_at(i)->name;
		} else {
			free(shadow);
		}
	}
	if (n > 1 && asprintf(&others, " (%zu tool names start other programs)", n) < 0) {
		others = NULL;
		err = -ENOMEM;
	}
	if (n && !err &&
	    asprintf(note, "lost: %s starts %s%s. To do: type tally %s", name, example, others ?: "", name) < 0)
		err = -ENOMEM;
	free(others);
	free(example);
	return err;
}

static int add_names(struct report *r)
{
	char *tally = program_path("tally"), *slash = tally ? strrchr(tally, '/') : NULL, *note = NULL;
	int err = 0;

	if (slash && is_this_program(tally)) {
		*slash = 0;
		err = describe_shadows(tally, &note);
		if (!err)
			err = report__add_texts(r, names,
						(const char *const[]){
							feature_status_name(note ? FEATURE_MISSING : FEATURE_OK),
							"names of tools in PATH", note ?: "" },
						ARRAY_SIZE(names));
	}
	free(note);
	free(tally);
	return err;
}

static int list_features(struct report *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < feature_count && !err; i++)
		err = add_feature(r, &features[i]);
	return err ?: add_names(r);
}

/*
 * --- --prove -----------------------------------------------------------------------------------
 */

struct doctor {
	bool prove;
	u64 deadline_ns;
};

#define DEADLINE_NS (60 * NSEC_PER_SEC)
#define LONGEST_DEADLINE_NS (3600 * NSEC_PER_SEC)

static const struct option_row rows[] = {
	HEADING("Proof:", 1),
	{ "prove", 0, NULL, ROW_FLAG, "Run tools on known loads, and compare their reports with the true figures",
	  1, FIELD(struct doctor, prove) },
	{ "deadline", 0, "SECONDS", ROW_TIME, "Give up a check that takes longer; 60 by default", 1,
	  FIELD(struct doctor, deadline_ns), .unit_ns = NSEC_PER_SEC, .least = NSEC_PER_SEC,
	  .most = LONGEST_DEADLINE_NS, .wanted = "a time in seconds from 1 to 3600" },
	{},
};

static int end_options(void *own)
{
	const struct doctor *d = own;

	if (!d->deadline_ns || d->prove)
		return 0;
	diag_error("--deadline needs --prove");
	return -EINVAL;
}

/* Writes the report, and in text a closing line. */
static int write_proof(struct writer *w, const struct report *r, const struct prove_result *result)
{
	char text[160];
	int err = writer__write(w, r);

	if (err || w->format != FORMAT_TEXT)
		return err;
	snprintf(text, sizeof(text), "\n%u right, %u wrong, %u hidden, %u cannot\n", result->number[PROVE_RIGHT],
		 result->number[PROVE_WRONG], result->number[PROVE_HIDDEN], result->number[PROVE_CANNOT]);
	return writer__emit(w, text, strlen(text));
}

/* *proved: no check failed, and none was skipped because of a signal. */
static int prove(struct writer *w, struct report *r, const struct doctor *d, bool *proved)
{
	struct prove_result result = {};
	u64 began = monotonic_ns();
	int err;

	r->value = "reported and true figures";
	r->table = true;
	r->standing = true;
	r->start_ns = realtime_ns();
	err = prove__run(r, &result, d->deadline_ns ?: DEADLINE_NS);

	r->duration_ns = monotonic_ns() - began;
	if (!err)
		err = write_proof(w, r, &result);
	if (!err && result.left)
		diag_error("interrupted: checks not run: %u", result.left);
	*proved = !result.number[PROVE_WRONG] && !result.left;
	return err;
}

static int doctor(int argc, char **argv)
{
	struct doctor d = {};
	const struct cli_spec spec = {
		.groups = CLI_OUTPUT,
		.doc = "Checks the features of this kernel and machine: one line per feature, with what is lost if "
		       "it is missing and what to do about it. With --prove, checks whether tools report true "
		       "figures here.",
		.rows = rows,
		.end = end_options,
		.own_input = &d,
	};
	struct report r = { .tool = "doctor" };
	struct host host;
	struct writer w = {};
	struct cli cli;
	bool well = true;
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
	if (!err && d.prove)
		err = prove(&w, &r, &d, &well);
	else if (!err)
		err = list_features(&r) ?: writer__write(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	return err || !well ? EXIT_FAILED : EXIT_DONE;
}

TOOL(doctor, AREA_MACHINE, "which features this kernel and machine have, and what is lost without them");
