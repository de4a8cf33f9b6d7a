/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single events as they come out of the ring buffer (struct probe_record), a line each. What did not
 * fit into the buffer is in the report's losses.
 */
#ifndef TALLY_PROBE_STREAM_H
#define TALLY_PROBE_STREAM_H

#include <bpf/libbpf.h>

#include "report/stream.h"
#include "jit/layout.h"

#include "bpf/lib/probe.h"

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

/* records: the loaded map. Returns 0 or a negative errno. */
int stream__open(struct stream **s, const struct stream_plan *plan,
		 const struct bpf_map *records);
void stream__close(struct stream *s);

/* See ring__fd() and ring__drain() (run/ring.h). */
int stream__fd(const struct stream *s);
int stream__drain(struct stream *s);

/* Events shown since the last call. */
u64 stream__take_count(struct stream *s);

#endif /* TALLY_PROBE_STREAM_H */
