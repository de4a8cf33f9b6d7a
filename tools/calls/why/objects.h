/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects that the threads of a row waited for: files, sockets, futexes, locks (bpf/calls/why_objects.bpf.h). */
#ifndef TALLY_CALLS_WHY_OBJECTS_H
#define TALLY_CALLS_WHY_OBJECTS_H

#include "agg/sum_set.h"
#include "report/report.h"
#include "run/measurement.h"
#include "sym/kernel_variables.h"

#include "bpf/calls/why.h"

/* An object that the threads of a row waited for. ns: the time of these waits. */
struct why_named_object {
	struct why_key row; /* after why_name_cause() */
	char *name;
	u64 ns;
};

/* Initialise to all zeros. */
struct why_objects {
	struct why_named_object *object; /* the objects of the report, sorted by row, then by descending time */
	size_t n;
	struct sum_set before;	  /* the last snapshot, or only names: why_objects__read_names() */
	struct bpf_map *map;	  /* borrowed */
	struct bpf_link *running; /* iterator over the waits in progress */
	struct kernel_variables variables;
};

/* Marks the calls that wait for a futex at the address in their first argument. */
void why_mark_futexes(u8 calls[TRACE_SLOTS]);

/* Must be called before the map is loaded. Returns 0 or a negative errno. */
int why_objects__prepare(struct bpf_map *map, struct measurement *m);
/* Must be called after the map is loaded. Returns 0 or a negative errno. */
int why_objects__attach(struct why_objects *o, struct bpf_map *map, struct bpf_program *running);

/* Reads the objects of a report. Returns 0 or a negative errno. */
int why_objects__read(struct why_objects *o, struct measurement *m);

/*
 * For objects whose times are stored elsewhere. why_objects__read_names() reads their names from a map whose keys
 * contain only the object. why_objects__put() then adds the time of an object in a row, as in struct why_named_object.
 * Both return 0 or a negative errno.
 */
int why_objects__read_names(struct why_objects *o, const struct bpf_map *map);
int why_objects__put(struct why_objects *o, const struct why_key *row, const struct why_object *object, u64 ns);
/* Must be called after the last why_objects__put(). */
void why_objects__sort(struct why_objects *o);

/*
 * Adds the cell with the objects of a row; ns: the time of the row. "/tmp/a 61.2 %, 192.0.2.1:80 12.0 %". Returns 0 or
 * -ENOMEM.
 */
int why_objects__add(const struct why_objects *o, struct report_row *row, const struct why_key *key, u64 ns);
void why_objects__free(struct why_objects *o);

#endif /* TALLY_CALLS_WHY_OBJECTS_H */
