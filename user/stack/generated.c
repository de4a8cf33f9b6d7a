// SPDX-License-Identifier: BSD-2-Clause
#include "stack/generated.h"

#include <string.h>

#include "agg/wide.h"

void generated__add(struct generated *g, u32 pid, u64 value)
{
	size_t i;

	add_saturating(&g->value, value);
	for (i = 0; i < g->n && g->process[i].pid != pid; i++)
		;
	if (i == GENERATED_PROCESSES)
		return;
	if (i == g->n)
		g->process[g->n++].pid = pid;
	add_saturating(&g->process[i].value, value);
}

/* Prefixes of the names of files that only processes of a runtime map. The first match decides. */
static const struct runtime {
	const char *file, *name;
	const char *command;            /* takes the pid; NULL if there is none */
	const char *advice;
} runtimes[] = {
	{ "libjvm.so", "Java", "jcmd",
	  "Compiler.perfmap names it (Java 17 and later), java -XX:+PreserveFramePointer keeps its callers" },
	{ "libcoreclr.so", ".NET", NULL, "DOTNET_PerfMapEnabled=1 in its environment names it" },
	{ "libnode.so", "Node.js", NULL, "node --perf-basic-prof names it" },
	{ "node", "Node.js", NULL, "node --perf-basic-prof names it" },
	{ "beam.smp", "Erlang", NULL, "erl +JPperf true names it (OTP 25 and later)" },
	{ "libruby", "Ruby", NULL, "ruby --yjit-perf names it (3.3 and later)" },
	{ "ruby", "Ruby", NULL, "ruby --yjit-perf names it (3.3 and later)" },
	{ "php", "PHP", NULL, "opcache.jit_debug=16 names it" },
	{ "libphp", "PHP", NULL, "opcache.jit_debug=16 names it" },
	{ "qemu-", "QEMU", NULL, "-perfmap names it (QEMU 8 and later)" },
};

struct search {
	const struct runtime *found;
};

/* Program names can end in a version: node20, ruby3.1, php-fpm8.2. Other continuations belong to unrelated files. */
static bool is_file_of(const struct runtime *r, const char *file)
{
	size_t len = strlen(r->file);

	if (strncmp(file, r->file, len))
		return false;
	return r->file[len - 1] == '-' || !file[len] || strchr("0123456789.-", file[len]);
}

static int visit(void *arg, const struct symbols_code *code)
{
	struct search *search = arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (code->module && is_file_of(&runtimes[i], code->module) &&
		    (!search->found || search->found > &runtimes[i]))
			search->found = &runtimes[i];
	return 0;
}

static const struct runtime *runtime_of(struct symbols *symbols, u32 pid)
{
	struct search search = {};

	symbols__each_code(symbols, pid, visit, &search);
	return search.found;
}

static size_t largest(const struct generated *g)
{
	size_t i, most = 0;

	for (i = 1; i < g->n; i++)
		if (g->process[i].value > g->process[most].value)
			most = i;
	return most;
}

void generated__say(const struct generated *g, struct symbols *symbols, u64 total, FILE *f)
{
	u32 pid = g->process[largest(g)].pid;
	const struct runtime *r = runtime_of(symbols, pid);
	double percent = total ? 100.0 * g->value / total : 0;

	if (percent < 0.1)
		fprintf(f, "less than 0.1 %% in code that ");
	else
		fprintf(f, "%.1f %% in code that ", percent);
	if (g->n > 1)
		fprintf(f, "%zu processes have generated, most of it process ", g->n);
	else
		fprintf(f, "process ");
	fprintf(f, r ? "%u (%s)" : "%u", pid, r ? r->name : "");
	fprintf(f, "%s, without names: ", g->n > 1 ? "" : " has generated");
	if (r && r->command)
		fprintf(f, "%s %u ", r->command, pid);
	if (r)
		fprintf(f, "%s", r->advice);
	else
		fprintf(f, "its runtime may be able to write /tmp/perf-PID.map, perhaps with an option for perf");
}
