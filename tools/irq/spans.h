/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hardirqs, softirqs, workqueues and timers: what the kernel does on no task's behalf (bpf/irq/span.h),
 * as a table or histograms by what is worked on.
 */
#ifndef TALLY_IRQ_SPANS_H
#define TALLY_IRQ_SPANS_H

#include "cli/options.h"
#include "run/measurement.h"
#include "run/measure.h"
#include "sym/symbols.h"

#include "bpf/irq/span.h"

/* What is measured, and where it comes from. */
struct spans_value {
	const char *value;
	const char *source;
	const char *caveat;             /* or NULL */
};

struct spans;

struct spans_tool {
	struct spans_value time;
	struct spans_value late;        /* with --latency; zeroes: there is no such option */
	/* Programs that are not for both, by name, and NULL behind the last; or NULL. */
	const char *const *of_time, *const *of_late;
	error_t (*parse)(struct spans *s, int key, char *arg);  /* its own; or NULL */
	struct own_parts parts;         /* add() is given the struct spans */
	u32 by;                         /* where --by says nothing */
	u32 always_by;                  /* in any case */
	/* Or NULL: sets what the opened object has of the tool's own. */
	int (*open)(struct measurement *m);
};

/* One use of such a tool. */
struct spans {
	const struct spans_tool *tool;
	void *own;                      /* the tool's */
	struct own_parts parts;
	bool late;
	bool hist;
	const struct spans_value *value;        /* of the tool's two */
	const char *source;                     /* of that; open() may know better */
	struct symbols *symbols;        /* NULL: not needed yet */
};

/* Keys that there is room for without --max-keys: there are few. */
#define SPANS_USUAL_KEYS 256

#define SPANS_KEY_HIST 0x1000
#define SPANS_KEY_LATENCY 0x1001
#define SPANS_KEY_OWN 0x1002            /* and on: the tool's own */

#define SPANS_OPTIONS                                                                              \
	{ "hist", SPANS_KEY_HIST, NULL, 0, "A histogram for each key, not a table", 1 }

#define SPANS_LATENCY(text) { "latency", SPANS_KEY_LATENCY, NULL, 0, text, 1 }

/*
 * The hooks of such a tool: m->own begins with the struct spans, whose tool init() has set.
 */
error_t spans__parse(int key, char *arg, struct argp_state *state);
const struct own_parts *spans__parts(void *own);
int spans__check(void *own, struct cli *cli);
int spans__open(struct measurement *m);
int spans__report(struct measurement *m, struct report *r);
void spans__free(void *own);

#define SPANS_HOOKS                                                                                \
	.hist = { "times", sizeof(struct span_key) },                                              \
	.parts = spans__parts, .check = spans__check, .open = spans__open,                         \
	.report = spans__report, .free = spans__free

/* Appends a kernel function: "process_timeout", "nfsd_timer [nfsd]". 0 or -ENOMEM. */
int spans__add_function(struct spans *s, u64 address, struct report_row *row);

#endif /* TALLY_IRQ_SPANS_H */
