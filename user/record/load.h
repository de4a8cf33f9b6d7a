/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts rows to reports: load.c reads rows, load_cells.c their cells, load_head.c the head and the figures,
 * load_stacks.c the stacks. The file is untrusted: anything that save.c would not write is damage, -EUCLEAN.
 */
#ifndef TALLY_RECORD_LOAD_H
#define TALLY_RECORD_LOAD_H

#include "record/file.h"

#ifdef HAVE_SQLITE

/*
 * Return a member of a JSON object, or NULL, 0, false if it is missing. The text is owned by the object. A negative
 * number that is not an integer reads as 0.
 */
const char *load__text(const json_t *o, const char *name);
u64 load__number(const json_t *o, const char *name);
bool load__flag(const json_t *o, const char *name);

/* Finds or reads a head. *head is a copy, whose contents are valid until the store is closed. */
int load__head(struct store *s, s64 id, struct store_head *head);

/* Fill in the head, the counters and the figures. Texts of the report are owned by the head. */
int load__use_head(struct report *r, const json_t *head);
void load__counters(struct loss_counters *c, const json_t *o);

/* r->duration_ns and r->cpus must be set. Sets r->overhead to cost if the overhead was recorded. */
void load__figures(struct report *r, struct report_overhead *cost, const json_t *o);

/* Reads one cell. The caller frees f->text, also on errors. */
int load__field(struct store *s, sqlite3_stmt *row, int index, const struct shape_column *c, struct field *f);

/* Reads the cells of a row of this shape, starting at column first. The caller frees them, also on errors. */
int load__cells(struct store *s, const struct shape *shape, sqlite3_stmt *row, int first, struct report_row *out);

/* Allocates r->stacks if the head has stacks; report__free() frees them, but the caller frees r->stacks->event. */
int load__new_stacks(struct report *r, const json_t *head);

/* Adds the stack of a row of this shape. keys: indexes into stacks->key, empty before the first stack of a report. */
int load__stack(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report_stacks *stacks,
		struct table *keys);

#endif

#endif
