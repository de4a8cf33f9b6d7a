// SPDX-License-Identifier: BSD-2-Clause
#include "machine/bench/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/bench/figures.h"

/* One state: the sum of its rounds, and the figures per operation. */
struct state {
	struct round sum;
	struct figures time, cpu;       /* in ns: elapsed, and CPU time of all tasks */
};

static int sum_up(struct state *s, const struct rounds *rounds)
{
	double *ns = calloc(2 * rounds->n, sizeof(*ns)), *cpu_ns = ns + rounds->n;
	size_t i;

	*s = (struct state){};
	if (!ns)
		return -ENOMEM;
	for (i = 0; i < rounds->n; i++) {
		const struct round *one = &rounds->round[i];

		ns[i] = (double)one->elapsed_ns / one->operations;
		cpu_ns[i] = (double)(one->user_ns + one->system_ns) / one->operations;
		s->sum.operations += one->operations;
		s->sum.user_ns += one->user_ns;
		s->sum.system_ns += one->system_ns;
		s->sum.switches += one->switches;
	}
	figures__make(&s->time, ns, rounds->n);
	figures__make(&s->cpu, cpu_ns, rounds->n);
	free(ns);
	return 0;
}

/*
 * --- comparison --------------------------------------------------------------------------------
 */

static const char *verdict_text(enum verdict v)
{
	static const char *const texts[] = {
		[VERDICT_TOO_FEW] = "too few rounds",
		[VERDICT_SAME] = "cannot be told apart",
		[VERDICT_MORE] = "slower",
		[VERDICT_LESS] = "faster",
	};

	return texts[v];
}

static struct field real(const char *name, double value, u8 decimals)
{
	return (struct field){
		.name = name, .real = value, .kind = FIELD_REAL, .decimals = decimals,
	};
}

static struct field machine(struct field f)
{
	f.machine = true;
	return f;
}

/* Returns f, but without a value unless is_known. */
static struct field known_if(bool is_known, struct field f)
{
	if (!is_known)
		f.kind = FIELD_NONE;
	return f;
}

/* Compares b with a; adds no values if they are the same. The names are constant. */
static int add_comparison(struct report_row *row, const struct figures *a, const struct figures *b,
			  const char *const names[3])
{
	bool differ = a != b;
	struct field ratio = real(names[0], b->median / a->median, 3);
	const struct field figures[] = {
		machine(known_if(differ && a->median > 0, ratio)),
		machine(known_if(differ, real(names[1], b->median - a->median, 1))),
	};
	int err = report_row__add_fields(row, figures, ARRAY_SIZE(figures));

	if (!err)
		err = report_row__add_text(
			row, names[2], differ ? verdict_text(figures__compare(a, b)) : NULL);
	if (!err)
		row->cell[row->ncells - 1].machine = true;
	return err;
}

/*
 * --- rows --------------------------------------------------------------------------------------
 */

static int add_figures(struct report_row *row, const struct state *s, u64 bytes)
{
	double n = s->sum.operations;
	struct field moved = {
		.name = "bytes_per_s", .number = bytes * 1e9 / s->time.median, .kind = FIELD_SIZE,
		.machine = !bytes,
	};
	const struct field figures[] = {
		{ .name = "rounds", .number = s->time.n },
		{ .name = "operations", .number = s->sum.operations },
		real("ns_per_op", s->time.median, 1),
		real("min", s->time.min, 1),
		real("max", s->time.max, 1),
		machine(real("low", s->time.low, 1)),
		machine(real("high", s->time.high, 1)),
		machine(real("confidence", s->time.confidence, 3)),
		real("spread_percent", figures__spread_percent(&s->time), 1),
		{ .name = "ops_per_s", .number = 1e9 / s->time.median },
		known_if(bytes, moved),
		real("cpu_ns", s->cpu.median, 1),
		machine(real("cpu_low", s->cpu.low, 1)),
		machine(real("cpu_high", s->cpu.high, 1)),
		real("user_ns", s->sum.user_ns / n, 1),
		real("system_ns", s->sum.system_ns / n, 1),
		real("switches", s->sum.switches / n, 3),
	};

	return report_row__add_fields(row, figures, ARRAY_SIZE(figures));
}

