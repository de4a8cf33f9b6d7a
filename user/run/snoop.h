/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tools do that show a line for each event, and have no choice to
 * make on the way: opensnoop, execsnoop, ... A tool fills in what it is, and opens its skeleton.
 */
#ifndef TALLY_RUN_SNOOP_H
#define TALLY_RUN_SNOOP_H

#include "run/measurement.h"
#include "run/lines.h"

#include "bpf/lib/scope.h"
#include "bpf/lib/syscalls.h"

/* The groups of options they have. */
#define SNOOP_GROUPS                                                                               \
	(CLI_SCOPE | CLI_TIME | CLI_OUTPUT | CLI_RUN | CLI_COMMAND | CLI_TIMES | CLI_LINES)

/* A system call the programs are about, and what they call it. */
struct snoop_call {
	const char *name;
	u8 which;               /* not 0 */
};

struct snoop {
	const char *value;      /* of the report: what lines are about */
	const char *source;
	const char *caveat;     /* or NULL */
	bool rare;              /* the events are: run/lines.h */
	const char *const *field;       /* names of the fields of each line, in order */
	size_t nfields;
	const struct snoop_call *call;  /* for bpf/lib/call.bpf.h, or NULL */
	size_t ncalls;
	const char *state;      /* a TASK_STATE, or NULL */
	size_t least;           /* bytes of the shortest record */
	ring_take show;         /* its context is this struct */
	/*
	 * Or NULL. Sets the program's own constants in the opened skeleton. Returns 0 or a negative
	 * errno.
	 */
	int (*open)(struct snoop *s);
	/* Or NULL. Called before each report: waits for lines that are on their way. */
	void (*settle)(struct snoop *s);

	struct measurement *m;

	/* For show(). */
	struct lines lines;
	u64 filtered;           /* not shown, since the last report: counted by show() */
};

/* The hooks of such a tool (run/measurement.h): m->own begins with the struct snoop. */
int snoop__check(void *own, struct cli *cli);
int snoop__open(struct measurement *m);
int snoop__attach(struct measurement *m);
int snoop__report(struct measurement *m, struct report *r);

#define SNOOP_HOOKS                                                                                \
	.check = snoop__check, .open = snoop__open, .attach = snoop__attach, .report = snoop__report

/*
 * Fields of a line. What is not there is left out of text, null in JSON and empty in CSV. Texts are
 * borrowed.
 */
struct stream_field snoop_number(const char *name, s64 number);
struct stream_field snoop_time(const char *name, u64 ns);
struct stream_field snoop_id(const char *name, u32 id);
struct stream_field snoop_word(const char *name, const char *word);      /* NULL: none */
struct stream_field snoop_none(const char *name);

#endif /* TALLY_RUN_SNOOP_H */
