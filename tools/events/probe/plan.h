/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measurement of probe, from what was typed to what is compiled for each site.
 *
 *   probe_plan__init()      parses and resolves; says what is wrong
 *   probe_plan__choose()    on the opened object: how each site is attached
 *   probe_plan__compile()   the functions of each site (jit/compile.h), and the layout of keys
 *   ... the tool loads the object ...
 *   probe_plan__attach()
 *   probe_plan__free()
 *
 * A measurement over spans has two sides, begins and ends; one of single events only the latter.
 * An expression is worked out at the begin where it can be, else at the end: the arguments of a
 * function at its entry, $retval and $elapsed at its return; of two events the first that has the
 * name.
 *
 * All return 0 or a negative errno, after saying what is wrong.
 */
#ifndef TALLY_PROBE_PLAN_H
#define TALLY_PROBE_PLAN_H

#include "event/attach.h"
#include "jit/compile.h"
#include "events/probe/definition.h"
#include "jit/layout.h"
#include "events/probe/site_place.h"
#include "bpf/lib/probe.h"

/* What is asked for; texts are borrowed. */
struct probe_request {
	const char *const *typed;       /* definitions */
	size_t ntyped;
	const char *from, *to;          /* spans between any two events, NULL: none */
	const char *match;              /* what they have in common */
	bool latency;                   /* spans from the entry to the return of functions */
	enum probe_what what;
	const char *option;             /* "--hist", for messages about value */
	const char *value;              /* NULL: the argument that there is, or $elapsed */
	bool is_unsigned;               /* no sums of values below zero: these are lost (LOSS_NEGATIVE) */
	const s64 *bound;               /* PROBE_BOUNDS */
	size_t nbounds;
	const char *by;                 /* keys; NULL: none */
	u32 by_task;                    /* BY_PID, BY_TID of -P and -L */
	const char *filter;
	const char *with;               /* counters between begin and end; NULL: none */
	bool is_scoped;                 /* only some tasks are looked at */
	struct event_context context;
};

enum probe_side_name { PROBE_BEGIN, PROBE_END, PROBE_SIDES };

struct site_code {
	struct code code[EVENT_BODIES];
};

struct probe_side {
	struct events events;
	const char **text;              /* of each event, what it came from */
	size_t *definition;             /* of each event */
	struct event_sites sites;
	struct attachments attachments;
	struct site_code *own;          /* of each site */
	struct attach_code *code;
	u32 *slot;                      /* its number */
	struct attach_programs programs;
};

/* A key, or a field of a stream. */
struct probe_field {
	const char *name;
	const struct expr *expr;        /* NULL: the event */
	const char *option, *text;      /* for messages */
	bool at_begin;
};

/* A part of the filter that is worked out at the begin and asked for at the end. */
struct probe_kept {
	const struct expr *expr;
	const char *name;               /* at the end */
	bool is_signed;
};

#define PROBE_KEPT_MOST 8

struct probe_plan {
	const struct probe_request *request;
	struct knowledge known;
	struct probe_definition *definition;
	size_t ndefinitions;
	char **made;                    /* texts that were put together, to be freed */
	size_t nmade;
	struct probe_side side[PROBE_SIDES];
	bool spans;
	/* Expressions of the options */
	struct probe_argument *key, *match, *value;
	size_t nkeys, nmatches, nvalues;
	struct expr *filter;
	struct place_alias *alias;      /* of all arguments */
	size_t naliases;
	/* What they became */
	struct expr *part[PROBE_SIDES]; /* of the filter, where it is tested; NULL: nothing is */
	struct probe_kept kept[PROBE_KEPT_MOST];
	size_t nkept;
	u32 kept_at;                    /* where they stand, 8 bytes each: behind a begin's key */
	struct probe_field *field;      /* as in layout */
	size_t nfields;
	struct layout layout;
	const struct expr *measured;    /* NULL: nothing but the number of events */
	const char *measured_text;
	bool value_at_begin, is_signed, by_site;
	bool guessed_result;            /* $retval is asked for where nothing says its type */
	bool is_time;                   /* the value is in nanoseconds */
	u32 match_size;                 /* bytes */
	const char **names;             /* of the numbers of events, slots of the ends */
};

int probe_plan__init(struct probe_plan *p, const struct probe_request *request);

/* programs: of begins and ends. without_fentry: after probe_plan__attach() returned -EAGAIN. */
int probe_plan__choose(struct probe_plan *p, const struct attach_programs programs[PROBE_SIDES],
		       bool without_fentry);
int probe_plan__compile(struct probe_plan *p);

/* How many numbers of events there are: calls have those of their begins. */
size_t probe_plan__nevents(const struct probe_plan *p);

/* -EAGAIN: the kernel does not have fentry for one of these functions; nothing is attached. */
int probe_plan__attach(struct probe_plan *p);

/* What the numbers come from, for the header of reports; the name of what is measured. */
void probe_plan__describe(const struct probe_plan *p, char *text, size_t size);
void probe_plan__free(struct probe_plan *p);

#endif /* TALLY_PROBE_PLAN_H */
