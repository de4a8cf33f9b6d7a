/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events as they come out of the ring buffer (struct probe_record), a line each; many lines
 * are written at once. What did not fit into the buffer is in the
 * report's losses.
 */
#ifndef TALLY_PROBE_STREAM_H
#define TALLY_PROBE_STREAM_H

#include "out/stream.h"
#include "probe/layout.h"

#include "bpf/probe.h"

struct stream;

/* All of it is borrowed and outlives the stream. */
struct stream_plan {
	const struct layout *layout;    /* of the record behind its head */
	const char *const *event;       /* names, by number */
	u32 nevents;                    /* with only one, lines do not name it */
	bool has_elapsed;               /* spans */
	enum scope_hierarchy hierarchy; /* of cgroup ids */
	const struct stream_template *line;     /* NULL: the usual one */
	struct writer *writer;
};

/* records_fd: the map. Returns 0 or a negative errno. */
int stream__open(struct stream **s, const struct stream_plan *plan, int records_fd);
void stream__close(struct stream *s);

/* Can be read when there are records: for run->watch_fd. */
int stream__fd(const struct stream *s);

/*
 * Writes what there is, but not for ever where more comes meanwhile: then the descriptor can still
 * be read. all: at least what is there now, as before a report. Returns 0 or a negative errno
 * (-EPIPE: nobody reads the lines any more).
 */
int stream__drain(struct stream *s, bool all);

/* Events shown since the last call. */
u64 stream__take_count(struct stream *s);

#endif /* TALLY_PROBE_STREAM_H */
