/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader's half of bpf/disks/request.bpf.h, which all tools for block requests share: their options,
 * where submissions are seen, names of what requests are, and what is still in flight.
 *
 *   requests__parse()      from the tool's parser, for keys it does not know
 *   requests__prepare()    between open and load
 *   requests__begin()      after attach, before the gate is opened
 *   requests__describe()   from report()
 *
 * All return 0 or a negative errno, where nothing else is said.
 */
#ifndef TALLY_BLOCK_REQUESTS_H
#define TALLY_BLOCK_REQUESTS_H

#include <argp.h>
#include <bpf/libbpf.h>

#include "disks/disk.h"
#include "cli/task_key.h"
#include "report/report.h"
#include "run/measurement.h"

#include "bpf/disks/request.h"

/* Where the submission of a request is seen. */
enum request_source {
	REQUEST_SOURCE_START,
	REQUEST_SOURCE_GETRQ,
	REQUEST_SOURCE_ISSUE,           /* nowhere: nothing depends on it; chosen by AUTO only */
	REQUEST_SOURCES,
	REQUEST_SOURCE_AUTO,
};

struct requests {
	enum request_source source;
	u32 disk;                       /* 0: all */
	bool from_issue;                /* the tool's: it shows nothing of before the issue */
	const struct bpf_object *obj;
	struct request_run *counters;   /* the programs' */
	u64 reports;                    /* so far */
	u64 before;                     /* of the last report */
	char note[256];                 /* of the last report */
};

#define REQUESTS ((struct requests){ .source = REQUEST_SOURCE_AUTO })

enum {
	REQUESTS_KEY_DISK = 0x2000,
	REQUESTS_KEY_SOURCE,
};

/* For the tool's struct argp_option. */
#define REQUESTS_OPTIONS                                                                           \
	{ "disk", REQUESTS_KEY_DISK, "NAME", 0, "Only requests of this disk: sda, 8:0", 0 },       \
	{ "source", REQUESTS_KEY_SOURCE, "NAME", 0,                                                \
	  "Where submissions are seen: auto (default), start (6.5), getrq", 0 }

/* ARGP_ERR_UNKNOWN for other keys, EINVAL after saying what is wrong. */
error_t requests__parse(struct requests *r, int key, const char *arg);

/*
 * Chooses the programs and sizes the map of requests. config: the object's constant. Without
 * block_io_start that source is -EOPNOTSUPP, after saying so.
 */
int requests__prepare(struct requests *r, struct measurement *m);

/* counters: the object's. */
void requests__begin(struct requests *r, struct request_run *counters);

/* For a report's source. */
const char *requests__source(const struct requests *r);

/*
 * Fills in source and caveat: requests that were submitted before the run, and those in scope
 * that are in flight now. The texts live as long as r, until the next call.
 */
int requests__describe(struct requests *r, struct report *report);

/* disk, op, flags: for spec.own_parts. */
extern const struct own_parts request_own_parts;

#define REQUEST_TEXT_SPACE 96

/* What a request does: "read"; its flags: "Sync+Meta"; both as the kernel's tracepoints: "WSM". */
const char *request_op_name(u8 op, char text[REQUEST_TEXT_SPACE]);
const char *request_flags_name(u8 flags, char text[REQUEST_TEXT_SPACE]);
const char *request_rwbs(u8 op, u8 flags, char text[REQUEST_TEXT_SPACE]);

/* How it ended, from struct request_state: "ok", "EIO". */
const char *request_result(__s32 error, char text[REQUEST_TEXT_SPACE]);

#endif /* TALLY_BLOCK_REQUESTS_H */
