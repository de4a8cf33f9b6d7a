/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows single events from the ring buffer (struct probe_record) as lines. Events that did not fit
 * into the buffer count as losses of the report.
 */
#ifndef TALLY_PROBE_STREAM_H
#define TALLY_PROBE_STREAM_H

#include <bpf/libbpf.h>

#include "host/host.h"
#include "report/stream.h"
#include "jit/layout.h"
#include "stack/callers.h"

#include "bpf/lib/probe.h"

struct stream;

/* Borrowed; must outlive the stream. */
struct stream_plan {
	const struct layout *layout;    /* layout of the record after its head */
	const size_t *group;            /* group of the fields of each event; NULL: all have the same fields */
	const char *const *event;       /* names, by number */
	u32 nevents;                    /* if there is only one event, lines omit its name */
	bool has_elapsed;               /* events are spans */
	struct cgroup_names *cgroups;
	const struct host *host;
	enum scope_hierarchy hierarchy; /* hierarchy of cgroup ids */
	const struct stream_template *line;     /* NULL: the default */
	struct callers *callers;        /* NULL if records have no stacks */
	struct writer *writer;
};

/* records: the map, loaded. Returns 0 or a negative errno. */
int stream__open(struct stream **s, const struct stream_plan *plan,
		 const struct bpf_map *records);
void stream__close(struct stream *s);

/* See ring__fd() and ring__drain() (run/ring.h). */
int stream__fd(const struct stream *s);
int stream__drain(struct stream *s);

/* Writes the heading of CSV if no line was written. Returns 0 or -ENOMEM. */
int stream__end(struct stream *s);

/* Number of events shown since the last call. */
u64 stream__take_count(struct stream *s);
/* See ring__take_unread(). */
u64 stream__take_unread(struct stream *s);

#endif /* TALLY_PROBE_STREAM_H */
