/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs that were saved as JSON (docs/json.md), read back. The files may have been written by
 * anybody: what is not as tally writes it is refused, with file and line.
 */
#ifndef TALLY_DIFF_SAVED_H
#define TALLY_DIFF_SAVED_H

#include <jansson.h>

#include "report/report.h"
#include "base/types.h"

#define SAVED_MOST_BYTES (256ULL << 20)

/* What the reports of a run hold. */
enum saved_kind {
	SAVED_GROUPS,
	SAVED_ROWS,
	SAVED_STACKS,
};

/* All reports of one file; they are of one tool, value and unit. */
struct saved {
	const char *path;       /* the caller's */
	json_t **report;
	u32 *line;              /* of each report in the file, from 1 on */
	size_t n;
	enum saved_kind kind;
	char *tool, *value, *unit;      /* value and unit: NULL if there is none */
	u64 duration_ns, events, lost, inexact, hidden; /* of all reports together */
};

/* Returns 0, or a negative errno after saying what is wrong. Free it in both cases. */
int saved__read(struct saved *s, const char *path);

/* The same of what such a file holds; path: for messages. */
int saved__read_text(struct saved *s, const char *path, const char *text, size_t size);
void saved__free(struct saved *s);

/* The groups, rows or stacks of report i: an array. */
const json_t *saved__list(const struct saved *s, size_t i);

/* Says that report i is not as it should be, and why. Returns -EINVAL. */
int saved__wrong(const struct saved *s, size_t i, const char *why);

/* A count or a value as docs/json.md has them, also above 2^63. Returns 0 or -EINVAL. */
int saved_number(const json_t *v, u64 *out);

/* The same of a member of an object. */
int saved_member(const json_t *object, const char *name, u64 *out);

/* A string with its escapes undone, in new memory. NULL if it is no string. */
char *saved_text(const json_t *v);

/*
 * The members of an object as fields, numbers as IDs. Their names belong to the file. Names that go
 * with the one before (comm of a pid) are labels. Returns 0, -EINVAL or -ENOMEM; then *row is
 * empty.
 */
int saved_fields(struct report_row *row, const json_t *object);

#endif /* TALLY_DIFF_SAVED_H */
