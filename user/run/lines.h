/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by tools that print one line per event (report/stream.h), read from the ring buffer of
 * bpf/lib/ring.bpf.h. Their option group is CLI_LINES.
 *
 *   lines__init()      after cli__parse(): parses the template
 *   lines__prepare()   between open and load
 *   lines__begin()     between load and attach
 *   lines__write()     from the ring_take callback
 *   lines__drain()     from m->watch
 *   lines__report()    from report()
 *   lines__free()
 */
#ifndef TALLY_RUN_LINES_H
#define TALLY_RUN_LINES_H

#include "agg/loss.h"
#include "report/stream.h"
#include "run/ring.h"
#include "run/measurement.h"

struct lines {
	const struct cli *cli;
	bool rare;              /* few events: a smaller ring; set between lines__init() and lines__prepare() */
	bool idle;              /* the object has a ring buffer, but no lines will be shown; set like rare */
	/* Members of lines in addition to fields; set after lines__init(). */
	bool has_event, has_elapsed, has_stack;
	const char *const *name;                /* names of the fields */
	size_t nfields;
	struct stream_template template;        /* of cli->template_text, if given */
	struct ring *ring;
	struct writer *writer;
	u64 to_wall_clock;      /* added to the CLOCK_MONOTONIC times of records */
	u64 shown;              /* lines since the last report */
	int losses_fd;
	const struct bpf_object *obj;
	struct loss_counters losses_before;
	char nothing[160];      /* text of lines__none_so_long() */
};

/*
 * name: names of the n fields of each line, for --template; borrowed, constant. Returns 0, or -EINVAL
 * or -ENOMEM after reporting the error. Call lines__free() in either case.
 */
int lines__init(struct lines *l, const struct cli *cli, const char *const *name, size_t n);

/*
 * Checks that the options allow lines. lines__prepare() calls it. Returns 0, or -EINVAL after
 * reporting why not.
 */
int MUST_CHECK lines__check(const struct cli *cli);

/*
 * Sizes the ring buffer, to --ring-size if given, and sets the object's constant wake_bytes.
 * Returns 0 or a negative errno.
 */
int lines__prepare(struct lines *l, const struct measurement *m, struct bpf_object *obj);

/*
 * Opens the ring buffer and points m->watch_fd at it; m->watch must call lines__drain(). least,
 * take, context: see ring__open(). Returns 0 or a negative errno.
 */
int lines__begin(struct lines *l, struct measurement *m, size_t least, ring_take take,
		 void *context);

int lines__drain(struct lines *l);

/* Writes a line with the timestamp of its record. Returns 0 or -ENOMEM. */
int MUST_CHECK lines__write(struct lines *l, struct stream_line *line);

/* Like lines__write(), with template t instead of l->template. NULL: no template. */
int MUST_CHECK lines__write_as(struct lines *l, const struct stream_template *t, struct stream_line *line);

/*
 * Fills in the number of lines written since the last call, and of events filtered or lost. Writes
 * the CSV heading if there were no lines. The caller fills in value and source. Returns 0 or a
 * negative errno.
 */
int lines__report(struct lines *l, struct report *r);

/*
 * For tools that show only events of min_ns or longer: makes a report without lines say that none took so long, instead
 * of that nothing happened. what: "call". No-op if min_ns is 0.
 */
void lines__none_so_long(struct lines *l, struct report *r, const char *what, u64 min_ns);

void lines__free(struct lines *l);

#endif /* TALLY_RUN_LINES_H */
