/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measurement of probe, from the typed text to the code compiled for each site.
 *
 *   probe_plan__init()      parses and resolves
 *   probe_plan__choose()    on the opened object: chooses how each site is attached
 *   probe_plan__compile()   compiles the functions of each site (jit/compile.h), and lays out keys
 *   ... the tool loads the object ...
 *   probe_plan__attach()
 *   probe_plan__free()
 *
 * A measurement of spans has two sides, begins and ends. A measurement of single events has only ends. Expressions are
 * evaluated at the begin if possible, else at the end: the arguments of a function at its entry, $retval and $elapsed
 * at its return. With two events, an expression is evaluated at the first event that has the name.
 *
 * Returns of functions are single events. If an expression at a return needs arguments, the returns become spans of
 * calls, whose begins only save the arguments (saved.h). Scope, filter, keys and values are evaluated at the return.
 *
 * Functions return 0 or a negative errno, after reporting the error.
 */
#ifndef TALLY_PROBE_PLAN_H
#define TALLY_PROBE_PLAN_H

#include "event/attach.h"
#include "jit/compile.h"
#include "probe/definition.h"
#include "jit/layout.h"
#include "probe/site_place.h"
#include "bpf/lib/probe.h"

/* The request. Texts are borrowed. */
struct probe_request {
	const char *const *typed;       /* definitions */
	size_t ntyped;
	const char *from, *to;          /* spans between any two events; NULL: none */
	const char *match;              /* expressions that must be equal at begin and end */
	bool latency;                   /* spans from entry to return of functions */
	bool bare;                      /* no code is compiled: programs only get their sites */
	enum probe_what what;
	const char *option;             /* "--hist", for messages about value */
	const char *value;              /* NULL: the only argument, or $elapsed */
	bool is_unsigned;               /* sums accept no negative values: these are lost (LOSS_NEGATIVE) */
	const s64 *bound;               /* for PROBE_BOUNDS */
	size_t nbounds;
	const char *by;                 /* keys; NULL: none */
	u32 by_task;                    /* BY_PID, BY_TID: -P and -L */
	const char *filter;
	const char *with;               /* counters read at begin and end, or NULL */
	bool is_scoped;                 /* only some tasks are in scope */
	struct event_context context;
};

enum probe_side_name { PROBE_BEGIN, PROBE_END, PROBE_SIDES };

struct site_code {
	struct code code[EVENT_BODIES];
};

struct probe_side {
	struct events events;
	const char **text;              /* the text of each event */
	size_t *definition;             /* the definition that each event belongs to */
	struct event_sites sites;
	struct attachments attachments;
	struct site_code *own;          /* for each site */
	struct attach_code *code;
	u32 *slot;                      /* number of each site */
	struct attach_programs programs;
};

/* A key, or a field of a stream. */
struct probe_field {
	const char *name;
	const struct expr *expr;        /* NULL stands for the event */
	const char *option, *text;      /* for messages */
	bool is_named;                  /* the name was given */
	bool at_begin;
	bool typed;                     /* the type of its place in the layout is set */
	size_t group;                   /* group of sites that have this field; 0: all sites have it */
};

/* A part of the filter that is known at the begin and needed at the end. */
struct probe_kept {
	const struct expr *expr;
	const char *name;               /* its name at the end */
	bool is_signed;
};

#define PROBE_KEPT_MOST 8

/* An argument that expressions at returns need. */
struct probe_saved {
	char *name;                     /* at the end: size, $arg1 */
	const struct expr *expr;        /* expression that names it, borrowed, with its option and text for messages */
	const char *option, *text;
	u64 definitions;                /* definitions that need it, one bit each */
};

struct probe_plan {
	const struct probe_request *request;
	struct knowledge known;
	enum scope_hierarchy hierarchy; /* of cgroups; set before probe_plan__compile() */
	struct probe_definition *definition;
	size_t ndefinitions;
	char **made;                    /* allocated texts, freed with the plan */
	size_t nmade;
	struct probe_side side[PROBE_SIDES];
	bool spans;
	bool calls;                     /* the spans are calls of functions */
	bool returns;                   /* the event of a call is its return; its entry only saves arguments */
	/* Expressions of options. */
	struct probe_argument *key, *match, *value;
	size_t nkeys, nmatches, nvalues;
	struct expr *filter;
	struct place_alias *alias;      /* aliases from all arguments */
	size_t naliases;
	/* Derived: */
	struct expr *part[PROBE_SIDES]; /* parts of the filter, by the side that tests them; NULL: none */
	struct probe_kept kept[PROBE_KEPT_MOST];
	size_t nkept;
	struct probe_saved saved[PROBE_KEPT_MOST];
	size_t nsaved;                  /* if nonzero, kept is empty */
	u32 kept_at;                    /* offset of kept or saved values, 8 bytes each, after the key of a begin */
	struct probe_field *field;      /* same order as in layout */
	size_t nfields;
	/*
	 * For a stream of events with different fields: the group (>= 1) of each site at the end, or NULL if all sites
	 * have the same fields. Groups share the space in the layout after the common fields.
	 */
	size_t *group;
	bool each_site;                 /* each site has its own group */
	struct probe_argument *every;   /* all fields of tracepoints whose probes name none */
	size_t nevery;
	struct layout layout;
	const struct expr *measured;    /* NULL if only events are counted */
	const char *measured_text;
	bool value_at_begin, is_signed, by_site;
	bool guessed_result;            /* $retval is used, but its type is unknown */
	bool is_time;                   /* the value is in nanoseconds */
	u32 match_size;                 /* bytes */
	const char **names;             /* names by event number, which is the slot of an end */
};

int probe_plan__init(struct probe_plan *p, const struct probe_request *request);

/*
 * programs: the programs for begins and for ends. without_fentry: set it after probe_plan__attach() returned -EAGAIN.
 */
int probe_plan__choose(struct probe_plan *p, const struct attach_programs programs[PROBE_SIDES],
		       bool without_fentry);
int probe_plan__compile(struct probe_plan *p);

/* Returns the number of event numbers. Calls use the numbers of their begins. */
size_t probe_plan__nevents(const struct probe_plan *p);

/* True if some events are calls of Go functions. */
static inline bool probe_plan__has_goroutines(const struct probe_plan *p)
{
	const struct event_sites *begins = &p->side[PROBE_BEGIN].sites;
	size_t i;

	for (i = 0; p->calls && i < begins->n; i++)
		if (begins->site[i].has_goroutine)
			return true;
	return false;
}

/*
 * True if calls are matched by goroutine. The counters of --with are per thread, so with them a call that continues in
 * another thread is lost.
 */
static inline bool probe_plan__is_by_goroutine(const struct probe_plan *p)
{
	return !p->request->with && probe_plan__has_goroutines(p);
}

/* Returns -EAGAIN, with nothing attached, if the kernel lacks fentry for one of the functions. */
int probe_plan__attach(struct probe_plan *p);

/* Describes the source for the header of reports, and the measured value. */
void probe_plan__describe(const struct probe_plan *p, char *text, size_t size);
void probe_plan__free(struct probe_plan *p);

#endif /* TALLY_PROBE_PLAN_H */
