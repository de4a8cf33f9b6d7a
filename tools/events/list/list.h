/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists what can be traced on this machine, with details. Each kind of request has a function that fills in a report.
 * The functions report errors and return 0 or a negative errno: -ENOENT if nothing has that name (after a hint at
 * similar names), -EOPNOTSUPP if this kernel lacks support for the request.
 */
#ifndef TALLY_LIST_LIST_H
#define TALLY_LIST_LIST_H

#include "events/list/table.h"

struct list_request {
	const char **pattern;           /* globs; a pattern without * ? [ matches substrings */
	size_t npatterns;
	const char *binary;             /* -x; NULL stands for the kernel */
	u32 pid;                        /* take the binary that this process has mapped; 0: search for it */
	const char *module;             /* "vmlinux" excludes modules; NULL: any */
	bool deep;                      /* includes nested types */
};

/* Whether a name matches one of the patterns. Without patterns, every name matches. */
bool list_matches(const struct list_request *q, const char *name);
/* Whether a pattern is a glob. */
bool list_is_glob(const char *pattern);

/* Returns the path of the binary, allocated. Returns NULL and sets errno after reporting that it was not found. */
char *list_locate(const struct list_request *q);

/* For use after "no ... matches": prints the most similar of n names. Returns false if none is similar. */
bool list_hint(const char *text, const char *const *names, size_t n);

/* Counters, tracepoints: event, type, description. */
int list_events(struct report *r, const struct list_request *q);
/* Counts of events by subsystem. */
int list_summary(struct report *r, const struct list_request *q);
/* Fields of matching events, and arguments of kernel functions with exactly that name. */
int list_details(struct report *r, const struct list_request *q);

/* Functions of the kernel, or of the binary. */
int list_functions(struct report *r, const struct list_request *q);
/* USDT probes of the binary. */
int list_probes(struct report *r, const struct list_request *q);

/* The layouts of kernel types with that name. */
int list_type(struct report *r, const struct list_request *q, const char *name, bool indent);

/*
 * FUNC[:LINE[-LINE]], in the binary or the kernel: the lines that can be probed, and the variables
 * at a line, or at the function's start. Lines are numbered from the first line of the function,
 * which is 0.
 */
int list_lines(struct report *r, const struct list_request *q, const char *text);
int list_variables(struct report *r, const struct list_request *q, const char *text);

#endif /* TALLY_LIST_LIST_H */
