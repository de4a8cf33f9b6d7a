// SPDX-License-Identifier: BSD-2-Clause
#include "run/metrics.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/exposition.h"
#include "report/openmetrics.h"
#include "run/measurement.h"

/* A metric family about tally itself; put_sample() writes its samples. */
struct own_family {
	const char *name, *type, *unit, *help;
};

static FILE *begin(struct exposition *x, const struct own_family *family)
{
	char name[METRIC_NAME_SPACE];

	snprintf(name, sizeof(name), "%s", family->name);
	return exposition__family(x, name, family->type, family->unit, family->help, NULL);
}

static void put_name(FILE *f, const struct own_family *family)
{
	fprintf(f, "%s%s", family->name, family->type[0] == 'c' ? "_total" : "");
}

/* Writes a sample. first: labels as text, or ""; tool may be NULL. */
static int put_sample(struct exposition *x, const struct own_family *family, const char *first, const char *tool,
		      double value)
{
	FILE *f = begin(x, family);
	int err = 0;

	if (!f)
		return -ENOMEM;
	put_name(f, family);
	if (*first || tool)
		fprintf(f, "{%s%s%s", first, *first && tool ? "," : "", tool ? "tool=\"" : "");
	if (tool)
		err = put_label_value(f, tool);
	if (*first || tool)
		fprintf(f, "%s}", tool ? "\"" : "");
	fprintf(f, " %.15g\n", value);
	return err;
}

/*
 * --- measurements ------------------------------------------------------------------------------
 */

static const struct own_family up = { "tally_up", "gauge", NULL, "1: being measured; 0: cannot be measured here" };

static int put_measurement(struct exposition *x, const struct measurement *m)
{
	static const struct own_family series = { "tally_series", "gauge", NULL,
						  "samples of this measurement in this exposition" };
	static const struct own_family reading = {
		"tally_reading_seconds", "gauge", "seconds", "duration of the last reading of its maps" };
	const char *label = openmetrics__label(m->metrics);
	size_t before = exposition__series(x), n;
	int err = openmetrics__put(m->metrics, x);

	n = exposition__series(x) - before;
	err = err ?: put_sample(x, &up, label, m->tool, 1);
	err = err ?: put_sample(x, &series, label, m->tool, n);
	return err ?: put_sample(x, &reading, label, m->tool, m->reading_ns / 1e9);
}

/* Writes up = 0 for a line that is not measured, labelled like a measured line. */
static int put_absent(struct exposition *x, const struct run_absent *absent)
{
	struct openmetrics *m = openmetrics__new(absent->command);
	int err = m ? put_sample(x, &up, openmetrics__label(m), absent->tool, 0) : -ENOMEM;

	openmetrics__free(m);
	return err;
}

/*
 * --- tally itself ------------------------------------------------------------------------------
 */

/* Returns the resident set size; 0: unknown. */
static u64 resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (u64)pages * sysconf(_SC_PAGESIZE);
}

static int put_build(struct exposition *x)
{
	static const struct own_family build = { "tally_build_info", "gauge", NULL, "always 1; the version is a "
										    "label" };
	const char *version = argp_program_version ?: "";      /* "tally 0.1.0" */
	FILE *f = begin(x, &build);
	int err;

	if (!f)
		return -ENOMEM;
	fprintf(f, "%s{version=\"", build.name);
	err = put_label_value(f, strchr(version, ' ') ? strchr(version, ' ') + 1 : version);
	fputs("\"} 1\n", f);
	return err;
}

static int put_file(struct exposition *x, const struct run_metrics *m)
{
	static const struct own_family good = { "tally_config_last_reload_successful", "gauge", NULL,
						"1: the last reload of the file of lines succeeded" };
	static const struct own_family when = { "tally_config_last_reload_success_timestamp_seconds", "gauge",
						"seconds", "time of the last successful reload of the file of lines" };
	static const struct own_family reads = { "tally_config_reloads", "counter", NULL,
						 "reloads of the file of lines" };
	static const struct own_family failures = {
		"tally_config_reload_failures", "counter", NULL, "failed reloads of the file of lines" };
	int err;

	if (!m->has_file)
		return 0;
	err = put_sample(x, &good, "", NULL, m->is_read);
	err = err ?: put_sample(x, &when, "", NULL, m->read_ns / 1e9);
	err = err ?: put_sample(x, &reads, "", NULL, m->reads);
	return err ?: put_sample(x, &failures, "", NULL, m->failures);
}

