/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads runs that were saved as JSON (docs/json.md). The files are untrusted: anything that tally
 * would not have written is rejected, with file and line.
 */
#ifndef TALLY_DIFF_SAVED_H
#define TALLY_DIFF_SAVED_H

#include <jansson.h>

#include "report/report.h"
#include "base/types.h"

#define SAVED_MOST_BYTES (256ULL << 20)

/* The contents of the reports of a run. */
enum saved_kind {
	SAVED_GROUPS,
	SAVED_ROWS,
	SAVED_STACKS,
};

/* All reports of one file, which share the tool, value and unit. */
struct saved {
	const char *path;       /* borrowed */
	json_t **report;
	u32 *line;              /* line of each report in the file, from 1 */
	size_t n;
	enum saved_kind kind;
	char *tool, *value, *unit;      /* value and unit may be NULL */
	u64 duration_ns, events, lost, inexact, hidden; /* sums over all reports */
};

/* Returns 0, or a negative errno after reporting the error. Call saved__free() in either case. */
int saved__read(struct saved *s, const char *path);

/* The same for the text of such a file. path: used in messages. */
int saved__read_text(struct saved *s, const char *path, const char *text, size_t size);
void saved__free(struct saved *s);

/* Returns the groups, rows or stacks of report i as an array. */
const json_t *saved__list(const struct saved *s, size_t i);

/* Reports that report i is malformed, and why. Returns -EINVAL. */
int saved__wrong(const struct saved *s, size_t i, const char *why);

/* Reads a count or a value as in docs/json.md, including values above 2^63. Returns 0 or -EINVAL. */
int saved_number(const json_t *v, u64 *out);

/* The same for a member of an object. */
int saved_member(const json_t *object, const char *name, u64 *out);

/* Returns a string with its escapes undone, allocated, or NULL if v is not a string. */
char *saved_text(const json_t *v);

/*
 * Reads the members of an object as fields, with numbers as FIELD_ID. The field names belong to the file. columns: the
 * roles that the report states. If it is NULL, roles are ROLE_UNSAID, except ROLE_LABEL for names that belong to the
 * field before them (the comm of a pid). Leaves out keys that are valid only within one run (ROLE_KEY with "of").
 * Returns 0, or -EINVAL or -ENOMEM with *row empty.
 */
int saved_fields(struct report_row *row, const json_t *object, const json_t *columns);

#endif /* TALLY_DIFF_SAVED_H */
