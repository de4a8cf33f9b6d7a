/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How rows become reports: load.c reads rows, load_cells.c their cells, load_head.c the head and the figures,
 * load_stacks.c the stacks. The file is untrusted: what save.c would not write is damage, -EUCLEAN.
 */
#ifndef TALLY_RECORD_LOAD_H
#define TALLY_RECORD_LOAD_H

#include "record/file.h"

#ifdef HAVE_SQLITE

/*
 * Members of a JSON object; without it: NULL, 0, false. The text belongs to the object. A number below 0 that is no
 * integer is 0.
 */
const char *load__text(const json_t *o, const char *name);
u64 load__number(const json_t *o, const char *name);
bool load__flag(const json_t *o, const char *name);

/* Finds or reads a head. *head is a copy, whose contents are valid until the store is closed. */
int load__head(struct store *s, s64 id, struct store_head *head);

/* Fill in what the head, the counters and the figures say; texts of the report are the head's. */
int load__use_head(struct report *r, const json_t *head);
void load__counters(struct loss_counters *c, const json_t *o);

/* r->duration_ns and r->cpus are known. r->overhead becomes cost, if the overhead was recorded. */
void load__figures(struct report *r, struct report_overhead *cost, const json_t *o);

/* Reads one cell. The caller frees f->text, on errors, too. */
int load__field(struct store *s, sqlite3_stmt *row, int index, const struct shape_column *c, struct field *f);

/* Reads the cells of a row of that shape, from the column first on. On errors the caller frees those in out, too. */
int load__cells(struct store *s, const struct shape *shape, sqlite3_stmt *row, int first, struct report_row *out);

/* Allocates r->stacks if the head has stacks; report__free() frees them, but the caller r->stacks->event. */
int load__new_stacks(struct report *r, const json_t *head);

/* Adds the stack of a row of that shape. keys: indexes into stacks->key, empty before the first stack of a report. */
int load__stack(struct store *s, const struct shape *shape, sqlite3_stmt *row, struct report_stacks *stacks,
		struct table *keys);

#endif

#endif
