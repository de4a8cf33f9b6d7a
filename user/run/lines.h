/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all tools do that show single events, a line each (report/stream.h), out of the ring buffer of
 * bpf/lib/ring.bpf.h. Their option group is CLI_LINES.
 *
 *   lines__init()      after cli__parse(): the template
 *   lines__prepare()   between open and load
 *   lines__begin()     between load and attach
 *   lines__write()     from the function that takes records
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
	bool rare;              /* its events are: set between lines__init() and lines__prepare() */
	bool idle;              /* no lines will come, but the object has a ring buffer: likewise */
	struct stream_template template;        /* of cli->template_text, if there is one */
	struct ring *ring;
	struct writer *writer;
	u64 to_wall_clock;      /* added to the times of records, CLOCK_MONOTONIC */
	u64 shown;              /* since the last report */
	int losses_fd;
	const struct bpf_object *obj;
	struct loss_counters losses_before;
};

/*
 * name: of the n fields each line has, for --template; the caller's, constant. Returns 0 or -EINVAL
 * (-ENOMEM) after saying what is wrong. To be freed in any case.
 */
int lines__init(struct lines *l, const struct cli *cli, const char *const *name, size_t n);

/* Can they be shown with these options? Says why not. Part of lines__prepare(). 0 or -EINVAL. */
int MUST_CHECK lines__check(const struct cli *cli);

/*
 * Sizes the ring buffer, by --ring-size if there is one; *wake_bytes is the object's constant.
 * Returns 0 or a negative errno.
 */
int lines__prepare(struct lines *l, const struct measurement *m, struct bpf_object *obj);

/*
 * Opens the ring buffer and has m->watch_fd follow it; m->watch is to call lines__drain(). least,
 * take, context: see ring__open(). Returns 0 or a negative errno.
 */
int lines__begin(struct lines *l, struct measurement *m, size_t least, ring_take take,
		 void *context);

int lines__drain(struct lines *l);

/* Writes a line whose time is that of its record. Returns 0 or -ENOMEM. */
int MUST_CHECK lines__write(struct lines *l, struct stream_line *line);

/* The same by another template than the lines have otherwise; NULL: by none. */
int MUST_CHECK lines__write_as(struct lines *l, const struct stream_template *t, struct stream_line *line);

/*
 * Fills in how many lines were written since the last call, and what was filtered and lost. The
 * caller fills in value and source. Returns 0 or a negative errno.
 */
int lines__report(struct lines *l, struct report *r);

void lines__free(struct lines *l);

#endif /* TALLY_RUN_LINES_H */
