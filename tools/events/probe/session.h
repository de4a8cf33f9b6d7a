/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of probe: its plan, the programs (bpf/events/probe.bpf.c) configured for it, and its
 * results.
 *
 *   probe_session__prepare()   plan, open, configure, compile; -n stops here
 *   probe_session__start()     load, attach, open the gate
 *   probe_session__report()    from report()
 *   probe_session__free()
 *
 * Functions return 0 or a negative errno after reporting the error.
 */
#ifndef TALLY_PROBE_SESSION_H
#define TALLY_PROBE_SESSION_H

#include "probe/plan.h"
#include "events/probe/results.h"
#include "events/probe/stream.h"
#include "events/probe/with.h"
#include "run/measurement.h"
#include "stack/callers.h"

struct probe_bpf;

extern const struct skeleton_type probe_skeleton;

struct probe_session {
	struct measurement *m;
	struct probe_plan plan;
	struct probe_bpf *bpf;
	struct results_plan results_plan;
	struct results results;
	u32 figures;            /* enum results_figure, ORed; set before prepare */
	const char *sort;       /* order of rows, or NULL for the tool's default */
	const char *line;       /* template of a stream (report/stream.h); NULL: the default */
	struct stream_plan stream_plan;
	struct stream_template stream_template;
	struct stream *stream;
	struct callers callers; /* stacks of a stream's events; the options are set before prepare */
	struct with_counters with;
	char source[512], nothing[640];
};

int probe_session__prepare(struct probe_session *s, struct measurement *m,
			   const struct probe_request *request);
/* -n: shows what would be done, and with -v also the compiled functions. */
int probe_session__explain(struct probe_session *s);
int probe_session__start(struct probe_session *s);
int probe_session__report(struct probe_session *s, struct report *r);
/* Called from m->watch: writes the lines of a stream that are available. */
int probe_session__drain(struct probe_session *s);
void probe_session__free(struct probe_session *s);

#endif /* TALLY_PROBE_SESSION_H */