static int add_state(struct report *r, const char *tracer, const struct state *before,
		     const struct state *s, u64 bytes)
{
	static const char *const time[] = { "ratio", "extra_ns", "verdict" };
	static const char *const cpu[] = { "cpu_ratio", "cpu_extra_ns", "cpu_verdict" };
	struct report_row row = {};
	int err = report_row__add_text(&row, "tracer", tracer);

	if (!err)
		err = add_figures(&row, s, bytes);
	if (!err)
		err = add_comparison(&row, &before->time, &s->time, time);
	if (!err)
		err = add_comparison(&row, &before->cpu, &s->cpu, cpu);
	return report__end_row(r, &row, err);
}

/*
 * --- sentences ---------------------------------------------------------------------------------
 */

/* Returns NULL without memory. */
static PRINTF_LIKE(1, 2) char *sentence(const char *fmt, ...)
{
	va_list args;
	char *made;
	int n;

	va_start(args, fmt);
	n = vasprintf(&made, fmt, args);
	va_end(args);
	return n < 0 ? NULL : made;
}

static char *difference(const struct figures *a, const struct figures *b)
{
	if (a->median <= 0)
		return sentence("rounds are too short to tell");
	if (figures__compare(a, b) == VERDICT_SAME)
		return sentence("no difference beyond the variation between rounds (%.1f ns without it, %.1f ns with "
				"it)",
				a->median, b->median);
	return sentence("%.3f times, %+.1f ns (%+.1f to %+.1f)", b->median / a->median,
			b->median - a->median, b->low - a->high, b->high - a->low);
}

static char *comparison(const struct load *load, const struct state *a, const struct state *b)
{
	enum verdict v = figures__compare(&a->time, &b->time);
	char *time, *cpu, *whole = NULL;

	if (v == VERDICT_TOO_FEW)
		return sentence("at least %u rounds with the tracer and without are needed to tell "
				"them apart", FIGURES_FEWEST);
	time = difference(&a->time, &b->time);
	cpu = difference(&a->cpu, &b->cpu);
	if (time && cpu)
		whole = sentence("time of one %s with the tracer: %s; CPU time: %s%s",
				 load->operation, time, cpu,
				 v == VERDICT_SAME ? "; more rounds (-r), longer rounds (-d) or a quieter machine "
						     "may show a difference" : "");
	free(time);
	free(cpu);
	return whole;
}

/* Returns NULL if there is nothing to warn about. */
static char *warning(const struct state *s, const char *operation)
{
	double spread = figures__spread_percent(&s->time);

	if (s->time.n == 1)
		return sentence("one round only: the variation between rounds is unknown (-r)");
	if (spread <= 10)
		return NULL;
	return sentence("one %s took %.1f ns in one round and %.1f ns in another: this machine had other work, or "
			"its CPUs changed speed", operation, s->time.min, s->time.max);
}

int bench_table__fill(struct bench_table *t, struct report *r, const struct load *load,
		      const struct load_options *o, const struct rounds *without,
		      const struct rounds *with)
{
	u64 bytes = load->moves ? o->size : 0, tasks = load->tasks(o);
	struct state a, b;
	int err = sum_up(&a, without);

	if (!err && with)
		err = sum_up(&b, with);
	if (err)
		return err;
	t->value = sentence("%s, ns per %s", load->name, load->operation);
	t->source = sentence("CLOCK_MONOTONIC from the start of the first task to the end of the last; %llu %s%s, "
			     "%llu operations per round", tasks,
			     o->threads ? "thread" : "process",
			     tasks == 1 ? "" : o->threads ? "s" : "es",
			     without->round[0].operations);
	t->caveat = with ? comparison(load, &a, &b) : warning(&a, load->operation);
	if (!t->value || !t->source)
		return -ENOMEM;
	r->value = t->value;
	r->source = t->source;
	r->caveat = t->caveat;
	r->table = true;
	err = add_state(r, "without", &a, &a, bytes);
	if (!err && with)
		err = add_state(r, "with", &a, &b, bytes);
	return err;
}

void bench_table__free(struct bench_table *t)
{
	free(t->value);
	free(t->source);
	free(t->caveat);
}

static int list_one(struct report *r, const struct load *load)
{
	static const char *const names[] = { "load", "operation", "options", "does" };
	char options[128] = "";
	size_t n = 0;
	u32 one;

	for (one = 1; one < 1U << LOAD_OPTIONS; one <<= 1)
		if (load->takes & one)
			n += snprintf(options + n, sizeof(options) - n, "%s%s", n ? " " : "",
				      load__option_name(one));
	return report__add_texts(r, names,
				 (const char *const[]){ load->name, load->operation, options,
							load->summary },
				 ARRAY_SIZE(names));
}

int bench_table__list(struct report *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < load_count && !err; i++)
		err = list_one(r, loads[i]);
	return err;
}
