/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by tools that only print a line per event: opensnoop, execsnoop, ... A tool fills in a
 * struct snoop and opens its skeleton.
 */
#ifndef TALLY_RUN_SNOOP_H
#define TALLY_RUN_SNOOP_H

#include "run/measurement.h"
#include "run/lines.h"

#include "bpf/lib/scope.h"
#include "bpf/lib/syscalls.h"

/* Their option groups. */
#define SNOOP_GROUPS                                                                               \
	(CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_MEASURE | CLI_METRICS | CLI_COMMAND | CLI_TIMES | CLI_LINES)

/* A system call that the programs trace, and the number by which they identify it. */
struct snoop_call {
	const char *name;
	u8 which;               /* not 0 */
};

struct callers;

struct snoop {
	const char *value;      /* subject of the lines, in reports */
	const char *source;
	const char *caveat;     /* or NULL */
	bool rare;              /* few events: run/lines.h */
	bool has_event, has_elapsed;    /* likewise */
	const char *const *field;       /* names of the fields of a line, in order */
	size_t nfields;
	const struct snoop_call *call;  /* for bpf/lib/call.bpf.h, or NULL */
	size_t ncalls;
	const char *state;      /* a TASK_STATE, or NULL */
	size_t least;           /* bytes of the shortest record */
	u64 min_ns;             /* shorter events are not shown; 0 to show all */
	ring_take show;         /* its context is this struct snoop */
	/*
	 * Sets the tool's constants in the opened skeleton. Returns 0 or a negative errno. May be
	 * NULL.
	 */
	int (*open)(struct snoop *s);
	/* Called before each report: waits for records in flight. May be NULL. */
	void (*settle)(struct snoop *s);

	struct callers *callers;        /* callchains of lines with -g; NULL if unsupported (stack/snoop_callers.h) */

	struct measurement *m;

	/* For show(). */
	struct lines lines;
	u64 filtered;           /* events not shown since the last report; counted by show() */
};

/* The hooks of these tools (run/measurement.h): m->own begins with the struct snoop. */
int snoop__check(void *own, struct cli *cli);
int snoop__open(struct measurement *m);
int snoop__attach(struct measurement *m);
int snoop__report(struct measurement *m, struct report *r);

#define SNOOP_HOOKS                                                                                \
	.check = snoop__check, .open = snoop__open, .attach = snoop__attach, .report = snoop__report

/*
 * Fields of a line. A missing value is omitted from text, null in JSON and empty in CSV. Texts are
 * borrowed.
 */
struct stream_field snoop_number(const char *name, s64 number);
struct stream_field snoop_time(const char *name, u64 ns);
struct stream_field snoop_id(const char *name, u32 id);
struct stream_field snoop_word(const char *name, const char *word);      /* NULL: none */
struct stream_field snoop_none(const char *name);
struct stream_field snoop_size(const char *name, u64 bytes);

/* Returns the field, marked to be omitted on a narrow terminal. */
struct stream_field snoop_spare(struct stream_field f);

#endif /* TALLY_RUN_SNOOP_H */