static int put_cost(struct exposition *x, const struct run *run, const char *tool)
{
	static const struct own_family runs = { "tally_program_runs", "counter", NULL,
						"runs of the BPF programs" };
	static const struct own_family program = { "tally_program_seconds", "counter", "seconds",
						   "CPU time of the BPF programs" };
	static const struct own_family maps = { "tally_map_bytes", "gauge", "bytes",
						"kernel memory charged for maps" };
	static const struct own_family process = {
		"tally_process_cpu_seconds", "counter", "seconds", "CPU time of tally's process" };
	static const struct own_family resident = {
		"tally_process_resident_memory_bytes", "gauge", "bytes", "memory of tally's process" };
	const struct run_metrics *m = &run->metrics;
	int err = put_sample(x, &process, "", tool, own_cpu_ns() / 1e9);

	err = err ?: put_sample(x, &resident, "", tool, resident_bytes());
	if (!run->cli->overhead)
		return err;
	err = err ?: put_sample(x, &runs, "", tool, m->program_runs);
	err = err ?: put_sample(x, &program, "", tool, m->program_ns / 1e9);
	return err ?: put_sample(x, &maps, "", tool, m->map_bytes);
}

static int put_server(struct exposition *x, const struct run *run)
{
	static const struct own_family requests = { "tally_http_requests", "counter", NULL,
						    "answered requests" };
	static const struct own_family dropped = { "tally_http_connections_dropped", "counter", NULL,
						   "connections without an answer: too slow, or too many" };
	struct listen_counts counts;
	int err;

	if (!run->listen)
		return 0;
	counts = listen__counts(run->listen);
	err = put_sample(x, &requests, "", NULL, counts.requests);
	return err ?: put_sample(x, &dropped, "", NULL, counts.dropped);
}

static int put_run(struct exposition *x, const struct run *run)
{
	static const struct own_family started = {
		"tally_start_timestamp_seconds", "gauge", "seconds", "start of this run" };
	static const struct own_family writing = {
		"tally_exposition_seconds", "gauge", "seconds", "time taken to write the previous exposition" };
	static const struct own_family bytes = { "tally_exposition_bytes", "gauge", "bytes",
						 "size of the previous exposition" };
	const struct run_metrics *m = &run->metrics;
	int err = put_build(x);

	err = err ?: put_sample(x, &started, "", NULL, m->started_ns / 1e9);
	err = err ?: put_cost(x, run, run->several ? NULL : run->measurement[0]->tool);
	err = err ?: put_sample(x, &writing, "", NULL, m->writing_ns / 1e9);
	err = err ?: put_sample(x, &bytes, "", NULL, m->bytes);
	err = err ?: put_file(x, m);
	return err ?: put_server(x, run);
}

/*
 * --- the text ----------------------------------------------------------------------------------
 */

static int put_all(struct exposition *x, const struct run *run)
{
	int err = run->writer.metrics ? openmetrics__put(run->writer.metrics, x) : 0;
	size_t i;

	for (i = 0; i < run->n && !err; i++) {
		err = put_measurement(x, run->measurement[i]);
		run->measurement[i]->has_metrics = false;
	}
	for (i = 0; i < run->nabsent && !err; i++)
		err = put_absent(x, &run->absent[i]);
	return err ?: put_run(x, run);
}

static int write_text_of(struct run *run, struct exposition *x)
{
	struct writer *w = &run->writer;
	struct writing writing;
	int err = writer__begin(w, &writing);

	if (!err) {
		err = put_all(x, run) ?: exposition__write(x, w->file);
		fflush(w->file);
		run->metrics.bytes = writing.n;
	}
	return writer__end(w, &writing, err);
}

int metrics__write(struct run *run)
{
	u64 began_ns = monotonic_ns();
	struct exposition *x = exposition__new();
	int err = x ? write_text_of(run, x) : -ENOMEM;

	exposition__free(x);
	run->metrics.writing_ns = monotonic_ns() - began_ns;
	return err;
}

void metrics__add_cost(struct run_metrics *metrics, const struct report_overhead *cost)
{
	metrics->program_runs += cost->runs;
	metrics->program_ns += cost->ns;
	metrics->map_bytes = cost->map_bytes;
}
