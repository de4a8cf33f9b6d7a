/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that BPF programs count by identity. When a program first sees a file, it sends the name as a
 * struct file_record through bpf/lib/ring.bpf.h.
 */
#ifndef TALLY_RUN_NAMED_FILES_H
#define TALLY_RUN_NAMED_FILES_H

#include "files/name.h"
#include "report/report.h"
#include "run/measurement.h"
#include "run/ring.h"

/* Initialise to all zeros. */
struct named_files {
	struct ring *ring;
	struct file_names names;
};

/* Sizes the ring of an object before it is loaded. Returns 0 or a negative errno. */
int named_files__prepare(struct measurement *m, struct bpf_object *obj);

/*
 * Opens the ring of m->obj and has the run watch it. f is borrowed. Returns 0 or a negative errno.
 */
int named_files__open(struct named_files *f, struct measurement *m);

/*
 * Takes the names received so far. Call it from m->watch, and before looking up paths. Returns 0 or a
 * negative errno.
 */
int named_files__drain(struct named_files *f);

/*
 * Add cells that identify the file: device, inode and, in machine formats, generation; and its path,
 * "?" if no name has arrived. Return 0 or -ENOMEM.
 */
int report_row__add_file(struct report_row *row, const struct file_id *id);
int report_row__add_path(struct report_row *row, const struct named_files *f, const struct file_id *id);
void named_files__free(struct named_files *f);

#endif /* TALLY_RUN_NAMED_FILES_H */
