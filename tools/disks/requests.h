/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/disks/request.bpf.h, shared by all tools for block requests: their
 * options, the source of submissions, names of operations and flags, and requests still in flight.
 *
 *   request_rows           options of the struct requests, which the tool's rows INCLUDE()
 *   requests__prepare()    between open and load
 *   requests__begin()      after attach, before the gate is opened
 *   requests__describe()   from report()
 *
 * Functions return 0 or a negative errno, unless stated otherwise.
 */
#ifndef TALLY_BLOCK_REQUESTS_H
#define TALLY_BLOCK_REQUESTS_H

#include <bpf/libbpf.h>

#include "disks/disk.h"
#include "cli/option_row.h"
#include "cli/task_key.h"
#include "report/report.h"
#include "run/measurement.h"

#include "bpf/disks/request.h"

/* The hook that observes the submission of a request. */
enum request_source {
	REQUEST_SOURCE_START,
	REQUEST_SOURCE_GETRQ,
	REQUEST_SOURCE_ISSUE,           /* no submission is observed: nothing depends on it; chosen by AUTO only */
	REQUEST_SOURCES,
	REQUEST_SOURCE_AUTO,
};

struct requests {
	enum request_source source;
	u32 disk;                       /* 0: all */
	bool from_issue;                /* set by tools that use no data from before the issue */
	const struct bpf_object *obj;
	struct request_run *counters;   /* updated by the programs */
	u64 reports;                    /* number of reports so far */
	u64 before;                     /* requests submitted before the run, as of the last report */
	char note[256];                 /* caveat of the last report */
};

#define REQUESTS ((struct requests){ .source = REQUEST_SOURCE_AUTO })

/* --disk and --source. */
extern const struct option_row request_rows[];

/*
 * Chooses the programs, sets the object's constant request_config, and sizes the map of requests. Returns -EOPNOTSUPP,
 * after reporting it, if the source start was requested and the kernel has no block_io_start.
 */
int requests__prepare(struct requests *r, struct measurement *m);

/* counters: part of the object. */
void requests__begin(struct requests *r, struct request_run *counters);

/* The text for a report's source. */
const char *requests__source(const struct requests *r);

/*
 * Fills in source and caveat: the number of requests submitted before the run, and the number of
 * requests in scope that are in flight now. The texts are valid until the next call, as long as r
 * lives.
 */
int requests__describe(struct requests *r, struct report *report);

/* disk, op, flags: for spec.own_parts. */
extern const struct own_parts request_own_parts;

#define REQUEST_TEXT_SPACE 96

/*
 * Return the operation of a request, "read"; its flags, "Sync+Meta"; and both in the form of the kernel's tracepoints,
 * "WSM".
 */
const char *request_op_name(u8 op, char text[REQUEST_TEXT_SPACE]);
const char *request_flags_name(u8 flags, char text[REQUEST_TEXT_SPACE]);
const char *request_rwbs(u8 op, u8 flags, char text[REQUEST_TEXT_SPACE]);

/* Returns the result of a request for the error in struct request_state: "ok", "EIO". */
const char *request_result(__s32 error, char text[REQUEST_TEXT_SPACE]);

#endif /* TALLY_BLOCK_REQUESTS_H */
