// SPDX-License-Identifier: BSD-2-Clause
#include "report/overhead.h"

#include <string.h>

#include "report/escape.h"
#include "report/units.h"

double overhead_percent(const struct report_overhead *o)
{
	return o->duration_ns ? 100.0 * o->ns / o->duration_ns : 0;
}

static void put_time(FILE *f, u64 ns)
{
	char text[UNITS_SPACE];

	fputs(format_value(text, ns, UNIT_NS, false), f);
}

static u64 each_ns(u64 ns, u64 runs)
{
	return runs ? (ns + runs / 2) / runs : 0;
}

void put_overhead_line(FILE *f, const struct report_overhead *o)
{
	char text[UNITS_SPACE];
	double percent = overhead_percent(o);

	fprintf(f, "overhead: programs %.3g%% of a CPU", percent);
	if (o->cpus > 1)
		fprintf(f, ", %.3g%% of the machine", percent / o->cpus);
	fprintf(f, " (%s runs, ", format_count(text, o->runs));
	put_time(f, each_ns(o->ns, o->runs));
	fputs(" each", f);
	if (o->measured_ns) {
		fputs(", sampled for ", f);
		put_time(f, o->measured_ns);
	}
	/*
	 * A hook is the tracepoint, the trampoline or the slow path of a system call. Hooks often cost more than the
	 * program.
	 */
	fputs("), hooks not included; this process ", f);
	put_time(f, o->own_ns);
	fputs(" of CPU, ", f);
	if (o->start_ns) {
		put_time(f, o->start_ns);
		fputs(" more to start, ", f);
	}
	fprintf(f, "maps %s", format_value(text, o->map_bytes, UNIT_BYTES, false));
}

static void put_program(FILE *f, const struct report_program *p)
{
	char name[ESCAPE_SPACE(sizeof(p->name))], runs[UNITS_SPACE], each[UNITS_SPACE],
	     all[UNITS_SPACE];

	escape(name, p->name, strnlen(p->name, sizeof(p->name)));
	fprintf(f, "  %-16s %14s runs  %8s each  %8s in all\n", name, format_count(runs, p->runs),
		format_value(each, each_ns(p->ns, p->runs), UNIT_NS, false),
		format_value(all, p->ns, UNIT_NS, false));
}

void put_overhead(FILE *f, const struct report_overhead *o)
{
	size_t i;

	put_overhead_line(f, o);
	fputc('\n', f);
	for (i = 0; i < o->nprograms; i++)
		if (o->program[i].runs)
			put_program(f, &o->program[i]);
	fputs("  measured by the kernel's BPF statistics, which themselves cost 20 to 45 ns per run\n", f);
	if (o->over_budget)
		fprintf(f,
			"  stopped: programs took %.3g%% of the machine in the last second, --budget "
			"is %g%%\n",
			o->over_budget, o->budget);
}
