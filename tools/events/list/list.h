/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What there is to be traced here, and of what it is made: a function for each kind of question,
 * which fills a report. They say what is wrong and return 0 or a negative errno: -ENOENT when
 * nothing of that name exists (after a hint at what does), -EOPNOTSUPP when this kernel lacks what
 * the question is about.
 */
#ifndef TALLY_LIST_LIST_H
#define TALLY_LIST_LIST_H

#include "events/list/table.h"

struct list_request {
	const char **pattern;           /* globs; without * ? [ parts of names */
	size_t npatterns;
	const char *binary;             /* of -x, or NULL: the kernel */
	u32 pid;                        /* the binary is what this process has mapped by that name; 0: ours */
	const char *module;             /* "vmlinux": none; NULL: any */
	bool deep;                      /* all that a type has inside */
};

/* Does a name match one of the patterns? Without any, all do. */
bool list_matches(const struct list_request *q, const char *name);
/* Is it a glob? */
bool list_is_glob(const char *pattern);

/* Where the binary is, in new memory; NULL with errno after saying that it is not there. */
char *list_locate(const struct list_request *q);

/* After "no ... matches": says the nearest of n names. false: none is near. */
bool list_hint(const char *text, const char *const *names, size_t n);

/* Counters, tracepoints: event, type, description. */
int list_events(struct report *r, const struct list_request *q);
/* How many of them there are, by subsystem. */
int list_summary(struct report *r, const struct list_request *q);
/* Fields of the events that match, arguments of kernel functions of just that name. */
int list_details(struct report *r, const struct list_request *q);

/* Functions of the kernel, or of the binary. */
int list_functions(struct report *r, const struct list_request *q);
/* USDT probes of the binary. */
int list_probes(struct report *r, const struct list_request *q);

/* The layout of the kernel's types of that name. */
int list_type(struct report *r, const struct list_request *q, const char *name, bool indent);

/*
 * FUNC[:LINE[-LINE]], of the binary or the kernel: the lines a probe can be put on, and the
 * variables at one, or at the function's beginning. Lines count from the function's first, 0.
 */
int list_lines(struct report *r, const struct list_request *q, const char *text);
int list_variables(struct report *r, const struct list_request *q, const char *text);

#endif /* TALLY_LIST_LIST_H */
