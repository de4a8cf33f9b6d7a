// SPDX-License-Identifier: BSD-2-Clause
/* doctor: what this kernel and machine support, the effects of what is missing, and remedies. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/program_path.h"
#include "cli/options.h"
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
 * The program that a shell starts for the name of a tool, though a link of that name lies beside tally in directory:
 * allocated. NULL: it starts this tool, or the name is no command of ours.
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

/* Debian's libbpf-tools has the names of 24 tools in /usr/sbin, which root's PATH has in front of /usr/bin. */
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
	if (n > 1 && asprintf(&others, " (%zu names of tools start programs of others)", n) < 0) {
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
		err = add_names(&r);
	if (!err)
		err = writer__write(&w, &r);
	err = cli__close_writer(&w, err);
	report__free(&r);
	cli__free(&cli);
	return err ? EXIT_FAILED : EXIT_DONE;
}

TOOL(doctor, AREA_MACHINE, "what this kernel and machine can do, and what is lost without it");
