/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hardirqs, softirqs, workqueues and timers: work that the kernel does for no particular task
 * (bpf/irq/span.h), as a table or histograms by interrupt or function.
 */
#ifndef TALLY_IRQ_SPANS_H
#define TALLY_IRQ_SPANS_H

#include "cli/options.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "sym/symbols.h"

#include "bpf/irq/span.h"

/* A measured value and its source. */
struct spans_value {
	const char *value;
	const char *source;
	const char *caveat;             /* may be NULL */
};

struct spans;

struct spans_tool {
	struct spans_value time;
	struct spans_value late;        /* for --latency; all zeros if the tool has no such option */
	/* Names of programs that only one of the two values needs, terminated by NULL; or NULL. */
	const char *const *of_time, *const *of_late;
	struct own_parts parts;         /* add() receives the struct spans */
	u32 by;                         /* default of --by */
	u32 always_by;                  /* added to any --by */
	/* Sets the tool's own constants in the opened object; may be NULL. */
	int (*open)(struct measurement *m);
};

/* One instance of such a tool. */
struct spans {
	const struct spans_tool *tool;
	void *own;                      /* owned by the tool */
	struct own_parts parts;
	bool late;
	bool sliced;                    /* --slices, for tools that have it: see softirqs.c */
	const struct spans_value *value;        /* one of the tool's two values */
	const char *source;                     /* source of the value, unless open() sets a better one */
	struct symbols *symbols;        /* NULL if not needed yet */
};

/* Default limit of keys, which are few. */
#define SPANS_USUAL_KEYS 256

/* A row for the tool's options. */
#define SPANS_LATENCY(text) { "latency", 0, NULL, ROW_FLAG, text, 1, FIELD(struct spans, late) }

/* The hooks of such a tool: m->own begins with the struct spans, whose member tool is set by init(). */
const struct own_parts *spans__parts(void *own);
int spans__check(void *own, struct cli *cli);
int spans__open(struct measurement *m);
int spans__report(struct measurement *m, struct report *r);
void spans__free(void *own);

#define SPANS_HOOKS                                                                                \
	.hist = { "times", sizeof(struct span_key) },                                              \
	.parts = spans__parts, .check = spans__check, .open = spans__open,                         \
	.report = spans__report, .free = spans__free

/* Appends a kernel function: "process_timeout", "nfsd_timer [nfsd]". Returns 0 or -ENOMEM. */
int spans__add_function(struct spans *s, u64 address, struct report_row *row);

#endif /* TALLY_IRQ_SPANS_H */
